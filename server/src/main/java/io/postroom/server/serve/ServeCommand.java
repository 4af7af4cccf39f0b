package io.postroom.server.serve;

import com.zaxxer.hikari.HikariDataSource;
import io.postroom.Postroom;
import io.postroom.maintenance.Maintenance;
import io.postroom.opentelemetry.Tracing;
import io.postroom.postgres.Schema;
import io.postroom.projection.MaterializedViews;
import io.postroom.relay.Relay;
import io.postroom.schedule.Schedules;
import io.postroom.server.metrics.Metrics;
import io.postroom.server.metrics.MetricsServer;
import io.postroom.server.postgres.Connections;
import io.postroom.server.postgres.DatabaseUrl;
import io.postroom.server.postgres.DurabilityCheck;
import io.postroom.server.postgres.SchemaCheck;
import io.postroom.server.postgres.SchemaChoice;
import io.postroom.server.relay.RelayFile;
import io.postroom.server.relay.SettingsText;
import io.postroom.server.relay.WorkersBlock;
import io.postroom.server.settings.Given;
import io.postroom.server.terminal.CommandException;
import io.postroom.server.terminal.ExitCode;
import io.postroom.server.terminal.GlobalOptions;
import io.postroom.server.terminal.Quoted;
import io.postroom.server.terminal.StopSignal;
import io.postroom.server.terminal.Suggestion;
import io.postroom.server.terminal.Terminal;
import io.postroom.server.tracing.Traces;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.postgresql.ds.PGSimpleDataSource;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Runs relay, workers, maintenance, API and console in one process until it is told to stop. */
@Command(
        name = "serve",
        description = {
            "Run relay, workers, maintenance, API and console in one process, or some of them; docs/serve.md has every setting.",
            "Without a file: the console alone, at http://localhost:8642. Ctrl-C or SIGTERM stops it cleanly, with exit code 0."
        },
        footer = {
            "%nExamples:",
            "  postroom serve --url postgres://localhost/shop",
            "  postroom serve --config postroom.yaml",
            "  postroom serve --config postroom.yaml --only console",
            "  postroom serve --config postroom.yaml --only relay,maintenance,metrics",
            "  postroom serve --config postroom.yaml --only workers"
        })
public final class ServeCommand implements Callable<Integer> {
    private static final List<String> PARTS = List.of("relay", "workers", "maintenance", "console", "metrics");
    private static final int PART_LENGTH_MAX = 40;
    private static final Duration LOOK = Duration.ofMinutes(1);
    /** For what comes after the relay's own grace: sinks, connections, pages that are being answered. */
    private static final Duration CLOSING = Duration.ofSeconds(30);

    private static final int MAINTENANCE_CONNECTIONS = 3;

    private final Terminal terminal;
    private final GlobalOptions options;

    @Option(
            names = {"-c", "--config"},
            paramLabel = "FILE",
            description = "The settings: those of postroom relay, and the blocks console, workers, jobs and schedules.")
    private @Nullable Path config;

    @Option(
            names = "--only",
            split = ",",
            paramLabel = "PART",
            description =
                    "Only these parts: relay, workers, maintenance, console, metrics. All that the file describes unless given; console has metrics.")
    private List<String> only = List.of();

    @Option(names = "--check", description = "Only check the file; exit with 2 if it cannot be used.")
    private boolean check;

    public ServeCommand(Terminal terminal, GlobalOptions options) {
        this.terminal = terminal;
        this.options = options;
    }

    @Override
    public Integer call() {
        Set<String> parts = parts();
        String name = config == null ? "the settings" : config.toString();
        String text = config == null ? "" : SettingsText.of(config);
        try (RelayFile file = RelayFile.read(name, text, terminal, Set.copyOf(only))) {
            // Core has ranges of its own; better to hear of them before connecting.
            file.relay(Postroom.on(new PGSimpleDataSource()));
            file.workers().workers(Postroom.on(new PGSimpleDataSource()));
            String url = file.url();
            if (url != null) {
                DatabaseUrl.parse("url in " + name, url, terminal.environment());
            }
            if (check) {
                terminal.say(name + " can be used");
                return ExitCode.OK;
            }
            run(file, url, parts, name);
            return ExitCode.OK;
        }
    }

    private Set<String> parts() {
        for (String part : only) {
            if (!PARTS.contains(part)) {
                throw new CommandException(
                        ExitCode.USAGE,
                        "--only has '" + Quoted.text(part, PART_LENGTH_MAX) + "', the parts are "
                                + String.join(", ", PARTS) + Suggestion.didYouMean(part, PARTS));
            }
        }
        if (!only.isEmpty()) {
            return new TreeSet<>(only);
        }
        return config == null ? Set.of("console") : new TreeSet<>(PARTS);
    }

    private void run(RelayFile file, @Nullable String fileUrl, Set<String> parts, String name) {
        DatabaseUrl url = options.url() == null && fileUrl != null
                ? DatabaseUrl.parse("url in " + name, fileUrl, terminal.environment())
                : DatabaseUrl.find(options.url(), terminal.environment());
        Schema schema =
                SchemaChoice.of(options.schema() == null ? file.schema() : options.schema(), terminal.environment());
        PGSimpleDataSource source = Connections.single(url, Connections.ENDLESS);
        int connections = MAINTENANCE_CONNECTIONS
                + (file.hasSubscriptions() && parts.contains("relay") ? file.connections() : 0)
                + (parts.contains("workers") ? file.workers().connections() : 0);
        Deque<AutoCloseable> running = new ArrayDeque<>();
        try (StopSignal stop = StopSignal.listen(file.stopGrace()
                        .plus(file.workers().stopGrace())
                        .multipliedBy(2)
                        .plus(CLOSING));
                HikariDataSource pool = Connections.pool(source, connections)) {
            Metrics metrics = new Metrics(schema);
            Postroom postroom = Postroom.builder(pool)
                    .schema(schema.name())
                    .upcasters(file.upcasters())
                    .telemetry(metrics.telemetry())
                    .build();
            SchemaCheck.require(postroom, terminal);
            try {
                begin(file, parts, postroom, running);
                if (parts.contains("console")) {
                    Console console = Console.start(
                            source,
                            schema,
                            file.upcasters(),
                            file.console(),
                            metrics,
                            List.of(),
                            running(file, parts),
                            given(file, schema));
                    running.push(console);
                    terminal.say("console at " + console.entry());
                } else if (parts.contains("metrics")) {
                    MetricsServer server = MetricsServer.start(source, schema, file.console(), metrics);
                    running.push(server);
                    terminal.say("metrics at " + server.url());
                }
                while (!stop.await(LOOK)) {
                    // Only a stop ends it; everything else its parts survive by themselves.
                }
            } finally {
                end(running);
            }
        }
    }

    /** What the process was told: by its file, and by options that come before it. */
    private List<Given> given(RelayFile file, Schema schema) {
        List<Given> given = new ArrayList<>(file.given());
        if (options.url() != null) {
            given.removeIf(each -> each.path().equals(List.of("url")));
            given.add(new Given(List.of("url"), Given.MASK, "option --url"));
        }
        if (options.schema() != null) {
            given.removeIf(each -> each.path().equals(List.of("schema")));
            given.add(new Given(List.of("schema"), schema.name(), "option --schema"));
        }
        return given;
    }

    /** What of the parts there is something to do for. */
    private static List<String> running(RelayFile file, Set<String> parts) {
        return PARTS.stream()
                .filter(parts::contains)
                .filter(part -> !part.equals("relay") || file.hasSubscriptions())
                .filter(part -> !part.equals("workers") || !file.workers().isEmpty())
                .filter(part -> !part.equals("maintenance") || file.maintenance())
                .toList();
    }

    private void begin(RelayFile file, Set<String> parts, Postroom postroom, Deque<AutoCloseable> running) {
        if (parts.contains("maintenance") && file.maintenance()) {
            Maintenance maintenance = file.maintenance(postroom);
            running.push(maintenance);
            MaterializedViews views = postroom.materializedViews();
            running.push(views);
            maintenance.start();
            views.start();
        }
        boolean relays = parts.contains("relay") && file.hasSubscriptions();
        boolean works = parts.contains("workers") && !file.workers().isEmpty();
        Traces traces = relays || works ? file.tracing().map(Traces::start).orElse(null) : null;
        if (traces != null) {
            running.push(traces);
        }
        Tracing spans = traces == null ? null : traces.tracing();
        if (relays) {
            DurabilityCheck.warn(postroom.database(), terminal);
            // A position to begin at may be that of a message that nobody has stamped yet.
            postroom.journal().stampAll();
            Relay relay = file.relay(postroom, spans);
            running.push(relay);
            relay.start();
        }
        if (works) {
            work(file.workers(), postroom, spans, running);
        }
    }

    private static void work(
            WorkersBlock block, Postroom postroom, @Nullable Tracing spans, Deque<AutoCloseable> running) {
        Schedules schedules = postroom.schedules();
        postroom.database().transact(tx -> {
            block.schedules().forEach(schedule -> schedules.put(tx, schedule));
            return true;
        });
        block.workers(postroom, spans).ifPresent(workers -> {
            running.push(workers);
            workers.start();
        });
        running.push(schedules.start());
    }

    /** The last that began ends first: nobody is told of health by a console whose relay is gone. */
    private void end(Deque<AutoCloseable> running) {
        while (!running.isEmpty()) {
            try {
                running.pop().close();
            } catch (Exception e) {
                terminal.say("could not stop a part cleanly: " + e.getClass().getSimpleName());
            }
        }
    }
}
