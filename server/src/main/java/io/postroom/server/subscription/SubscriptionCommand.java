package io.postroom.server.subscription;

import io.postroom.Postroom;
import io.postroom.PostroomException;
import io.postroom.server.postgres.Connections;
import io.postroom.server.postgres.DatabaseUrl;
import io.postroom.server.postgres.SchemaCheck;
import io.postroom.server.postgres.SchemaChoice;
import io.postroom.server.terminal.CommandException;
import io.postroom.server.terminal.ExitCode;
import io.postroom.server.terminal.GlobalOptions;
import io.postroom.server.terminal.LimitOption;
import io.postroom.server.terminal.OutputFormat;
import io.postroom.server.terminal.OutputOption;
import io.postroom.server.terminal.Quoted;
import io.postroom.server.terminal.Rate;
import io.postroom.server.terminal.Terminal;
import io.postroom.server.terminal.Uuids;
import io.postroom.subscription.Act;
import io.postroom.subscription.DeliveryState;
import io.postroom.subscription.HeldKey;
import io.postroom.subscription.Point;
import io.postroom.subscription.ReplayRequest;
import io.postroom.subscription.Subscriptions;
import io.postroom.subscription.UnknownSubscriptionException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The subscriptions' commands: thin words around {@link Subscriptions}. */
@Command(
        name = "subscription",
        description = "Look at subscriptions, pause and resume them, change, skip, replay, release, move and remove.",
        synopsisSubcommandLabel = "COMMAND")
public final class SubscriptionCommand {
    private static final String NAME = "The subscription.";
    private static final String WAIT =
            "How long to wait until relays have given their lanes back, such as 30s; 60s unless given.";

    /** Refusals that are about what was typed. */
    private static final Set<String> USAGE = Set.of(
            "audit.invalid",
            "subscription.invalid",
            "subscription.lanes-invalid",
            "subscription.page-invalid",
            "subscription.state-unknown",
            "kafka.settings-invalid",
            "subscription.rate-invalid",
            "subscription.beyond-end",
            "subscription.time-in-future",
            "subscription.replay-empty");

    private static final Set<String> NOT_FOUND =
            Set.of("subscription.unknown", "subscription.not-waiting", "subscription.dead-letter-unknown");

    private final Terminal terminal;
    private final GlobalOptions options;

    public SubscriptionCommand(Terminal terminal, GlobalOptions options) {
        this.terminal = terminal;
        this.options = options;
    }

    @Command(
            name = "list",
            description =
                    "Show every subscription, its state, how far it is and how far behind, its held keys and dead letters.",
            footer = {"%nExample:", "  postroom subscription list -o json --url postgres://localhost/shop"})
    int list(@Mixin OutputOption output) {
        SubscriptionListing.subscriptions(open().list(), output.format()).print(terminal, output.format());
        return ExitCode.OK;
    }

    @Command(
            name = "show",
            description = {
                "Show everything about a subscription: its lanes and who has them, deliveries by state, held keys, open dead"
                        + " letters, circuits, pause, copies and replay."
            },
            footer = {"%nExample:", "  postroom subscription show billing -o json | jq .deliveries"})
    int show(@Mixin OutputOption output, @Parameters(paramLabel = "NAME", description = NAME) String name) {
        return told(() -> {
            Postroom postroom = open(terminal, options, Connections.SHORT);
            SubscriptionListing.show(
                    terminal,
                    postroom.subscriptions().show(name),
                    postroom.moves().underWay(name).orElse(null),
                    output.format());
            return ExitCode.OK;
        });
    }

    @Command(
            name = "deliveries",
            description =
                    "Show the messages that did not go through at once: what is retried, parked, scheduled, held or"
                            + " unreadable, and the last error of each.",
            footer = {"%nExample:", "  postroom subscription deliveries billing --state waiting"})
    int deliveries(
            @Mixin OutputOption output,
            @Parameters(paramLabel = "NAME", description = NAME) String name,
            @Option(
                            names = "--state",
                            paramLabel = "STATE",
                            description =
                                    "Only those that are waiting, sending, parked, scheduled, held or unreadable.")
                    @Nullable
                    String state,
            @Mixin LimitOption limit,
            @Option(
                            names = "--after",
                            paramLabel = "POSITION",
                            description = "Go on after this one, the last of the page before.")
                    @Nullable
                    Long after) {
        int most = limit.page();
        return told(() -> {
            DeliveryState.Page page = open().deliveries(name, state, after == null ? 0 : after, most);
            SubscriptionListing.deliveries(page.deliveries()).print(terminal, output.format());
            if (page.next() != null) {
                terminal.say("there may be more: --after " + page.next());
            }
            return ExitCode.OK;
        });
    }

    @Command(
            name = "held",
            description = "Show the keys that wait because one of their messages was buried.",
            footer = {"%nExample:", "  postroom subscription held billing"})
    int held(
            @Mixin OutputOption output,
            @Parameters(paramLabel = "NAME", description = NAME) String name,
            @Mixin LimitOption limit,
            @Option(
                            names = "--after",
                            paramLabel = "POSITION",
                            description = "Go on after this one, the last of the page before.")
                    @Nullable
                    Long after) {
        int page = limit.page();
        return told(() -> {
            List<HeldKey> keys = open().heldKeys(name, after == null ? 0 : after, page);
            SubscriptionListing.heldKeys(keys).print(terminal, output.format());
            if (keys.size() == page) {
                terminal.say("there may be more: --after " + keys.get(page - 1).position());
            }
            return ExitCode.OK;
        });
    }

    @Command(
            name = "pause",
            description = "Let relays finish what is on its way and give the lanes back. Nothing is lost; it waits.",
            footer = {"%nExample:", "  postroom subscription pause billing --reason 'broker upgrade'"})
    int pause(@Mixin OperatorOptions operator, @Parameters(paramLabel = "NAME", description = NAME) String name) {
        Act act = operator.act();
        return told(acts -> acts.pause(name, act), OutputFormat.TABLE);
    }

    @Command(
            name = "resume",
            description = "End a pause.",
            footer = {"%nExample:", "  postroom subscription resume billing --reason 'broker upgrade is done'"})
    int resume(@Mixin OperatorOptions operator, @Parameters(paramLabel = "NAME", description = NAME) String name) {
        Act act = operator.act();
        return told(acts -> acts.resume(name, act), OutputFormat.TABLE);
    }

    @Command(
            name = "lanes",
            description = {
                "Show the lanes of a subscription, or change how many it has.",
                "Relays give their lanes back and share the new ones; nothing is lost, repeated or out of order."
            },
            footer = {
                "%nExamples:",
                "  postroom subscription lanes billing",
                "  postroom subscription lanes billing 16 --reason 'twice the traffic'"
            })
    int lanes(
            @Mixin OutputOption output,
            @Mixin OperatorOptions operator,
            @Parameters(index = "0", paramLabel = "NAME", description = NAME) String name,
            @Parameters(index = "1", arity = "0..1", paramLabel = "N", description = "How many, 1 to 256.") @Nullable
                    Integer lanes,
            @Option(names = "--wait", paramLabel = "DURATION", description = WAIT) @Nullable Duration wait) {
        if (lanes == null) {
            refuse(wait != null, "--wait", "a change of lanes");
            refuse(operator.isGiven(), "--reason or --actor", "a change of lanes");
            return told(() -> {
                SubscriptionListing.lanes(open().lanes(name)).print(terminal, output.format());
                return ExitCode.OK;
            });
        }
        Act act = operator.act();
        return told(acts -> acts.changeLanes(name, lanes, act, orPatience(wait)), output.format());
    }

    @Command(
            name = "skip",
            description = {
                "Go on without some messages: without all that lie before a point (--to), or without one that waits among the"
                        + " deliveries (--message, --position).",
                "What lies before a point is never delivered. A single message is kept as a dead letter that is discarded."
            },
            footer = {
                "%nExamples:",
                "  postroom subscription skip billing --to now --dry-run",
                "  postroom subscription skip billing --to 2026-11-15T10:00:00Z --reason 'only what is new' --yes",
                "  postroom subscription skip billing --message 019a8f6e-3c1d-7b42-9d7e-0c5b7a1f2e33 --reason 'customer 7 is gone'"
            })
    int skip(
            @Mixin OutputOption output,
            @Mixin OperatorOptions operator,
            @Mixin PlanOptions risk,
            @Parameters(paramLabel = "NAME", description = NAME) String name,
            @Option(
                            names = "--to",
                            paramLabel = "POINT",
                            description = "The first that is delivered: now, a position, or a time such as"
                                    + " 2026-11-15T10:00:00Z, 15m or now-2h.")
                    @Nullable
                    String to,
            @Option(names = "--message", paramLabel = "ID", description = "A message that waits among the deliveries.")
                    @Nullable
                    String message,
            @Option(
                            names = "--position",
                            paramLabel = "POSITION",
                            description = "The same, of which nothing is left but its position.")
                    @Nullable
                    Long position,
            @Option(names = "--wait", paramLabel = "DURATION", description = WAIT) @Nullable Duration wait) {
        if ((to == null ? 0 : 1) + (message == null ? 0 : 1) + (position == null ? 0 : 1) != 1) {
            throw new CommandException(ExitCode.USAGE, "say what to skip with one of --to, --message and --position");
        }
        if (to != null) {
            Point point = PointWord.parse("--to", to);
            if (!risk.isDryRun()) {
                operator.act();
            }
            return told(acts -> acts.skip(name, point, operator, risk, orPatience(wait)), output.format());
        }
        if (risk.isDryRun()) {
            throw new CommandException(ExitCode.USAGE, "--dry-run is for --to; postroom why shows a single message");
        }
        refuse(wait != null, "--wait", "--to: a single message is skipped at once or not at all");
        Act act = operator.act();
        UUID id = message == null ? null : uuid(message);
        return told(
                (acts, subscriptions) -> acts.skipped(
                        id == null
                                ? subscriptions.skipMessage(name, position == null ? 0 : position, act)
                                : subscriptions.skipMessage(name, id, act)),
                output.format());
    }

    @Command(
            name = "replay",
            description = {
                "Deliver messages once more, to the same subscription or to a copy of it that ends by itself (--as).",
                "Messages keep their ids and carry the header postroom-replay. Other subscriptions are not touched."
            },
            footer = {
                "%nExamples:",
                "  postroom subscription replay billing --from 2026-11-15T10:00:00Z --to 2026-11-15T11:00:00Z --dry-run",
                "  postroom subscription replay billing --from 120000 --rate 100/s --reason 'filter was wrong'",
                "  postroom subscription replay billing --from beginning --as billing-again --reason 'new ledger'"
            })
    int replay(
            @Mixin OutputOption output,
            @Mixin OperatorOptions operator,
            @Mixin PlanOptions risk,
            @Parameters(paramLabel = "NAME", description = NAME) String name,
            @Option(
                            names = "--from",
                            required = true,
                            paramLabel = "POINT",
                            description =
                                    "The first one: beginning, a position, or a time such as 2026-11-15T10:00:00Z,"
                                            + " 15m or now-2h.")
                    String from,
            @Option(
                            names = "--to",
                            paramLabel = "POINT",
                            description = "The last one; what was delivered last unless given.")
                    @Nullable
                    String to,
            @Option(names = "--rate", paramLabel = "N/s", description = "At most so many: 50/s, 10/m or 100/h.")
                    @Nullable
                    String rate,
            @Option(names = "--as", paramLabel = "COPY", description = "The name of a new copy.") @Nullable String copy,
            @Option(names = "--wait", paramLabel = "DURATION", description = WAIT) @Nullable Duration wait) {
        Point first = PointWord.parse("--from", from);
        Point last = to == null ? null : PointWord.parse("--to", to);
        Double perSecond = rate == null ? null : rate(rate);
        refuse(copy != null && wait != null, "--wait", "a replay without --as: a copy waits for nobody");
        if (!risk.isDryRun()) {
            operator.act();
        }
        return told(
                acts -> {
                    ReplayRequest request = new ReplayRequest(name, first, last, perSecond);
                    return copy == null
                            ? acts.replay(request, operator, risk, orPatience(wait))
                            : acts.replayCopy(request, copy, operator, risk);
                },
                output.format());
    }

    @Command(
            name = "release",
            description = "Let a key go on that a dead letter holds. The dead letter stays open.",
            footer = {
                "%nExamples:",
                "  postroom subscription held billing",
                "  postroom subscription release billing 42 --reason 'the later ones do not need it'"
            })
    int release(
            @Mixin OperatorOptions operator,
            @Parameters(index = "0", paramLabel = "NAME", description = NAME) String name,
            @Parameters(
                            index = "1",
                            paramLabel = "ID",
                            description = "The number of the dead letter, such as 42; subscription held shows it.")
                    long deadLetter) {
        Act act = operator.act();
        return told(acts -> acts.release(name, deadLetter, act), OutputFormat.TABLE);
    }

    @Command(
            name = "remove",
            description = {
                "Remove a subscription that nobody serves, with its lanes. Pause it first, or stop its relays.",
                "Its dead letters stay to be seen."
            },
            footer = {
                "%nExamples:",
                "  postroom subscription remove old-report --dry-run",
                "  postroom subscription remove old-report --with-deliveries --reason 'replaced by the warehouse' --yes"
            })
    int remove(
            @Mixin OutputOption output,
            @Mixin OperatorOptions operator,
            @Mixin PlanOptions risk,
            @Parameters(paramLabel = "NAME", description = NAME) String name,
            @Option(
                            names = "--with-deliveries",
                            description = "Discard its deliveries and open dead letters; else it must have none.")
                    boolean withDeliveries) {
        if (!risk.isDryRun()) {
            operator.act();
        }
        return told(acts -> acts.remove(name, withDeliveries, operator, risk), output.format());
    }

    @Command(
            name = "move",
            description = {
                "Let a source serve a subscription from Kafka instead of relays from the journal, or the other way round, while"
                        + " messages flow.",
                "Nothing is lost and nothing takes effect twice. A move that was interrupted goes on when it is asked for again."
            },
            footer = {
                "%nExamples:",
                "  postroom subscription move billing --to kafka --topic events.order --feed kafka --bootstrap-servers kafka-1:9092"
                        + " --dry-run",
                "  postroom subscription move billing --to postgres --topic events.order --feed kafka --bootstrap-servers kafka-1:9092"
                        + " --reason 'back to one database' --wait 10m",
                "  postroom subscription move billing --cancel --reason 'not today'"
            })
    int move(
            @Mixin OutputOption output,
            @Mixin OperatorOptions operator,
            @Mixin PlanOptions risk,
            @Mixin MoveOptions move,
            @Parameters(paramLabel = "NAME", description = NAME) String name,
            @Option(
                            names = "--wait",
                            paramLabel = "DURATION",
                            description = "How long to wait until the one side is done, such as 10m; 60s unless given.")
                    @Nullable
                    Duration wait) {
        if (!move.isCancel()) {
            move.target();
        }
        if (!risk.isDryRun()) {
            operator.act();
        }
        return told(() -> {
            Postroom postroom = open(terminal, options, Connections.ENDLESS);
            MoveActs acts = new MoveActs(terminal, postroom, output.format());
            return move.isCancel()
                    ? acts.cancel(name, operator.act())
                    : acts.move(name, move, operator, risk, orPatience(wait));
        });
    }

    /** A command that acts, with its refusals told apart by exit code. */
    private int told(Function<SubscriptionActs, Integer> work, OutputFormat format) {
        return told((acts, subscriptions) -> work.apply(acts), format);
    }

    private int told(BiFunction<SubscriptionActs, Subscriptions, Integer> work, OutputFormat format) {
        return told(() -> {
            // Acts wait for locks of others, and change as many deliveries as there are.
            Subscriptions subscriptions =
                    open(terminal, options, Connections.ENDLESS).subscriptions();
            return work.apply(new SubscriptionActs(terminal, subscriptions, format), subscriptions);
        });
    }

    private static int told(IntSupplier work) {
        try {
            return work.getAsInt();
        } catch (PostroomException e) {
            if (e instanceof UnknownSubscriptionException || NOT_FOUND.contains(e.code())) {
                throw new CommandException(ExitCode.NOT_FOUND, e.getMessage(), e);
            }
            if (USAGE.contains(e.code())) {
                throw new CommandException(ExitCode.USAGE, e.getMessage(), e);
            }
            throw e;
        }
    }

    private static double rate(String text) {
        try {
            return Rate.parse(text);
        } catch (IllegalArgumentException e) {
            throw new CommandException(ExitCode.USAGE, "could not read --rate: " + e.getMessage(), e);
        }
    }

    private static UUID uuid(String text) {
        return Uuids.read(text)
                .orElseThrow(() -> new CommandException(
                        ExitCode.USAGE,
                        "'" + Quoted.text(text, 40)
                                + "' is not the id of a message, such as 019a8f6e-3c1d-7b42-9d7e-0c5b7a1f2e33"));
    }

    /** Refuses an option that would mean nothing here: whoever gives it believes that it does. */
    private static void refuse(boolean given, String option, String meaning) {
        if (given) {
            throw new CommandException(ExitCode.USAGE, option + " is for " + meaning + "; leave it out");
        }
    }

    private static Duration orPatience(@Nullable Duration given) {
        return given == null ? Subscriptions.PATIENCE : given;
    }

    private Subscriptions open() {
        return open(terminal, options, Connections.SHORT).subscriptions();
    }

    /** The database that the options name, with a schema that fits. */
    static Postroom open(Terminal terminal, GlobalOptions options, Duration silence) {
        DatabaseUrl url = DatabaseUrl.find(options.url(), terminal.environment());
        Postroom postroom = Postroom.builder(Connections.single(url, silence))
                .schema(SchemaChoice.of(options.schema(), terminal.environment())
                        .name())
                .build();
        SchemaCheck.require(postroom, terminal);
        return postroom;
    }
}
