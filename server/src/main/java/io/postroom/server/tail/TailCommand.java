package io.postroom.server.tail;

import com.zaxxer.hikari.HikariDataSource;
import io.postroom.Postroom;
import io.postroom.PostroomException;
import io.postroom.message.Upcasters;
import io.postroom.relay.Order;
import io.postroom.relay.Start;
import io.postroom.relay.Subscription;
import io.postroom.retry.RetryPolicy;
import io.postroom.server.message.MessageLine;
import io.postroom.server.message.UpcasterPlugins;
import io.postroom.server.payload.Reveal;
import io.postroom.server.payload.RevealOptions;
import io.postroom.server.postgres.Connections;
import io.postroom.server.postgres.DatabaseUrl;
import io.postroom.server.postgres.SchemaCheck;
import io.postroom.server.postgres.SchemaChoice;
import io.postroom.server.subscription.StartWord;
import io.postroom.server.terminal.CommandException;
import io.postroom.server.terminal.Durations;
import io.postroom.server.terminal.ExitCode;
import io.postroom.server.terminal.GlobalOptions;
import io.postroom.server.terminal.Quoted;
import io.postroom.server.terminal.StopSignal;
import io.postroom.server.terminal.Terminal;
import io.postroom.server.web.Payloads;
import io.postroom.subscription.SubscriptionState;
import io.postroom.telemetry.Telemetry;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Prints a durable subscription as JSON lines. */
@Command(
        name = "tail",
        description = {
            "Print messages as JSON lines, in the order of the journal, and remember how far.",
            "The next run with the same name goes on where this one ended, even if it was killed. A line counts as"
                    + " delivered once it is written; after a kill the last lines may be printed again."
        },
        footer = {
            "%nEach line has position, id, tenantId, aggregateType, aggregateId, aggregateVersion, eventType,",
            "eventVersion, occurredAt, headers and payload, which is as it was sent, except that a line break between its",
            "tokens is a space, and read by upcasters if there are any for it. Where a file that is given by --config says",
            "console.payloads: masked, values are masked unless they are revealed; where it says hidden, payloads are left",
            "out. A message that is scheduled for later is printed when it is due.",
            "Ctrl-C ends it with exit code 0. What is written into a pipe counts as delivered, read or not:",
            "use --limit, not head, to take an exact number.",
            "%nExamples:",
            "  postroom tail --url postgres://localhost/shop --subscription me --from beginning",
            "  postroom tail --subscription me --type OrderPaid --type OrderShipped | jq .aggregateId",
            "  postroom tail --subscription nightly --until-idle 2s > messages.jsonl",
            "  postroom tail --subscription me -c serve.yaml --reveal --reason 'ticket 4711' | jq .payload"
        })
public final class TailCommand implements Callable<Integer> {
    private static final int CONNECTIONS = 5;
    private static final Duration STOP_PATIENCE = Duration.ofSeconds(10);

    /** Who kills a tail again and again wants to see what it printed, not to have it buried. */
    private static final RetryPolicy NEVER_BURIED =
            RetryPolicy.builder().attemptsMax(RetryPolicy.ATTEMPTS_MAX).build();

    private final Terminal terminal;
    private final GlobalOptions options;

    @Option(
            names = "--subscription",
            required = true,
            paramLabel = "NAME",
            description = "Remembers how far it has been printed. Made if it is not there.")
    private String name = "";

    @Option(
            names = "--from",
            paramLabel = "START",
            description = {
                "Where a new subscription begins: beginning, now, a position (its message is the first), or a time such"
                        + " as 2026-11-15T10:00:00Z, 15m or now-2h. beginning unless given."
            })
    private @Nullable String from;

    @Option(names = "--type", paramLabel = "TYPE", description = "Only this event type. May be given several times.")
    private List<String> eventTypes = List.of();

    @Option(
            names = "--aggregate-type",
            paramLabel = "TYPE",
            description = "Only this aggregate type. May be given several times.")
    private List<String> aggregateTypes = List.of();

    @Option(names = "--tenant", paramLabel = "ID", description = "Only this tenant. May be given several times.")
    private List<String> tenants = List.of();

    @Option(names = "--limit", paramLabel = "N", description = "End after exactly so many lines, 1 or more.")
    private @Nullable Long limit;

    @Option(
            names = "--until-idle",
            paramLabel = "DURATION",
            description = "End when everything committed is printed and nothing came for so long, such as 2s.")
    private @Nullable Duration untilIdle;

    @Option(
            names = "--plugins",
            split = ",",
            paramLabel = "JAR",
            description = "Jars with upcasters, besides those on the class path; docs/upcasters.md.")
    private List<Path> plugins = List.of();

    @Mixin
    private RevealOptions revealing = new RevealOptions();

    public TailCommand(Terminal terminal, GlobalOptions options) {
        this.terminal = terminal;
        this.options = options;
    }

    @Override
    public Integer call() {
        if (limit != null && limit < 1) {
            throw new CommandException(ExitCode.USAGE, "--limit is " + limit + ", the least is 1");
        }
        // A consumer like any other: it gets what was sent unless its settings say that nobody is to see it.
        Reveal reveal = revealing.read(terminal, Payloads.SHOWN);
        Subscription subscription = subscription();
        Upcasters upcasters = UpcasterPlugins.load(plugins);
        DatabaseUrl url = DatabaseUrl.find(options.url(), terminal.environment());
        AtomicReference<@Nullable LineSink> settling = new AtomicReference<>();
        try (StopSignal stop = StopSignal.listen(STOP_PATIENCE);
                HikariDataSource pool = Connections.pool(url, CONNECTIONS)) {
            Postroom postroom = Postroom.builder(pool)
                    .schema(SchemaChoice.of(options.schema(), terminal.environment())
                            .name())
                    .telemetry(new SettleListener(settling))
                    .upcasters(upcasters)
                    .build();
            SchemaCheck.require(postroom, terminal);
            SubscriptionState before = compare(postroom, subscription);
            Payloads shown = reveal.of(postroom, "subscription " + subscription.name(), details(subscription, before));
            Reveal.tell(terminal, shown);
            long lines = limit == null ? Long.MAX_VALUE : limit;
            MessageLine format = new MessageLine(terminal.interactive(), shown);
            LineSink sink = new LineSink(terminal.out(), format, lines, stop::request);
            settling.set(sink);
            return new Tail(terminal, postroom, subscription).run(sink, lines, untilIdle, stop);
        }
    }

    /** What the audit is told of a tail that reveals: which messages, from where, and how many or how long as far as that is known. */
    private Map<String, Object> details(Subscription subscription, @Nullable SubscriptionState before) {
        Map<String, Object> details = new LinkedHashMap<>();
        details.put("command", "tail");
        put(details, "aggregateTypes", subscription.filter().aggregateTypesOrNull());
        put(details, "eventTypes", subscription.filter().eventTypesOrNull());
        put(details, "tenants", subscription.filter().tenantsOrNull());
        begin(details, before == null ? subscription.start() : Start.after(before.position()));
        put(details, "limit", limit);
        put(details, "untilIdle", untilIdle == null ? null : Durations.show(untilIdle));
        return details;
    }

    private static void begin(Map<String, Object> details, Start start) {
        if (start instanceof Start.After after) {
            details.put("after", after.position());
        } else if (start instanceof Start.Since since) {
            details.put("from", since.time().toString());
        } else {
            details.put("from", start instanceof Start.Now ? "now" : "beginning");
        }
    }

    private static void put(Map<String, Object> details, String name, @Nullable Object value) {
        if (value != null) {
            details.put(name, value);
        }
    }

    /** Tells the sink what the lane has remembered. */
    private record SettleListener(AtomicReference<@Nullable LineSink> sink) implements Telemetry {
        @Override
        public void settled(String subscription, int lane, long position) {
            LineSink settled = sink.get();
            if (settled != null) {
                settled.settled(position);
            }
        }
    }

    /** One lane without order per key: what one lane hands over without waiting for answers is the order of the journal. */
    private Subscription subscription() {
        try {
            return Subscription.named(name)
                    .lanes(1)
                    .order(Order.NONE)
                    .eventTypes(distinct(eventTypes))
                    .aggregateTypes(distinct(aggregateTypes))
                    .tenants(distinct(tenants))
                    .start(start())
                    .retry(NEVER_BURIED)
                    .build();
        } catch (PostroomException e) {
            throw new CommandException(ExitCode.USAGE, e.getMessage(), e);
        }
    }

    private static String[] distinct(List<String> values) {
        return values.stream().distinct().toArray(String[]::new);
    }

    private Start start() {
        try {
            return StartWord.parse(from == null ? "beginning" : from);
        } catch (IllegalArgumentException e) {
            throw new CommandException(ExitCode.USAGE, "could not read --from: " + e.getMessage(), e);
        }
    }

    /** Says what of the command line does not apply to a subscription that is there already, and returns that one; null if there is none. */
    private @Nullable SubscriptionState compare(Postroom postroom, Subscription wanted) {
        SubscriptionState row = postroom.subscriptions().find(wanted.name()).orElse(null);
        if (row == null) {
            return null;
        }
        if (row.lanes() != 1 || !row.order().equals("none")) {
            throw new CommandException(
                    ExitCode.FAILURE,
                    "could not tail subscription " + row.name() + ": it was made for a relay, with " + row.lanes()
                            + " lanes and order " + row.order()
                            + ", and printing its messages would keep them from it; choose another name");
        }
        if (!row.filter().equals(wanted.filter())) {
            terminal.say("subscription " + row.name()
                    + " gets another filter from here on; what the former one left out before" + " position "
                    + row.position() + " is not printed");
        }
        if (from != null) {
            terminal.say("subscription " + row.name() + " is there already and goes on after position " + row.position()
                    + "; --from " + Quoted.text(from, 40) + " is ignored");
        }
        return row;
    }
}
