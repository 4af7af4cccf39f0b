package io.postroom.benchmark;

import io.postroom.Postroom;
import io.postroom.relay.Handler;
import io.postroom.relay.Relay;
import io.postroom.relay.Start;
import io.postroom.relay.Subscription;
import java.sql.Connection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** From the commit to the handler, at a steady rate: with the relay in the writer's process, and in another one. */
final class Latency {
    private final BenchDatabase database;
    private final Postroom postroom;

    Latency(BenchDatabase database, Postroom postroom) {
        this.database = database;
        this.postroom = postroom;
    }

    void run(Report report, int rate, int seconds) throws Exception {
        String section = "Latency from commit to handler at " + rate + " messages/s";
        Pace pace = new Pace(database, rate);
        Map<String, Long> handled = new ConcurrentHashMap<>();
        Handler handler =
                envelope -> handled.putIfAbsent(envelope.message().id().toString(), OtherProcess.micros());
        try (Relay relay =
                postroom.relay().handle(subscription("here"), handler).build()) {
            relay.start();
            pace.keep(2, this::publish, relay::nudge);
            handled.clear();
            long[] sorted = OtherProcess.latencies(pace.keep(seconds, this::publish, relay::nudge), handled);
            report.atMost(section, "p50, relay in the same process", Measure.percentile(sorted, 0.5) / 1000, "ms", 2);
            report.figure(section, "p99, relay in the same process", Measure.percentile(sorted, 0.99) / 1000, "ms");
        }
        try (OtherProcess remote = new OtherProcess(Latency.class, database.url())) {
            pace.keep(3, this::publish, () -> {});
            Map<String, Long> committed = pace.keep(seconds, this::publish, () -> {});
            long[] sorted = OtherProcess.latencies(committed, remote.handled());
            report.atMost(section, "p50, relay in another process", Measure.percentile(sorted, 0.5) / 1000, "ms", 5);
            report.atMost(section, "p99, relay in another process", Measure.percentile(sorted, 0.99) / 1000, "ms", 20);
        }
        report.note(
                section,
                "Measured from just before the commit is sent, so the commit's own flush to disk is included.");
    }

    private static Subscription subscription(String name) {
        return Subscription.named(name).lanes(2).start(Start.now()).build();
    }

    private String publish(Connection tx, int n) {
        return postroom.outbox().publish(tx, Sample.message(n)).toString();
    }

    /** The other process. */
    public static void main(String[] args) throws Exception {
        com.zaxxer.hikari.HikariConfig config = new com.zaxxer.hikari.HikariConfig();
        config.setJdbcUrl(args[0]);
        try (com.zaxxer.hikari.HikariDataSource pool = new com.zaxxer.hikari.HikariDataSource(config);
                Relay relay = Postroom.on(pool)
                        .relay()
                        .handle(
                                subscription("there"),
                                envelope ->
                                        System.out.println(envelope.message().id() + " " + OtherProcess.micros()))
                        .build()) {
            relay.start();
            System.out.println("ready");
            System.out.flush();
            Thread.currentThread().join();
        }
    }
}
