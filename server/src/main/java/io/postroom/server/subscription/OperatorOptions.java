package io.postroom.server.subscription;

import io.postroom.server.terminal.CommandException;
import io.postroom.server.terminal.ExitCode;
import io.postroom.subscription.Act;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Who answers for an act, and why it is done. */
public final class OperatorOptions {
    @Option(names = "--reason", paramLabel = "TEXT", description = "Why; required, kept in the audit.")
    private @Nullable String reason;

    @Option(
            names = "--actor",
            paramLabel = "NAME",
            description = "Who; kept in the audit. The user of the operating system unless given.")
    private @Nullable String actor;

    public boolean isGiven() {
        return reason != null || actor != null;
    }

    public Act act() {
        return act(actor, reason);
    }

    /**
     * Who does something and why, of the options {@code --actor} and {@code --reason} of a command that has its own. Refuses the want of
     * a reason, and of an actor where the operating system names no user.
     */
    public static Act act(@Nullable String actor, @Nullable String reason) {
        String why = reason(reason);
        return new Act(actor(actor), why);
    }

    /** The reason, or a refusal if there is none. */
    public static String reason(@Nullable String given) {
        if (given == null) {
            throw new CommandException(
                    ExitCode.USAGE, "--reason is missing; say why, for those who read the audit later");
        }
        return given;
    }

    /** The one who is named, else the user of the operating system; a refusal if that names none. */
    public static String actor(@Nullable String given) {
        String user = System.getProperty("user.name", "");
        if (given == null && user.isBlank()) {
            throw new CommandException(ExitCode.USAGE, "the operating system names no user; name one with --actor");
        }
        return given == null ? user : given;
    }
}
