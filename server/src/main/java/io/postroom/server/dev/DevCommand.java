package io.postroom.server.dev;

import com.zaxxer.hikari.HikariDataSource;
import io.postroom.Postroom;
import io.postroom.PostroomException;
import io.postroom.maintenance.Maintenance;
import io.postroom.message.Upcasters;
import io.postroom.postgres.DatabaseException;
import io.postroom.postgres.Schema;
import io.postroom.relay.Lag;
import io.postroom.relay.Relay;
import io.postroom.server.metrics.Metrics;
import io.postroom.server.postgres.Connections;
import io.postroom.server.serve.Console;
import io.postroom.server.terminal.CommandException;
import io.postroom.server.terminal.ExitCode;
import io.postroom.server.terminal.GlobalOptions;
import io.postroom.server.terminal.StopSignal;
import io.postroom.server.terminal.Terminal;
import io.postroom.server.web.WebSettings;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Runs everything on this machine, with demo traffic. */
@Command(
        name = "dev",
        description = {
            "Try everything out: a PostgreSQL with data kept in a folder, a relay, workers, a console, and demo traffic.",
            "Shows every two seconds what flows where. Ctrl-C ends it; the next run goes on with the same data."
        },
        footer = {
            "%nExamples:",
            "  postroom dev",
            "  postroom dev --rate 1000 --port 5433",
            "  postroom dev --fresh --data /tmp/postroom"
        })
public final class DevCommand implements Callable<Integer> {
    private static final Duration REFRESH = Duration.ofSeconds(2);
    private static final Duration STOP_PATIENCE = Duration.ofSeconds(30);
    private static final Duration DRAIN = Duration.ofSeconds(3);
    private static final Duration DRAIN_LOOK = Duration.ofMillis(20);
    /** Where data is unless somebody says otherwise. */
    static final Path DATA = Path.of(".postroom", "dev");

    private static final int LANES = 10;
    private static final Set<String> OF_ANOTHER_VERSION = Set.of("schema.changed", "schema.newer");

    private final Terminal terminal;
    private final GlobalOptions options;

    @Option(names = "--rate", paramLabel = "N", description = "Transactions a second; 200 unless given.")
    private int rate = 200;

    @Option(names = "--fresh", description = "Begin without the data of earlier runs.")
    private boolean fresh;

    @Option(names = "--port", paramLabel = "PORT", description = "PostgreSQL's port; any free one unless given.")
    private int port;

    @Option(
            names = "--console-port",
            paramLabel = "PORT",
            description = "The console's port; 8642 unless given, or any that is free if that is taken.")
    private @Nullable Integer consolePort;

    @Option(names = "--data", paramLabel = "FOLDER", description = "Where data is kept; .postroom/dev unless given.")
    private Path data = DATA;

    public DevCommand(Terminal terminal, GlobalOptions options) {
        this.terminal = terminal;
        this.options = options;
    }

    @Override
    public Integer call() {
        if (rate < 0 || rate > Traffic.RATE_MAX) {
            throw new CommandException(ExitCode.USAGE, "--rate is " + rate + ", the range is 0 to " + Traffic.RATE_MAX);
        }
        if (port < 0 || port > 65_535) {
            throw new CommandException(ExitCode.USAGE, "--port is " + port + ", the range is 0 to 65535");
        }
        if (consolePort != null && (consolePort < 0 || consolePort > 65_535)) {
            throw new CommandException(
                    ExitCode.USAGE, "--console-port is " + consolePort + ", the range is 0 to 65535");
        }
        refuse("--url", options.url(), "a PostgreSQL of its own; to serve another database, run postroom relay");
        refuse("--schema", options.schema(), "a database of its own, with the schema postroom");
        try (StopSignal stop = StopSignal.listen(STOP_PATIENCE)) {
            terminal.say("starting PostgreSQL in " + data);
            try (DevServer server = DevServer.start(data.toAbsolutePath(), port, fresh);
                    HikariDataSource pool = Connections.pool(server.dataSource(), connections())) {
                run(server, pool, stop);
            }
            terminal.say("stopped; the data is in " + data);
        }
        return ExitCode.OK;
    }

    private static void refuse(String name, @Nullable String value, String instead) {
        if (value != null) {
            throw new CommandException(ExitCode.USAGE, name + " cannot be given here: dev has " + instead);
        }
    }

    private int connections() {
        return Traffic.writers(rate) + LANES + DemoWorkers.CONNECTIONS + 5;
    }

    private void run(DevServer server, HikariDataSource pool, StopSignal stop) {
        Metrics metrics = new Metrics(Schema.POSTROOM);
        String url = "jdbc:postgresql://localhost:" + server.port() + "/postgres?user=postgres";
        Flow flow = new Flow(metrics.registry());
        Postroom postroom =
                Postroom.builder(pool).telemetry(metrics.telemetry()).build();
        migrate(postroom);
        Business business = new Business();
        postroom.database().transact(tx -> {
            business.table().create(tx);
            return true;
        });
        try (Maintenance maintenance = postroom.maintenance();
                Mischief mischief = new Mischief(postroom, url);
                Faults faults = Faults.watch(postroom.database(), mischief::begin);
                Relay relay = DemoRelay.build(postroom, "dev", DRAIN, faults);
                DemoWorkers workers = new DemoWorkers(postroom, DRAIN);
                Console console = console(server, postroom, metrics)) {
            maintenance.start();
            relay.start();
            workers.start();
            greet(server.port(), console.entry());
            try (Traffic traffic = Traffic.start(pool, postroom, business, rate)) {
                FlowBoard board = new FlowBoard(terminal, flow, traffic);
                while (!stop.await(REFRESH)) {
                    board.show(postroom.journal().head().position(), relay.lag());
                }
                terminal.say("stopping");
            }
            drain(postroom, relay);
        }
    }

    /** On the port that people remember, unless another program has it. */
    private Console console(DevServer server, Postroom postroom, Metrics metrics) {
        int wanted = consolePort == null ? WebSettings.PORT : consolePort;
        try {
            return console(server, postroom, metrics, wanted);
        } catch (CommandException e) {
            if (consolePort != null) {
                throw e;
            }
            return console(server, postroom, metrics, 0);
        }
    }

    private static Console console(DevServer server, Postroom postroom, Metrics metrics, int port) {
        return Console.start(
                server.dataSource(),
                postroom.database().schema(),
                Upcasters.NONE,
                WebSettings.local(port),
                metrics,
                List.of(new FaultPages(postroom.database())),
                List.of("demo", "relay", "workers", "maintenance", "console"),
                List.of());
    }

    /** Steps that are not released yet may change; then a folder of an earlier day no longer fits. */
    private void migrate(Postroom postroom) {
        try {
            postroom.migrations().migrate();
        } catch (PostroomException e) {
            if (OF_ANOTHER_VERSION.contains(e.code())) {
                throw new CommandException(
                        ExitCode.FAILURE,
                        "the data in " + data + " is of another version of Postroom: " + e.getMessage()
                                + "; or begin without that data: postroom dev --fresh",
                        e);
            }
            throw e;
        }
    }

    private String where() {
        return data.equals(DATA) ? "" : " --data " + data;
    }

    private static String others() {
        return String.join(
                ", ",
                Fault.words().stream()
                        .filter(word -> !word.equals(Fault.POISON.word()))
                        .toList());
    }

    private void greet(int port, String console) {
        String url = "postgres://postgres@localhost:" + port + "/postgres";
        terminal.print("Console     " + console + "\n"
                + "PostgreSQL  jdbc:postgresql://localhost:" + port + "/postgres?user=postgres\n"
                + "Look        bin/postroom tail --url " + url + " --subscription me\n"
                + "            bin/postroom subscription list --url " + url + "\n"
                + "            psql " + url + " -c 'select * from demo.orders limit 5'\n"
                + "Break       bin/postroom dev break poison" + where() + "   or " + others() + "\n\n");
    }

    /** Everything that was committed should have arrived when it ends; what has not is there for the next run. */
    private static void drain(Postroom postroom, Relay relay) {
        long deadline = System.nanoTime() + DRAIN.toNanos();
        try {
            postroom.journal().stampAll();
            relay.nudge();
            while (System.nanoTime() < deadline
                    && relay.lag().stream().mapToLong(Lag::messages).sum() > 0) {
                LockSupport.parkNanos(DRAIN_LOOK.toNanos());
            }
        } catch (DatabaseException e) {
            // The relay has said so.
        }
    }
}
