package io.postroom.benchmark;

import io.postroom.Postroom;
import io.postroom.relay.Relay;
import io.postroom.relay.Subscription;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.util.concurrent.TimeUnit;

/** What a relay costs the database while nothing happens, and what a stamp costs that finds nothing. */
final class Idle {
    private Idle() {}

    static void run(Report report, BenchDatabase database, Postroom postroom, int seconds) throws Exception {
        String section = "At rest";
        database.execute("create extension if not exists pg_stat_statements");
        try (Relay relay = postroom.relay()
                .handle(Subscription.named("idle").build(), envelope -> {})
                .build()) {
            relay.start();
            // Let it fall back to its longest poll.
            TimeUnit.SECONDS.sleep(5);
            database.execute("select pg_stat_statements_reset()");
            TimeUnit.SECONDS.sleep(seconds);
            long calls = database.queryLong(
                    "select coalesce(sum(calls), 0) from pg_stat_statements where dbid ="
                            + " (select oid from pg_database where datname = current_database()) and query not like '%pg_stat_statements%'");
            long micros = database.queryLong(
                    "select (coalesce(sum(total_exec_time), 0) * 1000)::bigint from pg_stat_statements");
            report.figure(
                    section,
                    "statements of an idle relay with one subscription of four lanes",
                    calls / (double) seconds,
                    "statements/s");
            report.figure(section, "their execution time, as a share of one core", micros / (seconds * 1e6) * 100, "%");
        }
        report.atMost(
                section,
                "a stamp that finds nothing, thirty partitions, other writers busy",
                emptyStamp(database),
                "ms",
                0.5);
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
