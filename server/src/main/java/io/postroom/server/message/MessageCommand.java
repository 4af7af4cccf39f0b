package io.postroom.server.message;

import io.postroom.Postroom;
import io.postroom.journal.StoredVersions;
import io.postroom.message.StoredVersion;
import io.postroom.message.UpcastCheck;
import io.postroom.message.Upcasters;
import io.postroom.server.postgres.Connections;
import io.postroom.server.postgres.DatabaseUrl;
import io.postroom.server.postgres.SchemaCheck;
import io.postroom.server.postgres.SchemaChoice;
import io.postroom.server.terminal.ExitCode;
import io.postroom.server.terminal.GlobalOptions;
import io.postroom.server.terminal.Listing;
import io.postroom.server.terminal.OutputOption;
import io.postroom.server.terminal.Quoted;
import io.postroom.server.terminal.Terminal;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Looks at messages. */
@Command(name = "message", description = "Look at messages.", synopsisSubcommandLabel = "COMMAND")
public final class MessageCommand {
    private static final int LINE_LENGTH_MAX = 500;

    private final Terminal terminal;
    private final GlobalOptions options;

    public MessageCommand(Terminal terminal, GlobalOptions options) {
        this.terminal = terminal;
        this.options = options;
    }

    @Command(
            name = "versions",
            description = {
                "Show which versions of which event types are stored, and whether the upcasters can read them.",
                "Exit code 4 if some cannot be read. Reads the whole outbox once: minutes, on a large one."
            },
            footer = {
                "%nExamples:",
                "  postroom message versions --url postgres://localhost/shop",
                "  postroom message versions --plugins upcasters.jar -o json"
            })
    int versions(
            @Mixin OutputOption output,
            @Option(
                            names = "--plugins",
                            split = ",",
                            paramLabel = "JAR",
                            description = "Jars with upcasters, besides those on the class path; docs/upcasters.md.")
                    @Nullable
                    List<Path> plugins) {
        Upcasters upcasters = UpcasterPlugins.load(plugins == null ? List.of() : plugins);
        List<UpcastCheck> checks = upcasters.check(StoredVersions.list(open().database()));
        print(checks, output);
        if (upcasters.isEmpty()) {
            terminal.say("no upcasters were found, so every version is read as it is; name their jars with --plugins");
        }
        List<UpcastCheck> uncovered =
                checks.stream().filter(check -> !check.isCovered()).toList();
        uncovered.forEach(check -> terminal.say(Quoted.text(check.line(), LINE_LENGTH_MAX)));
        return uncovered.isEmpty() ? ExitCode.OK : ExitCode.CHECK_FAILED;
    }

    private void print(List<UpcastCheck> checks, OutputOption output) {
        Listing listing = new Listing(
                "eventType",
                "eventVersion",
                "messages",
                "deadLetters",
                "oldestDay",
                "newestDay",
                "readAs",
                "registered",
                "covered",
                "problem");
        for (UpcastCheck check : checks) {
            StoredVersion stored = check.stored();
            listing.row(
                    stored.eventType(),
                    stored.eventVersion(),
                    stored.messages(),
                    stored.deadLetters(),
                    stored.oldestDay(),
                    stored.newestDay(),
                    check.readAs(),
                    check.newest() != null,
                    check.isCovered(),
                    check.problem());
        }
        listing.print(terminal, output.format());
    }

    /** The database that the options name. Counting takes longer than the other commands' questions. */
    private Postroom open() {
        DatabaseUrl url = DatabaseUrl.find(options.url(), terminal.environment());
        Postroom postroom = Postroom.builder(Connections.single(url, Connections.ENDLESS))
                .schema(SchemaChoice.of(options.schema(), terminal.environment())
                        .name())
                .build();
        SchemaCheck.require(postroom, terminal);
        return postroom;
    }
}
