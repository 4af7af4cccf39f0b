package io.postroom.server.relay;

import io.postroom.Postroom;
import io.postroom.PostroomException;
import io.postroom.archive.Retention;
import io.postroom.maintenance.Maintenance;
import io.postroom.message.Upcasters;
import io.postroom.opentelemetry.Tracing;
import io.postroom.postgres.Schema;
import io.postroom.relay.OnBurial;
import io.postroom.relay.Order;
import io.postroom.relay.Relay;
import io.postroom.relay.Sink;
import io.postroom.relay.Subscription;
import io.postroom.server.message.UpcasterPlugins;
import io.postroom.server.settings.Given;
import io.postroom.server.subscription.StartWord;
import io.postroom.server.terminal.CommandException;
import io.postroom.server.terminal.Durations;
import io.postroom.server.terminal.ExitCode;
import io.postroom.server.terminal.Terminal;
import io.postroom.server.tracing.TracingSettings;
import io.postroom.server.web.WebSettings;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A relay as a file describes it, read and found good: settings, subscriptions and their sinks. Close it to close the sinks.
 *
 * <p>Settings whose ranges core knows are checked by core when the relay is built, with the file's own check of their form before.
 */
public final class RelayFile implements AutoCloseable {
    static final int CONNECTIONS_MIN = 5;
    private static final int CONNECTIONS_MAX = 200;

    /** A relay asks a destination again after this time, however long it is told to wait. */
    private static final Duration PROBE_LONGEST_MAX = Duration.ofHours(1);

    private final @Nullable String url;
    private final @Nullable String schema;
    private final Upcasters upcasters;
    private final Settings settings;
    private final List<Delivery> deliveries;
    private final WebSettings console;
    private final WorkersBlock workers;
    private final @Nullable TracingSettings tracing;
    private final List<Given> given;

    private RelayFile(
            @Nullable String url,
            @Nullable String schema,
            Upcasters upcasters,
            Settings settings,
            List<Delivery> deliveries,
            WebSettings console,
            WorkersBlock workers,
            @Nullable TracingSettings tracing,
            List<Given> given) {
        this.url = url;
        this.schema = schema;
        this.upcasters = upcasters;
        this.settings = settings;
        this.deliveries = List.copyOf(deliveries);
        this.console = console;
        this.workers = workers;
        this.tracing = tracing;
        this.given = List.copyOf(given);
    }

    private record Delivery(Subscription subscription, Sink sink, List<Address> addresses) {}

    /** The block {@code relay}, with what holds where it says nothing. */
    private static final class Settings {
        private String name = "relay";
        private Duration lease = Duration.ofSeconds(15);
        private Duration settleInterval = Duration.ofMillis(200);
        private Duration pollMin = Duration.ofMillis(2);
        private Duration pollMax = Duration.ofMillis(200);
        private Duration stopGrace = Duration.ofSeconds(10);
        private Duration probeFirst = Duration.ofMillis(100);
        private Duration probeLongest = Duration.ofSeconds(30);
        private int batchSize = 1_000;
        private long batchBytes = 1_048_576;
        private int connections;
        private boolean maintenance = true;
        private Duration jobsKept = Maintenance.JOBS_KEPT_MIN;
        private @Nullable Retention retention;
    }

    /** Reads a file's text, or throws with every problem it has. Nothing is started and nothing connected to. */
    static RelayFile read(String file, String text, Terminal terminal) {
        return read(file, text, terminal, Set.of("relay"));
    }

    /** The same; {@code needed} are the parts for which a file that describes nothing to do has a problem. */
    public static RelayFile read(String file, String text, Terminal terminal, Set<String> needed) {
        Problems problems = new Problems();
        Node node = Yaml.read(text, problems);
        if (!problems.isEmpty()) {
            throw unusable(file, problems);
        }
        Variables variables = new Variables(terminal.environment());
        Section root = Section.root(node, variables, problems);
        String url = root.text("url").orElse(null);
        root.read("schema", RelayFile::checkSchema);
        String schema = root.text("schema").orElse(null);
        Upcasters upcasters = upcasters(root);
        Settings settings = settings(root, terminal.environment());
        settings.retention = RetentionBlock.read(root);
        WebSettings console = ConsoleBlock.read(root);
        Targets targets = new Targets(terminal);
        List<Delivery> deliveries = deliveries(root, settings, targets, needed.contains("relay"));
        WorkersBlock workers = WorkersBlock.read(root, targets, terminal.environment(), needed.contains("workers"));
        TracingSettings tracing =
                TracingBlock.read(root, terminal.environment()).orElse(null);
        root.close();
        RelayFile read = new RelayFile(
                url,
                schema,
                upcasters,
                settings,
                deliveries,
                console,
                workers,
                tracing,
                GivenSettings.of(node, variables));
        if (!problems.isEmpty()) {
            read.close();
            throw unusable(file, problems);
        }
        return read;
    }

    private static void checkSchema(String name) {
        try {
            new Schema(name);
        } catch (PostroomException e) {
            throw new IllegalArgumentException(String.valueOf(e.getMessage()).replace(" with schema.name", ""), e);
        }
    }

    private static CommandException unusable(String file, Problems problems) {
        return new CommandException(ExitCode.USAGE, "could not use " + file + ":\n" + problems.text());
    }

    /** Those on the class path and in the jars of {@code plugins}; as the file is read, so that their problems are the file's. */
    private static Upcasters upcasters(Section root) {
        try {
            return UpcasterPlugins.load(
                    root.texts("plugins").stream().map(Path::of).toList());
        } catch (CommandException | InvalidPathException e) {
            root.problem(root.lineOf("plugins"), "plugins: " + e.getMessage());
            return Upcasters.NONE;
        }
    }

    private static Settings settings(Section root, Map<String, String> environment) {
        Settings settings = new Settings();
        settings.name = environment.getOrDefault("HOSTNAME", "relay");
        root.section("relay").ifPresent(relay -> {
            relay.text("name").ifPresent(name -> settings.name = name);
            relay.duration("lease", value -> settings.lease = value);
            relay.duration("settle-interval", value -> settings.settleInterval = value);
            relay.duration("poll-min", value -> settings.pollMin = value);
            relay.duration("poll-max", value -> settings.pollMax = value);
            relay.duration("stop-grace", value -> settings.stopGrace = value);
            relay.duration("probe-first", value -> settings.probeFirst = value);
            relay.duration("probe-longest", value -> settings.probeLongest = probeLongest(value));
            relay.renamed("retry-first", "probe-first");
            relay.renamed("retry-longest", "probe-longest");
            relay.integer("batch-size", value -> settings.batchSize = value);
            relay.bytes("batch-bytes", value -> settings.batchBytes = value);
            relay.integer("connections", value -> settings.connections = connections(value));
            settings.maintenance = !relay.has("maintenance") || relay.bool("maintenance");
            relay.duration("jobs-kept", value -> settings.jobsKept = jobsKept(value));
            relay.close();
        });
        return settings;
    }

    private static int connections(int value) {
        if (value < CONNECTIONS_MIN || value > CONNECTIONS_MAX) {
            throw new IllegalArgumentException("is " + value + ", the range is " + CONNECTIONS_MIN + " to "
                    + CONNECTIONS_MAX + ": leases, listening, stamping, housekeeping and a lane each take one");
        }
        return value;
    }

    private static Duration jobsKept(Duration value) {
        Maintenance.jobsKeptProblem(value).ifPresent(problem -> {
            throw new IllegalArgumentException(problem);
        });
        return value;
    }

    private static Duration probeLongest(Duration value) {
        if (value.compareTo(PROBE_LONGEST_MAX) > 0) {
            throw new IllegalArgumentException("is " + Durations.show(value) + ", the range is probe-first to 1h");
        }
        return value;
    }

    private static List<Delivery> deliveries(
            Section root, Settings settings, Targets targets, boolean needsSubscriptions) {
        List<Delivery> deliveries = new ArrayList<>();
        Optional<Section> block = root.section("subscriptions");
        Map<String, Section> sections = block.map(Section::sections).orElse(Map.of());
        if (sections.isEmpty() && needsSubscriptions) {
            root.problem(root.lineOf("subscriptions"), "subscriptions has none; a relay needs one to serve");
        }
        sections.forEach((name, section) -> {
            Optional<Subscription> subscription = subscription(name, section);
            Optional<Sink> sink = targets.of(section, settings.name);
            List<Address> addresses = sink.isPresent() ? Targets.addresses(section) : List.of();
            section.close();
            if (subscription.isPresent() && sink.isPresent()) {
                deliveries.add(new Delivery(subscription.get(), sink.get(), addresses));
            } else {
                sink.ifPresent(Sink::close);
            }
        });
        return deliveries;
    }

    private static Optional<Subscription> subscription(String name, Section section) {
        Subscription.Builder builder = Subscription.named(name);
        section.integer("lanes", builder::lanes);
        section.read("order", word -> builder.order(order(word)));
        section.read("start", word -> builder.start(StartWord.parse(word)));
        section.read("on-burial", word -> builder.onBurial(onBurial(word)));
        section.duration("deadline", builder::deadline);
        section.integer("outage-keys", builder::outageKeys);
        builder.retry(RetryWords.read(section, "quick"));
        section.section("filter").ifPresent(filter -> {
            builder.aggregateTypes(distinct(filter.texts("aggregate-types")));
            builder.eventTypes(distinct(filter.texts("event-types")));
            builder.tenants(distinct(filter.texts("tenants")));
            filter.close();
        });
        try {
            return Optional.of(builder.build());
        } catch (PostroomException e) {
            section.problem(section.line(), section.path() + ": " + e.getMessage());
            return Optional.empty();
        }
    }

    private static String[] distinct(List<String> values) {
        return values.stream().distinct().toArray(String[]::new);
    }

    private static Order order(String word) {
        return switch (word) {
            case "key" -> Order.KEY;
            case "none" -> Order.NONE;
            default -> throw new IllegalArgumentException("'" + word + "' is neither key nor none");
        };
    }

    private static OnBurial onBurial(String word) {
        return switch (word) {
            case "continue" -> OnBurial.CONTINUE;
            case "hold" -> OnBurial.HOLD;
            default -> throw new IllegalArgumentException("'" + word + "' is neither continue nor hold");
        };
    }

    public @Nullable String url() {
        return url;
    }

    public @Nullable String schema() {
        return schema;
    }

    /** How console and API are served, where they are. */
    public WebSettings console() {
        return console;
    }

    /** Whether there is something to deliver. */
    public boolean hasSubscriptions() {
        return !deliveries.isEmpty();
    }

    /** Where the destination of each subscription and of each kind of job is reached; none for one that stays in this process. */
    public Map<String, List<Address>> destinations() {
        Map<String, List<Address>> destinations = new TreeMap<>();
        deliveries.forEach(delivery ->
                destinations.put("subscription " + delivery.subscription().name(), delivery.addresses()));
        destinations.putAll(workers.destinations());
        return destinations;
    }

    /** What workers do and fire, where they are. */
    public WorkersBlock workers() {
        return workers;
    }

    public Upcasters upcasters() {
        return upcasters;
    }

    public boolean maintenance() {
        return settings.maintenance;
    }

    /** Maintenance of a database, not yet started, with the file's retention. */
    public Maintenance maintenance(Postroom postroom) {
        Retention retention = settings.retention;
        return retention == null
                ? postroom.maintenance(settings.jobsKept)
                : postroom.maintenance(retention, settings.jobsKept);
    }

    public Duration stopGrace() {
        return settings.stopGrace;
    }

    /** As many connections as it can use at once: more lanes than that share them. */
    public int connections() {
        int lanes = deliveries.stream()
                .mapToInt(delivery -> delivery.subscription().lanes())
                .sum();
        return settings.connections > 0 ? settings.connections : Math.min(CONNECTIONS_MIN + lanes, 20);
    }

    /** What the file says, without its secrets. */
    public List<Given> given() {
        return given;
    }

    /** Where spans go; empty if there are none. */
    public Optional<TracingSettings> tracing() {
        return Optional.ofNullable(tracing);
    }

    /** A relay on a database, not yet started; problems that only core sees are problems of the file. */
    public Relay relay(Postroom postroom) {
        return relay(postroom, null);
    }

    /** The same, with a span for each attempt at a message. */
    public Relay relay(Postroom postroom, @Nullable Tracing spans) {
        Relay.Builder builder = postroom.relay()
                .name(settings.name)
                .lease(settings.lease)
                .settleInterval(settings.settleInterval)
                .poll(settings.pollMin, settings.pollMax)
                .stopGrace(settings.stopGrace)
                .probe(settings.probeFirst, settings.probeLongest)
                .batch(settings.batchSize, settings.batchBytes);
        if (deliveries.isEmpty()) {
            // The block is to be good also where nothing is served yet.
            builder.handle(Subscription.named("none").lanes(1).build(), envelope -> {});
        }
        deliveries.forEach(delivery -> builder.deliver(
                delivery.subscription(),
                spans == null
                        ? delivery.sink()
                        : spans.sink(delivery.subscription().name(), delivery.sink())));
        try {
            return builder.build();
        } catch (PostroomException e) {
            throw new CommandException(ExitCode.USAGE, e.getMessage(), e);
        }
    }

    @Override
    public void close() {
        deliveries.forEach(delivery -> {
            try {
                delivery.sink().close();
            } catch (RuntimeException e) {
                // The others are to be closed all the same.
            }
        });
        workers.close();
    }
}
