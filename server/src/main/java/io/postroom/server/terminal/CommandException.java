package io.postroom.server.terminal;

import org.jspecify.annotations.Nullable;

/** Ends a command with a sentence for its user and an exit code. The sentence never carries a password. */
public final class CommandException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final int exitCode;

    public CommandException(int exitCode, String message) {
        this(exitCode, message, null);
    }

    public CommandException(int exitCode, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.exitCode = exitCode;
    }

    public int exitCode() {
        return exitCode;
    }
}
