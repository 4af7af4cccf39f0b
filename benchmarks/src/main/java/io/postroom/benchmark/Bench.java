package io.postroom.benchmark;

import io.postroom.Postroom;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Runs the scenarios and writes the report: {@code Bench FOLDER [--quick] [SCENARIO …]}, or tells of them: {@code Bench --help}.
 *
 * <p>Each scenario has a process and a server of its own: what the compiler has learned from one, or a server has kept of it, is nothing to
 * the next. {@code Bench --part FILE [--quick] SCENARIO} is such a process.
 */
public final class Bench {
    private static final int BACKLOG = 300_000;
    /** As many as its peer has workers. */
    private static final int LANES = 2;

    private static final String PART = "--part";

    /** What there is to measure, in words. */
    private static final Map<String, String> SCENARIOS = scenarios();

    private final EmbeddedPostgres server;
    private final Report report = new Report();
    private final boolean quick;

    private Bench(EmbeddedPostgres server, boolean quick) {
        this.server = server;
        this.quick = quick;
    }

    public static void main(String[] args) throws Exception {
        List<String> words = List.of(args);
        if (words.contains("--help")) {
            System.out.print(usage());
            return;
        }
        List<String> only =
                words.stream().skip(1).filter(word -> !word.equals("--quick")).toList();
        List<String> unknown = args[0].equals(PART)
                ? List.of()
                : only.stream().filter(word -> !SCENARIOS.containsKey(word)).toList();
        if (!unknown.isEmpty()) {
            System.err.println("bench: " + String.join(", ", unknown) + " is no scenario; one of "
                    + String.join(", ", SCENARIOS.keySet()) + ", or --quick");
            System.exit(2);
        }
        boolean quick = words.contains("--quick");
        if (args[0].equals(PART)) {
            // Whatever a scenario has left running.
            System.exit(part(Path.of(only.get(0)), only.get(1), quick));
        }
        Report all = new Report();
        for (String scenario : only.isEmpty() ? SCENARIOS.keySet() : only) {
            all.add(inAnotherProcess(scenario, quick));
        }
        System.exit(all.write(Path.of(args[0])) ? 0 : 4);
    }

    private static int part(Path file, String scenario, boolean quick) {
        try {
            measure(scenario, quick).save(file);
            return 0;
        } catch (Exception | Error e) {
            e.printStackTrace();
            return 1;
        }
    }

    private static Report measure(String scenario, boolean quick) throws Exception {
        try (EmbeddedPostgres server = BenchDatabase.server()) {
            Bench bench = new Bench(server, quick);
            bench.report.begin(bench.intro());
            bench.run(scenario);
            return bench.report;
        }
    }

    /** One that breaks is a missed target, and does not take with it what the others have found in half an hour. */
    private static Report inAnotherProcess(String scenario, boolean quick) throws IOException, InterruptedException {
        Path part = Files.createTempFile("postroom-bench", ".part");
        try {
            List<String> command = new ArrayList<>();
            command.add(System.getProperty("java.home") + "/bin/java");
            command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
            command.addAll(List.of("-cp", System.getProperty("java.class.path"), Bench.class.getName(), PART));
            command.add(part.toString());
            command.add(scenario);
            if (quick) {
                command.add("--quick");
            }
            int code = new ProcessBuilder(command).inheritIO().start().waitFor();
            if (code == 0) {
                return Report.load(part);
            }
            Report broken = new Report();
            broken.broken(SCENARIOS.get(scenario), "its process ended with " + code);
            return broken;
        } finally {
            Files.delete(part);
        }
    }

    private static Map<String, String> scenarios() {
        Map<String, String> scenarios = new LinkedHashMap<>();
        scenarios.put("publish", "publishing beside plain inserts, and what a notification would cost");
        scenarios.put("drain", "a relay against reading the same rows, and against claim-and-mark");
        scenarios.put("latency", "from commit to handler, at a steady rate");
        scenarios.put("idle", "what a relay costs that has nothing to do");
        scenarios.put("failing", "a relay while some messages fail");
        scenarios.put("redrive", "100,000 dead letters: preview, cancel, redrive");
        scenarios.put("projection", "applying batches to tables");
        scenarios.put("idempotency", "requests under idempotency keys");
        scenarios.put("jobs", "working off jobs, beside the queues of others and what the database could do");
        scenarios.put("enqueue", "what a job costs the transaction that enqueues it");
        scenarios.put("pick-up", "from commit to the start of a job, at a steady rate");
        scenarios.put("wal", "write-ahead log a message");
        scenarios.put("kafka", "through a relay to a Kafka broker");
        scenarios.put("console", "every page of the console with ten million messages and a million dead letters");
        scenarios.put("growth", "the same work with ten million messages kept");
        return scenarios;
    }

    private static String usage() {
        StringBuilder text = new StringBuilder("""
                bin/bench [FOLDER] [--quick] [SCENARIO …]
                Measures Postroom beside the limits of the same PostgreSQL and writes a report into FOLDER (with a slash in it), which is
                benchmarks/target/report unless given. Without a scenario it runs all of them, for three quarters of an hour; --quick takes less time and is less sure.
                Ends with 4 if a target was missed.

                """);
        SCENARIOS.forEach((name, what) -> text.append(String.format(Locale.ROOT, "  %-12s %s%n", name, what)));
        return text.toString();
    }

    /** One thing to measure, on a fresh database. */
    @FunctionalInterface
    private interface Scenario {
        void run(BenchDatabase database, Postroom postroom) throws Exception;
    }

    private void run(String name) {
        Map<String, Scenario> scenarios = new LinkedHashMap<>();
        scenarios.put("publish", (database, postroom) -> {
            Publish publish = new Publish(database, postroom);
            publish.run(report, quick ? 5 : 15, quick ? 500 : 1000);
            publish.notify(report, quick ? 3 : 5);
        });
        scenarios.put("drain", (database, postroom) -> drain());
        scenarios.put(
                "latency", (database, postroom) -> new Latency(database, postroom).run(report, 200, quick ? 5 : 20));
        scenarios.put("idle", (database, postroom) -> Idle.run(report, database, quick ? 5 : 20));
        scenarios.put(
                "failing",
                (database, postroom) -> new Failing(server, quick ? 100_000 : BACKLOG).run(report, quick ? 1 : 5));
        scenarios.put("redrive", (database, postroom) -> new Redriving(database, postroom).run(report));
        scenarios.put(
                "projection",
                (database, postroom) -> new Projecting(server, quick ? 50_000 : 200_000).run(report, quick ? 1 : 5));
        scenarios.put(
                "idempotency",
                (database, postroom) ->
                        new Idempotent(database, postroom).run(report, quick ? 6 : 20, quick ? 400 : 1_000));
        scenarios.put(
                "jobs",
                (database, postroom) ->
                        new Working(server, quick ? 20_000 : 100_000, quick ? 1 : 3, quick ? 1 : 10).run(report));
        scenarios.put(
                "enqueue",
                (database, postroom) ->
                        new Enqueuing(server, database, postroom).run(report, quick ? 8 : 20, quick ? 250 : 500));
        scenarios.put("pick-up", this::pickUp);
        scenarios.put("wal", this::wal);
        scenarios.put("kafka", (database, postroom) -> KafkaEndToEnd.run(report, database, quick ? 50_000 : 200_000));
        scenarios.put(
                "console",
                (database, postroom) -> new Browsing(
                                database, quick ? 200_000 : 10_000_000, quick ? 20_000 : 1_000_000, quick ? 20 : 60)
                        .run(report));
        scenarios.put("growth", (database, postroom) -> {
            Growth.warmUp(server, quick ? 2 : 10);
            Growth.run(report, database, postroom, quick ? 1_000_000 : 10_000_000);
        });
        if (!scenarios.keySet().equals(SCENARIOS.keySet())) {
            throw new IllegalStateException(
                    "scenarios are " + scenarios.keySet() + ", told of are " + SCENARIOS.keySet());
        }
        try (BenchDatabase database = BenchDatabase.create(server)) {
            scenarios.get(name).run(database, database.migrated());
        } catch (Exception | LinkageError e) {
            e.printStackTrace();
            report.broken(SCENARIOS.get(name), e.toString());
        }
    }

    private void drain() throws Exception {
        String section = "Drain of a backlog of 300,000, thirty partitions attached";
        int rounds = quick ? 2 : 7;
        double[] raw = new double[rounds];
        double[] ours = new double[rounds];
        double[] held = new double[rounds];
        double[] matched = new double[quick ? 1 : 3];
        double[] written = new double[1];
        // What counts is how the code runs once the compiler is done with it.
        drainOnce(false, raw, 0);
        drainOnce(true, raw, 0);
        for (int round = 0; round < rounds; round++) {
            // Who goes first changes: the server is still busy with what the one before has left behind.
            ours[round] = round % 2 == 0 ? drainOnce(false, raw, round) : 0;
            held[round] = drainOnce(true, raw, round);
            ours[round] = round % 2 == 0 ? ours[round] : drainOnce(false, raw, round);
        }
        for (int round = 0; round < matched.length; round++) {
            try (BenchDatabase database = BenchDatabase.create(server)) {
                matched[round] = SeedPattern.matched(database, BACKLOG);
            }
        }
        try (BenchDatabase database = BenchDatabase.create(server)) {
            written[0] = SeedPattern.asWritten(database, BACKLOG);
        }
        report.figure(
                section,
                "raw: primary-key range reads of the same rows, one thread",
                Measure.median(raw),
                "messages/s");
        report.figure(
                section,
                "Postroom: stamp, deliver to a no-op handler, settle, two lanes",
                Measure.median(ours),
                "messages/s");
        report.figure(section, "Postroom, another connection holding a snapshot", Measure.median(held), "messages/s");
        report.figure(
                section,
                "claim and mark, order matched to its index, best batch, two workers",
                Measure.median(matched),
                "messages/s");
        report.figure(
                section,
                "claim and mark, as usually written, best batch, two workers",
                Measure.median(written),
                "messages/s");
        report.ratio(section, "relay against the raw read", Measure.median(ours) / Measure.median(raw), 0.4);
        report.ratio(
                section, "relay against claim and mark, matched", Measure.median(ours) / Measure.median(matched), 2.5);
        report.ratio(section, "relay with a held snapshot against without", Measure.ratio(held, ours), 0.9);
    }

    /** One drain of a fresh backlog, perhaps while somebody holds a snapshot, after all of it was read once as it lies. */
    private double drainOnce(boolean held, double[] raw, int round) throws Exception {
        try (BenchDatabase database = BenchDatabase.create(server)) {
            Postroom postroom = database.migrated();
            // As its peer's table is.
            database.execute(Sample.backlog(BACKLOG), "vacuum analyze postroom.outbox", "checkpoint");
            raw[round] = Drain.rawRead(database, BACKLOG, 1000);
            if (!held) {
                return Drain.relay(postroom, "drain", BACKLOG, LANES);
            }
            Connection holder = database.holdSnapshot();
            try (holder) {
                return Drain.relay(postroom, "drain", BACKLOG, LANES);
            }
        }
    }

    private void pickUp(BenchDatabase database, Postroom postroom) throws Exception {
        PickUp pickUp = new PickUp(database, postroom);
        int seconds = quick ? 5 : 20;
        pickUp.run(report, seconds, "");
        Connection holder = database.holdSnapshot();
        try (holder) {
            pickUp.run(report, seconds, ", a snapshot held");
        }
        // In another queue, half of them for later: nobody works on them meanwhile.
        Burning.letWait(database, Burning.MILLION);
        database.execute("vacuum analyze postroom.job", "checkpoint");
        pickUp.run(report, seconds, ", a million waiting");
    }

    private void wal(BenchDatabase database, Postroom postroom) throws Exception {
        String section = "Write-ahead log";
        database.execute("checkpoint");
        // The first change of a page after a checkpoint logs all of it; a second batch shows the steady state.
        long messages = 50_000;
        for (int batch = 0; batch < 2; batch++) {
            long before = database.wal();
            try (Connection tx = database.connection(false)) {
                for (int i = 0; i < messages; i += 1000) {
                    postroom.outbox().publishAll(tx, Sample.messages(i, 1000));
                    tx.commit();
                }
            }
            long published = database.wal();
            postroom.journal().stampAll();
            long stamped = database.wal();
            if (batch == 1) {
                report.figure(
                        section,
                        "publish, a message of " + Sample.payload(1).length() + " bytes",
                        (published - before) / (double) messages,
                        "bytes/message");
                report.figure(section, "stamp", (stamped - published) / (double) messages, "bytes/message");
            }
        }
    }

    private String intro() {
        return String.format(
                Locale.ROOT,
                "One run of `bin/bench%s` on %d cores, Java %s, PostgreSQL %s embedded, `fsync` %s and `synchronous_commit` %s. Every judged"
                        + " figure is a ratio of two measurements of this run, or a time on this machine. Each scenario has a process and a"
                        + " server of its own; where a measurement needs tables of its own, it has a database of its own on that server."
                        + " Absolute rates are only good for comparing with each other.%n",
                quick ? " --quick" : "",
                Runtime.getRuntime().availableProcessors(),
                Runtime.version().feature(),
                setting("server_version").split(" ")[0],
                setting("fsync"),
                setting("synchronous_commit"));
    }

    private String setting(String name) {
        try (Connection connection = server.getPostgresDatabase().getConnection();
                PreparedStatement read = connection.prepareStatement("select current_setting(?)")) {
            read.setString(1, name);
            try (ResultSet row = read.executeQuery()) {
                row.next();
                return row.getString(1);
            }
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }
}
