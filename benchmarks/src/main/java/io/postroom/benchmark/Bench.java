package io.postroom.benchmark;

import io.postroom.Postroom;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Statement;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Runs the scenarios and writes the report: {@code Bench FOLDER [--quick] [SCENARIO …]}. */
public final class Bench {
    private static final int BACKLOG = 300_000;
    /** As many as its peer has workers. */
    private static final int LANES = 2;

    private final EmbeddedPostgres server;
    private final Report report = new Report();
    private final boolean quick;

    private Bench(EmbeddedPostgres server, boolean quick) {
        this.server = server;
        this.quick = quick;
    }

    public static void main(String[] args) throws Exception {
        Path folder = Path.of(args[0]);
        boolean quick = List.of(args).contains("--quick");
        boolean met;
        try (EmbeddedPostgres server = BenchDatabase.server()) {
            Bench bench = new Bench(server, quick);
            bench.run(List.of(args).stream()
                    .skip(1)
                    .filter(arg -> !arg.startsWith("--"))
                    .toList());
            met = bench.report.write(folder, bench.intro());
        }
        System.exit(met ? 0 : 4);
    }

    /** One thing to measure, on a fresh database. */
    @FunctionalInterface
    private interface Scenario {
        void run(BenchDatabase database, Postroom postroom) throws Exception;
    }

    private void run(List<String> only) throws Exception {
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
        scenarios.put("wal", this::wal);
        scenarios.put("kafka", (database, postroom) -> KafkaEndToEnd.run(report, database, quick ? 50_000 : 200_000));
        scenarios.put(
                "growth",
                (database, postroom) -> Growth.run(report, database, postroom, quick ? 1_000_000 : 10_000_000));
        if (!scenarios.keySet().containsAll(only)) {
            throw new IllegalArgumentException("scenarios are " + scenarios.keySet() + ", not " + only);
        }
        for (Map.Entry<String, Scenario> scenario : scenarios.entrySet()) {
            if (only.isEmpty() || only.contains(scenario.getKey())) {
                try (BenchDatabase database = BenchDatabase.create(server)) {
                    scenario.getValue().run(database, database.migrated());
                }
            }
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
            try (Connection holder = database.connection(false);
                    Statement statement = holder.createStatement()) {
                if (held) {
                    holder.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
                    statement.execute("select txid_current_if_assigned()");
                }
                return Drain.relay(postroom, "drain", BACKLOG, LANES);
            }
        }
    }

    private void wal(BenchDatabase database, Postroom postroom) throws Exception {
        String section = "Write-ahead log";
        database.execute("checkpoint");
        // The first change of a page after a checkpoint logs all of it; a second batch shows the steady state.
        long messages = 50_000;
        for (int batch = 0; batch < 2; batch++) {
            long before = database.queryLong("select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint");
            try (Connection tx = database.connection(false)) {
                for (int i = 0; i < messages; i += 1000) {
                    postroom.outbox().publishAll(tx, Sample.messages(i, 1000));
                    tx.commit();
                }
            }
            long published = database.queryLong("select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint");
            postroom.journal().stampAll();
            long stamped = database.queryLong("select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint");
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
                "One run of `bin/bench%s` on %d cores, Java %s, PostgreSQL %s embedded, `fsync` and `synchronous_commit` on. Every judged"
                        + " figure is a ratio of two measurements of this run, or a time on this machine; absolute rates are only good for"
                        + " comparing with each other.%n",
                quick ? " --quick" : "",
                Runtime.getRuntime().availableProcessors(),
                Runtime.version().feature(),
                version());
    }

    private String version() {
        try (Connection connection = server.getPostgresDatabase().getConnection()) {
            return connection.getMetaData().getDatabaseProductVersion().split(" ")[0];
        } catch (java.sql.SQLException e) {
            return "18";
        }
    }
}
