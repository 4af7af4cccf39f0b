package io.postroom.server.message;

import io.postroom.Postroom;
import io.postroom.audit.Audit;
import io.postroom.server.relay.RelayFile;
import io.postroom.server.relay.SettingsText;
import io.postroom.server.subscription.OperatorOptions;
import io.postroom.server.terminal.CommandException;
import io.postroom.server.terminal.ExitCode;
import io.postroom.server.terminal.Terminal;
import io.postroom.server.web.Payloads;
import io.postroom.subscription.Act;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** How much of payloads a command shows: as the console does whose settings it is given, else names without values. */
public final class RevealOptions {
    @Option(
            names = {"-c", "--config"},
            paramLabel = "FILE",
            description = "The settings of postroom serve, whose console.payloads holds here too; masked unless given.")
    private @Nullable Path config;

    @Option(names = "--reveal", description = "Show what is masked; needs --reason, and the audit tells.")
    private boolean reveal;

    @Mixin
    private OperatorOptions operator;

    Payloads payloads(Terminal terminal) {
        Path file = config;
        if (file == null) {
            return Payloads.MASKED;
        }
        try (RelayFile read = RelayFile.read(file.toString(), SettingsText.of(file), terminal, Set.of())) {
            return read.console().payloads();
        }
    }

    /** Whether values are shown; if they were masked, the audit knows of it before anybody sees one. */
    boolean isShown(Payloads payloads, Postroom postroom, String subject) {
        if (payloads == Payloads.SHOWN) {
            return true;
        }
        if (!reveal) {
            if (operator.isGiven()) {
                throw new CommandException(ExitCode.USAGE, "--reason and --actor are for --reveal, which is missing");
            }
            return false;
        }
        if (payloads == Payloads.HIDDEN) {
            throw new CommandException(ExitCode.USAGE, "console.payloads is hidden: nobody reveals any");
        }
        Act act = operator.act();
        List<String> problems = Audit.problems(act.actor(), act.reason());
        if (!problems.isEmpty()) {
            throw new CommandException(ExitCode.USAGE, String.join("; ", problems));
        }
        postroom.database().transact(tx -> {
            postroom.audit().record(tx, act.actor(), "payload reveal", subject, act.reason(), Map.of());
            return true;
        });
        return true;
    }
}
