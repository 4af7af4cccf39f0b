package io.postroom.server.relay;

import com.zaxxer.hikari.HikariDataSource;
import io.postroom.Postroom;
import io.postroom.maintenance.Maintenance;
import io.postroom.projection.MaterializedViews;
import io.postroom.relay.Relay;
import io.postroom.server.postgres.Connections;
import io.postroom.server.postgres.DatabaseUrl;
import io.postroom.server.postgres.DurabilityCheck;
import io.postroom.server.postgres.SchemaCheck;
import io.postroom.server.postgres.SchemaChoice;
import io.postroom.server.terminal.ExitCode;
import io.postroom.server.terminal.GlobalOptions;
import io.postroom.server.terminal.StopSignal;
import io.postroom.server.terminal.Terminal;
import io.postroom.server.tracing.Traces;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Callable;
import org.postgresql.ds.PGSimpleDataSource;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Runs a relay until it is told to stop. */
@Command(
        name = "relay",
        description = {
            "Deliver subscriptions to Kafka, webhooks or the terminal, as a file says; docs/relay.md has every setting.",
            "Any number may run at once and share the work. Ctrl-C or SIGTERM stops it cleanly, with exit code 0."
        },
        footer = {"%nExamples:", "  postroom relay --config relay.yaml", "  postroom relay --config relay.yaml --check"
        })
public final class RelayCommand implements Callable<Integer> {
    private static final Duration LOOK = Duration.ofMinutes(1);
    /** For what comes after the relay's own grace: sinks, connections. */
    private static final Duration CLOSING = Duration.ofSeconds(30);

    private final Terminal terminal;
    private final GlobalOptions options;

    @Option(
            names = {"-c", "--config"},
            required = true,
            paramLabel = "FILE",
            description = "What to deliver where.")
    private Path config = Path.of("relay.yaml");

    @Option(names = "--check", description = "Only check the file; exit with 2 if it cannot be used.")
    private boolean check;

    public RelayCommand(Terminal terminal, GlobalOptions options) {
        this.terminal = terminal;
        this.options = options;
    }

    @Override
    public Integer call() {
        try (RelayFile file = RelayFile.read(config.toString(), SettingsText.of(config), terminal)) {
            // Core has ranges of its own; better to hear of them before connecting.
            file.relay(Postroom.on(new PGSimpleDataSource()));
            if (file.url() != null) {
                DatabaseUrl.parse("url in " + config, file.url(), terminal.environment());
            }
            if (check) {
                terminal.say(config + " can be used");
                return ExitCode.OK;
            }
            run(file);
            return ExitCode.OK;
        }
    }

    private void run(RelayFile file) {
        DatabaseUrl url = options.url() == null && file.url() != null
                ? DatabaseUrl.parse("url in " + config, file.url(), terminal.environment())
                : DatabaseUrl.find(options.url(), terminal.environment());
        String schema = options.schema() == null ? file.schema() : options.schema();
        try (StopSignal stop =
                        StopSignal.listen(file.stopGrace().multipliedBy(2).plus(CLOSING));
                HikariDataSource pool = Connections.pool(url, file.connections())) {
            Postroom postroom = Postroom.builder(pool)
                    .schema(SchemaChoice.of(schema, terminal.environment()).name())
                    .upcasters(file.upcasters())
                    .build();
            SchemaCheck.require(postroom, terminal);
            DurabilityCheck.warn(postroom.database(), terminal);
            try (Traces traces = file.tracing().map(Traces::start).orElse(null);
                    Maintenance maintenance = file.maintenance(postroom);
                    MaterializedViews views = postroom.materializedViews();
                    Relay relay = file.relay(postroom, traces == null ? null : traces.tracing())) {
                // A position to begin at may be that of a message that nobody has stamped yet.
                postroom.journal().stampAll();
                relay.start();
                if (file.maintenance()) {
                    maintenance.start();
                    views.start();
                }
                while (!stop.await(LOOK)) {
                    // Only a stop ends a relay; everything else it survives by itself.
                }
            }
        }
    }
}
