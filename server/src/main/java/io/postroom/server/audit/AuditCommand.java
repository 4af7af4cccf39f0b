package io.postroom.server.audit;

import io.postroom.Postroom;
import io.postroom.PostroomException;
import io.postroom.audit.AuditEntry;
import io.postroom.audit.AuditFilter;
import io.postroom.server.postgres.Connections;
import io.postroom.server.postgres.DatabaseUrl;
import io.postroom.server.postgres.SchemaCheck;
import io.postroom.server.postgres.SchemaChoice;
import io.postroom.server.terminal.CommandException;
import io.postroom.server.terminal.ExitCode;
import io.postroom.server.terminal.GlobalOptions;
import io.postroom.server.terminal.LimitOption;
import io.postroom.server.terminal.Listing;
import io.postroom.server.terminal.OutputFormat;
import io.postroom.server.terminal.OutputOption;
import io.postroom.server.terminal.Terminal;
import io.postroom.server.terminal.Times;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.json.JsonMapper;

/** Looks at what operators did. */
@Command(
        name = "audit",
        description = "Look at what operators did, who they were and why.",
        synopsisSubcommandLabel = "COMMAND")
public final class AuditCommand {
    private static final JsonMapper JSON = JsonMapper.builder().build();
    private static final TypeReference<Map<String, Object>> DETAILS = new TypeReference<>() {};

    private final Terminal terminal;
    private final GlobalOptions options;

    public AuditCommand(Terminal terminal, GlobalOptions options) {
        this.terminal = terminal;
        this.options = options;
    }

    @Command(
            name = "list",
            description = "Show what operators did, newest first. All options that are given must fit.",
            footer = {
                "%nExamples:",
                "  postroom audit list --subject 'subscription billing'",
                "  postroom audit list --actor anna --since 7d -o json",
                "  postroom audit list --action 'deadletter discard' --until 2026-11-01T00:00:00Z"
            })
    int list(
            @Mixin OutputOption output,
            @Option(
                            names = "--subject",
                            paramLabel = "TEXT",
                            description = "Only what was done to this: 'subscription billing', 'redrive UUID'.")
                    @Nullable
                    String subject,
            @Option(
                            names = "--action",
                            paramLabel = "TEXT",
                            description = "Only this, noun and verb: 'subscription pause', 'deadletter redrive'.")
                    @Nullable
                    String action,
            @Option(names = "--actor", paramLabel = "NAME", description = "Only by this one.") @Nullable String actor,
            @Option(
                            names = "--since",
                            paramLabel = "TIME",
                            description = "Done then or later: 2026-11-15T10:00:00Z, 15m or now-2h.")
                    @Nullable
                    String since,
            @Option(names = "--until", paramLabel = "TIME", description = "Done before then.") @Nullable String until,
            @Mixin LimitOption limit,
            @Option(
                            names = "--before",
                            paramLabel = "ID",
                            description = "Go on after this one, the last of the page before.")
                    @Nullable
                    Long before) {
        int page = limit.page();
        AuditFilter filter = filter(AuditFilter.builder()
                .subject(subject)
                .action(action)
                .actor(actor)
                .from(Times.option("--since", since))
                .to(Times.option("--until", until)));
        List<AuditEntry> entries = open().audit().list(filter, before, page);
        listing(entries, output.format()).print(terminal, output.format());
        if (entries.size() == page) {
            terminal.say("there may be more: --before " + entries.get(page - 1).id());
        }
        return ExitCode.OK;
    }

    private static AuditFilter filter(AuditFilter.Builder builder) {
        try {
            return builder.build();
        } catch (PostroomException e) {
            throw new CommandException(ExitCode.USAGE, e.getMessage(), e);
        }
    }

    /** A table leaves out what does not fit a screen: the role and the details. */
    private static Listing listing(List<AuditEntry> entries, OutputFormat format) {
        if (format == OutputFormat.TABLE) {
            Listing table = new Listing("id", "at", "actor", "action", "subject", "reason");
            entries.forEach(entry ->
                    table.row(entry.id(), entry.at(), entry.actor(), entry.action(), entry.subject(), entry.reason()));
            return table;
        }
        Listing listing = new Listing("id", "at", "actor", "role", "action", "subject", "reason", "details");
        entries.forEach(entry -> listing.row(
                entry.id(),
                entry.at(),
                entry.actor(),
                entry.role(),
                entry.action(),
                entry.subject(),
                entry.reason(),
                JSON.readValue(entry.details(), DETAILS)));
        return listing;
    }

    private Postroom open() {
        DatabaseUrl url = DatabaseUrl.find(options.url(), terminal.environment());
        Postroom postroom = Postroom.builder(Connections.single(url, Connections.SHORT))
                .schema(SchemaChoice.of(options.schema(), terminal.environment())
                        .name())
                .build();
        SchemaCheck.require(postroom, terminal);
        return postroom;
    }
}
