package io.postroom.benchmark;

import io.postroom.Postroom;
import io.postroom.relay.Relay;
import io.postroom.relay.Subscription;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.util.OptionalDouble;
import java.util.concurrent.TimeUnit;

/** What a relay costs the database while nothing happens, and what a stamp costs that finds nothing. */
final class Idle {
    private static final String SECTION = "At rest";
    private static final int SETTLE_SECONDS = 5;

    private Idle() {}

    static void run(Report report, BenchDatabase database, int seconds) throws Exception {
        Load load;
        // A server of its own: the other one is still busy with what earlier scenarios left behind.
        try (EmbeddedPostgres quiet = BenchDatabase.server();
                BenchDatabase ofRelay = BenchDatabase.create(quiet)) {
            load = load(ofRelay, ofRelay.migrated(), seconds);
        }
        report.figure(
                SECTION,
                "statements of an idle relay with one subscription of four lanes",
                load.statements,
                "statements/s");
        report.figure(SECTION, "their execution time, as a share of one core", load.executing, "%");
        if (load.cpu.isPresent()) {
            report.figure(
                    SECTION,
                    "CPU of all PostgreSQL processes with it, as a share of one core",
                    load.cpu.getAsDouble(),
                    "%");
        }
        if (load.cpuAlone.isPresent()) {
            report.figure(SECTION, "the same without it", load.cpuAlone.getAsDouble(), "%");
        }
        report.atMost(
                SECTION,
                "a stamp that finds nothing, thirty partitions, other writers busy",
                emptyStamp(database),
                "ms",
                0.5);
        if (load.cpu.isEmpty()) {
            report.note(SECTION, "The CPU of PostgreSQL's processes was not measured: that takes Linux.");
        }
    }

    /** What an idle relay asks of PostgreSQL in a second; the rest in percent of one core. */
    private record Load(double statements, double executing, OptionalDouble cpu, OptionalDouble cpuAlone) {}

    private static Load load(BenchDatabase database, Postroom postroom, int seconds) throws Exception {
        database.execute("create extension if not exists pg_stat_statements");
        ServerCpu server = ServerCpu.of(database);
        TimeUnit.SECONDS.sleep(SETTLE_SECONDS);
        OptionalDouble cpuAlone = cpu(server, seconds);
        try (Relay relay = postroom.relay()
                .handle(Subscription.named("idle").build(), envelope -> {})
                .build()) {
            relay.start();
            // Let it fall back to its longest poll.
            TimeUnit.SECONDS.sleep(SETTLE_SECONDS);
            database.execute("select pg_stat_statements_reset()");
            OptionalDouble cpu = cpu(server, seconds);
            long calls = database.queryLong(
                    "select coalesce(sum(calls), 0) from pg_stat_statements where dbid ="
                            + " (select oid from pg_database where datname = current_database()) and query not like '%pg_stat_statements%'");
            long micros = database.queryLong(
                    "select (coalesce(sum(total_exec_time), 0) * 1000)::bigint from pg_stat_statements");
            return new Load(calls / (double) seconds, micros / (seconds * 1e6) * 100, cpu, cpuAlone);
        }
    }

    /** Waits so long; answers with the server's processor time meanwhile, in percent of one core. */
    private static OptionalDouble cpu(ServerCpu server, int seconds) throws InterruptedException {
        OptionalDouble before = server.seconds();
        TimeUnit.SECONDS.sleep(seconds);
        OptionalDouble after = server.seconds();
        return before.isPresent() && after.isPresent()
                ? OptionalDouble.of((after.getAsDouble() - before.getAsDouble()) / seconds * 100)
                : OptionalDouble.empty();
    }

    /** The median over many calls, each after another transaction has moved the snapshot. */
    private static double emptyStamp(BenchDatabase database) throws Exception {
        database.execute("create table if not exists other_work (n bigint)");
        double[] millis = new double[1000];
        try (Connection connection = database.connection(true);
                Connection other = database.connection(true);
                PreparedStatement stamp = connection.prepareStatement("select * from postroom.stamp(20000, '')");
                PreparedStatement work = other.prepareStatement("insert into other_work values (1)")) {
            for (int i = 0; i < millis.length; i++) {
                work.executeUpdate();
                long began = System.nanoTime();
                try (ResultSet row = stamp.executeQuery()) {
                    row.next();
                }
                millis[i] = (System.nanoTime() - began) / 1e6;
            }
        }
        return Measure.median(millis);
    }
}
