package io.postroom.server.terminal;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/**
 * Where a command runs: standard output for data, standard error for talk, the environment, and whether a person looks at
 * standard output.
 *
 * <p>Text is UTF-8 whatever the locale. Standard output is not buffered, so that what was written is flushed.
 */
public record Terminal(OutputStream out, PrintStream err, Map<String, String> environment, boolean interactive) {
    /** Set by bin/postroom: Java 17 cannot ask about standard output alone. */
    private static final String INTERACTIVE = "postroom.interactive";

    public Terminal {
        environment = Map.copyOf(environment);
    }

    /** The terminal of this process. */
    public static Terminal ofProcess() {
        return new Terminal(
                new FileOutputStream(FileDescriptor.out),
                new PrintStream(new FileOutputStream(FileDescriptor.err), true, StandardCharsets.UTF_8),
                System.getenv(),
                Boolean.getBoolean(INTERACTIVE));
    }

    /** Whether cursor movement is understood. */
    public boolean movesCursor() {
        return interactive && !"dumb".equals(environment.get("TERM"));
    }

    /** Whether colours are understood and wanted. */
    public boolean hasColours() {
        return movesCursor() && environment.getOrDefault("NO_COLOR", "").isEmpty();
    }

    /** Writes data. */
    public void print(String text) {
        try {
            out.write(text.getBytes(StandardCharsets.UTF_8));
            out.flush();
        } catch (IOException e) {
            throw failedOutput(e);
        }
    }

    /** What became of standard output: nobody reads it any more, which is no failure, or it cannot be written. */
    public static RuntimeException failedOutput(IOException e) {
        if (isPipe() || "Broken pipe".equals(e.getMessage())) {
            return new ClosedOutputException(e);
        }
        return new CommandException(
                ExitCode.FAILURE,
                "could not write standard output: " + e.getMessage() + "; what was written last may be incomplete",
                e);
    }

    /** Whether standard output is a pipe or a socket, where the system says so. */
    private static boolean isPipe() {
        try {
            String target = Files.readSymbolicLink(Path.of("/proc/self/fd/1")).toString();
            return target.startsWith("pipe:") || target.startsWith("socket:");
        } catch (IOException | RuntimeException e) {
            return false;
        }
    }

    /** Says something to the person or log that watches. */
    public void say(String text) {
        err.println("postroom: " + text);
    }

    /** Nobody reads standard output any more, as after {@code | head -5}. */
    public static final class ClosedOutputException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        ClosedOutputException(IOException cause) {
            super(cause);
        }
    }
}
