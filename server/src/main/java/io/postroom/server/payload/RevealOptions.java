package io.postroom.server.payload;

import io.postroom.server.subscription.OperatorOptions;
import io.postroom.server.terminal.CommandException;
import io.postroom.server.terminal.ExitCode;
import io.postroom.server.terminal.Terminal;
import io.postroom.server.web.Payloads;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** How much of payloads a command shows, and who reveals what is masked. */
public final class RevealOptions {
    @Mixin
    private PayloadOptions payloads;

    @Option(
            names = "--reason",
            paramLabel = "TEXT",
            description = "Why it is revealed; needed with --reveal, kept in the audit.")
    private @Nullable String reason;

    @Option(
            names = "--actor",
            paramLabel = "NAME",
            description = "Who reveals it; kept in the audit. The user of the operating system unless given.")
    private @Nullable String actor;

    /** What these options ask for, masked if nobody has said otherwise; refuses what nobody may have before anything is read. */
    public Reveal read(Terminal terminal) {
        return read(terminal, Payloads.MASKED);
    }

    /** The same for a command that shows so much if nobody has said anything. */
    public Reveal read(Terminal terminal, Payloads unsaid) {
        Reveal reveal = payloads.reveal(terminal, () -> OperatorOptions.act(actor, reason), unsaid);
        if (!payloads.isReveal() && (reason != null || actor != null)) {
            throw new CommandException(ExitCode.USAGE, "--reason and --actor are for --reveal, which is missing");
        }
        return reveal;
    }

    /** Refuses them all where a command has nothing to reveal without another option. */
    public void refuse(String meaning) {
        if (payloads.isReveal() || reason != null || actor != null) {
            throw new CommandException(
                    ExitCode.USAGE, "--reveal, --reason and --actor are for " + meaning + "; leave them out");
        }
    }
}
