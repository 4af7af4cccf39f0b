package io.postroom.server.deadletter;

import io.postroom.server.payload.PayloadOptions;
import io.postroom.server.payload.Reveal;
import io.postroom.server.subscription.OperatorOptions;
import io.postroom.server.terminal.CommandException;
import io.postroom.server.terminal.ExitCode;
import io.postroom.server.terminal.Rate;
import io.postroom.server.terminal.Terminal;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** How an act on dead letters is done, and who answers for it. */
final class ActOptions {
    @Option(
            names = "--reason",
            paramLabel = "TEXT",
            description = "Why; kept in the audit. Required but for --dry-run.")
    private @Nullable String reason;

    @Option(
            names = "--actor",
            paramLabel = "NAME",
            description = "Who; kept in the audit. The user of the operating system unless given.")
    private @Nullable String actor;

    @Option(names = "--dry-run", description = "Only show what would be done.")
    private boolean dryRun;

    @Option(names = "--yes", description = "Do not ask.")
    private boolean yes;

    @Option(names = "--rate", paramLabel = "N/s", description = "At most so many: 50/s, 10/m or 100/h.")
    private @Nullable String rate;

    @Option(
            names = "--request",
            converter = UuidWord.New.class,
            paramLabel = "UUID",
            description = "The identity of this act. The same command again, with the same one, does nothing twice.")
    private @Nullable UUID request;

    @Option(
            names = "--detach",
            description = "Only ask for it; a relay with maintenance does it, or deadletter resume.")
    private boolean detach;

    boolean isDryRun() {
        return dryRun;
    }

    boolean isYes() {
        return yes;
    }

    boolean isDetached() {
        return detach;
    }

    @Nullable
    UUID request() {
        return request;
    }

    @Nullable
    Double rate() {
        try {
            return rate == null ? null : Rate.parse(rate);
        } catch (IllegalArgumentException e) {
            throw new CommandException(ExitCode.USAGE, "could not read --rate: " + e.getMessage(), e);
        }
    }

    String reason() {
        return reason == null && dryRun ? "dry run" : OperatorOptions.reason(reason);
    }

    /** How much of payloads a preview shows. Only a dry run with a patch has one. */
    Reveal reveal(Terminal terminal, PayloadOptions payloads, boolean hasPatch) {
        if (payloads.isReveal() && !(dryRun && hasPatch)) {
            throw new CommandException(
                    ExitCode.USAGE, "--reveal shows what a --patch would change, with --dry-run; leave it out here");
        }
        return payloads.reveal(terminal, () -> OperatorOptions.act(actor, reason));
    }

    String actor() {
        return OperatorOptions.actor(actor);
    }
}
