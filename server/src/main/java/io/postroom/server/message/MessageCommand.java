package io.postroom.server.message;

import io.postroom.Postroom;
import io.postroom.diagnosis.Found;
import io.postroom.diagnosis.Why;
import io.postroom.journal.Journal;
import io.postroom.journal.StoredVersions;
import io.postroom.message.Message;
import io.postroom.message.StoredVersion;
import io.postroom.message.UpcastCheck;
import io.postroom.message.Upcasters;
import io.postroom.server.payload.Reveal;
import io.postroom.server.payload.RevealOptions;
import io.postroom.server.postgres.Connections;
import io.postroom.server.postgres.DatabaseUrl;
import io.postroom.server.postgres.SchemaCheck;
import io.postroom.server.postgres.SchemaChoice;
import io.postroom.server.terminal.CommandException;
import io.postroom.server.terminal.ExitCode;
import io.postroom.server.terminal.GlobalOptions;
import io.postroom.server.terminal.Listing;
import io.postroom.server.terminal.OutputFormat;
import io.postroom.server.terminal.OutputOption;
import io.postroom.server.terminal.Quoted;
import io.postroom.server.terminal.Terminal;
import io.postroom.server.terminal.Times;
import io.postroom.server.terminal.Uuids;
import io.postroom.server.web.Payloads;
import io.postroom.server.web.Refusal;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Looks at messages. */
@Command(name = "message", description = "Look at messages.", synopsisSubcommandLabel = "COMMAND")
public final class MessageCommand {
    private static final int LINE_LENGTH_MAX = 500;
    private static final int ID_LENGTH_MAX = 60;
    private static final int LIMIT_MAX = 1_000;
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    private final Terminal terminal;
    private final GlobalOptions options;

    public MessageCommand(Terminal terminal, GlobalOptions options) {
        this.terminal = terminal;
        this.options = options;
    }

    @Command(
            name = "list",
            description = {
                "Show messages, newest first. All options that are given must fit.",
                "Looks back for some seconds; far where --aggregate-type and --key are given, and --tenant if it has one."
            },
            footer = {
                "%nExamples:",
                "  postroom message list --aggregate-type order --key o-42",
                "  postroom message list --type OrderPaid --from 15m -o jsonl",
                "  postroom message list --data customer.id=77 --until now-2h"
            })
    int list(
            @Mixin OutputOption output,
            @Option(names = "--type", paramLabel = "NAME", description = "Only of this event type.") @Nullable
                    String type,
            @Option(names = "--aggregate-type", paramLabel = "NAME", description = "Only of this type of aggregate.")
                    @Nullable
                    String aggregateType,
            @Option(names = "--key", paramLabel = "ID", description = "Only of this aggregate id.") @Nullable
                    String key,
            @Option(names = "--tenant", paramLabel = "ID", description = "Only of this tenant.") @Nullable
                    String tenant,
            @Option(
                            names = "--find",
                            paramLabel = "TEXT",
                            description = "Only with this event type, aggregate type or aggregate id.")
                    @Nullable
                    String find,
            @Option(
                            names = "--data",
                            paramLabel = "FIELD=VALUE",
                            description =
                                    "Only with this value in the payload: customer.id=77. Masked payloads: needs --reveal.")
                    @Nullable
                    String data,
            @Option(
                            names = "--from",
                            paramLabel = "TIME",
                            description = "Stamped after then: 2026-11-15T10:00:00Z, 15m or now-2h.")
                    @Nullable
                    String from,
            @Option(names = "--until", paramLabel = "TIME", description = "Stamped before then.") @Nullable
                    String until,
            @Option(
                            names = "--before",
                            paramLabel = "POSITION",
                            description = "Go on below this position, which the page before named.")
                    @Nullable
                    Long before,
            @Option(
                            names = "--limit",
                            paramLabel = "N",
                            defaultValue = "50",
                            description = "So many at most, 1 to " + LIMIT_MAX + "; 50 unless given.")
                    int limit,
            @Mixin RevealOptions revealing) {
        if (limit < 1 || limit > LIMIT_MAX) {
            throw new CommandException(ExitCode.USAGE, "--limit is " + limit + ", the range is 1 to " + LIMIT_MAX);
        }
        if (data == null) {
            revealing.refuse("--data, which searches payloads");
        }
        MessageQuery query = query(type, aggregateType, key, tenant, find, data);
        Instant since = Times.option("--from", from);
        Instant to = Times.option("--until", until);
        if (since != null && to != null && !since.isBefore(to)) {
            throw new CommandException(
                    ExitCode.USAGE, "--from is " + since + " and --until " + to + "; let it begin before it ends");
        }
        Postroom reading = open();
        if (data != null) {
            requireShown(revealing, reading, data.replaceAll("=.*", ""));
        }
        MessageSearch.Found found = new MessageSearch(
                        reading, new BrowseTable(reading.database().schema()))
                .search(query, before, since, to, limit, PATIENCE);
        listing(found.rows()).print(terminal, output.format());
        if (found.next() != null) {
            terminal.say("looked at positions " + found.oldest() + " to " + found.newest()
                    + "; there may be more: --before " + found.next());
        }
        if (!found.ofTenants()) {
            terminal.say(
                    "beyond the newest of them only messages without a tenant were looked for; give --tenant to look for"
                            + " its own");
        }
        return ExitCode.OK;
    }

    /** Whoever may search for a value may guess it. */
    private void requireShown(RevealOptions revealing, Postroom reading, String field) {
        Payloads shown =
                revealing.read(terminal).of(reading, "messages by " + Quoted.text(field, ID_LENGTH_MAX), Map.of());
        if (shown != Payloads.SHOWN) {
            throw new CommandException(
                    ExitCode.USAGE,
                    "could not search by --data: payloads are " + shown.word()
                            + "; --reveal --reason TEXT searches them, and the audit tells");
        }
    }

    private static MessageQuery query(
            @Nullable String type,
            @Nullable String aggregateType,
            @Nullable String key,
            @Nullable String tenant,
            @Nullable String find,
            @Nullable String data) {
        try {
            return MessageQuery.of(type, aggregateType, key, tenant, find, data);
        } catch (Refusal e) {
            throw new CommandException(ExitCode.USAGE, "could not read --data: " + e.sentence(), e);
        }
    }

    /** Messages as lists and calls have them. */
    static Listing listing(List<MessageRow> rows) {
        Listing listing = new Listing(
                "position",
                "id",
                "tenantId",
                "aggregateType",
                "aggregateId",
                "eventType",
                "eventVersion",
                "occurredAt",
                "bytes");
        rows.forEach(row -> listing.row(
                row.position(),
                row.id(),
                row.tenantId(),
                row.aggregateType(),
                row.aggregateId(),
                row.eventType(),
                row.eventVersion(),
                row.occurredAt(),
                row.bytes()));
        return listing;
    }

    @Command(
            name = "show",
            description =
                    "Show one message: its key, its transaction, its headers, and how far it has come to each subscription.",
            footer = {"%nExample:", "  postroom message show 0198c0de-0000-7000-8000-000000000001"})
    int show(
            @Mixin OutputOption output,
            @Parameters(paramLabel = "ID", description = "The id of the message.") String id) {
        UUID messageId = uuid(id);
        Postroom reading = open();
        Why why = why(reading, messageId);
        Found found = Objects.requireNonNull(why.message());
        Optional<Message> message = message(reading, found);
        Listing listing = new Listing(
                "id",
                "position",
                "tenantId",
                "aggregateType",
                "aggregateId",
                "eventType",
                "eventVersion",
                "occurredAt",
                "stampedAt",
                "transaction",
                "headers",
                "deliveries");
        List<String> deliveries = MessageDelivery.of(why).stream()
                .map(each -> each.subscription() + ": " + each.state() + (each.at() == null ? "" : " " + each.at()))
                .toList();
        Object[] values = {
            why.messageId(),
            found.position(),
            found.key().tenantId(),
            found.key().aggregateType(),
            found.key().aggregateId(),
            found.eventType(),
            found.eventVersion(),
            found.occurredAt(),
            found.stampedAt(),
            place(reading, found)
                    .flatMap(at -> reading.database().run(tx -> table(reading).transaction(tx, at)))
                    .map(MessageTransaction::xid)
                    .orElse(null),
            message.map(Message::headers).orElse(null),
            deliveries
        };
        if (output.format() == OutputFormat.TABLE) {
            terminal.print(lines(listing.row(values).objects().get(0)));
        } else {
            listing.row(values).print(terminal, output.format());
        }
        return ExitCode.OK;
    }

    /** A name and a value on each line: too much for one row. */
    private static String lines(Map<String, @Nullable Object> fields) {
        StringBuilder text = new StringBuilder();
        fields.forEach((name, value) -> text.append(String.format(Locale.ROOT, "%-16s", name))
                .append(value == null ? "-" : Quoted.text(value.toString(), LINE_LENGTH_MAX))
                .append('\n'));
        return text.toString();
    }

    @Command(
            name = "payload",
            description = {
                "Print the payload of a message: its names, and its values if they are shown to everybody or revealed.",
                "A payload that is revealed is printed as it was published."
            },
            footer = {
                "%nExamples:",
                "  postroom message payload 0198c0de-0000-7000-8000-000000000001 | jq .",
                "  postroom message payload 0198c0de-0000-7000-8000-000000000001 --reveal --reason 'ticket 4711' | jq ."
            })
    int payload(
            @Parameters(paramLabel = "ID", description = "The id of the message.") String id,
            @Mixin RevealOptions revealing) {
        UUID messageId = uuid(id);
        Reveal reveal = revealing.read(terminal);
        Postroom reading = open();
        Message message = message(
                        reading, Objects.requireNonNull(why(reading, messageId).message()))
                .orElseThrow(() -> new CommandException(
                        ExitCode.NOT_FOUND,
                        "could not print the payload of message " + messageId
                                + ": it is gone with its day's partition"));
        Payloads shown = reveal.of(reading, "message " + message.id(), Map.of());
        String carried = shown.carried(message.payload());
        if (carried == null) {
            throw new CommandException(ExitCode.USAGE, "console.payloads is hidden: nobody sees any");
        }
        terminal.print(carried + "\n");
        Reveal.tell(terminal, shown);
        return ExitCode.OK;
    }

    private static BrowseTable table(Postroom reading) {
        return new BrowseTable(reading.database().schema());
    }

    private static Optional<Journal.Place> place(Postroom reading, Found found) {
        Long position = found.position();
        return position == null
                ? Optional.empty()
                : reading.database().run(tx -> table(reading).place(tx, position));
    }

    private static Optional<Message> message(Postroom reading, Found found) {
        return place(reading, found)
                .flatMap(at ->
                        Optional.ofNullable(reading.journal().fetch(List.of(at)).get(at)));
    }

    private static UUID uuid(String id) {
        return Uuids.read(id)
                .orElseThrow(
                        () -> new CommandException(
                                ExitCode.USAGE,
                                "'" + Quoted.text(id, ID_LENGTH_MAX)
                                        + "' is not the id of a message; it is a UUID, such as 019a8f6e-3c1d-7b42-9d7e-0c5b7a1f2e33"));
    }

    private static Why why(Postroom reading, UUID messageId) {
        Why why = reading.diagnosis().why(messageId);
        if (why.message() == null) {
            throw new CommandException(
                    ExitCode.NOT_FOUND,
                    "could not show message " + messageId + ": "
                            + why.answers().get(0).headline());
        }
        return why;
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
