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

    /** What these options ask for; refuses what nobody may have before anything is read. */
    public Reveal read(Terminal terminal) {
        Reveal reveal = payloads.reveal(terminal, () -> OperatorOptions.act(actor, reason));
        if (!payloads.isReveal() && reveal.payloads() != Payloads.SHOWN && (reason != null || actor != null)) {
            throw new CommandException(ExitCode.USAGE, "--reason and --actor are for --reveal, which is missing");
        }
        return reveal;
    }
}
