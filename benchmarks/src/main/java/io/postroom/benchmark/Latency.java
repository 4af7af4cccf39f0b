package io.postroom.benchmark;

import io.postroom.Postroom;
import io.postroom.relay.Handler;
import io.postroom.relay.Relay;
import io.postroom.relay.Start;
import io.postroom.relay.Subscription;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

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
        Map<UUID, Long> handled = new ConcurrentHashMap<>();
        Handler handler = envelope -> handled.putIfAbsent(envelope.message().id(), micros());
        try (Relay relay =
                postroom.relay().handle(subscription("here"), handler).build()) {
            relay.start();
            write(rate, 2, relay::nudge);
            handled.clear();
            long[] sorted = latencies(write(rate, seconds, relay::nudge), handled);
            report.atMost(section, "p50, relay in the same process", Measure.percentile(sorted, 0.5) / 1000, "ms", 2);
            report.figure(section, "p99, relay in the same process", Measure.percentile(sorted, 0.99) / 1000, "ms");
        }
        try (RemoteRelay remote = new RemoteRelay(database.url())) {
            write(rate, 3, () -> {});
            Map<UUID, Long> committed = write(rate, seconds, () -> {});
            long[] sorted = latencies(committed, remote.handled());
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

    /** Commits messages at a steady rate; answers with the time just before each commit. */
    private Map<UUID, Long> write(int rate, int seconds, Runnable committed) throws Exception {
        Map<UUID, Long> times = new ConcurrentHashMap<>();
        long began = System.nanoTime();
        try (Connection tx = database.connection(false)) {
            for (int i = 0; i < rate * seconds; i++) {
                long due = began + i * 1_000_000_000L / rate;
                while (System.nanoTime() < due) {
                    LockSupport.parkNanos(due - System.nanoTime());
                }
                UUID id = postroom.outbox().publish(tx, Sample.message(i));
                times.put(id, micros());
                tx.commit();
                committed.run();
            }
        }
        return times;
    }

    private static long[] latencies(Map<UUID, Long> committed, Map<UUID, Long> handled) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (!handled.keySet().containsAll(committed.keySet())) {
            if (System.nanoTime() > deadline) {
                throw new IllegalStateException(
                        "only " + handled.size() + " of " + committed.size() + " messages were handled");
            }
            TimeUnit.MILLISECONDS.sleep(20);
        }
        return committed.entrySet().stream()
                .mapToLong(entry -> handled.get(entry.getKey()) - entry.getValue())
                .sorted()
                .toArray();
    }

    private static long micros() {
        long nanos = java.time.temporal.ChronoUnit.NANOS.between(java.time.Instant.EPOCH, java.time.Instant.now());
        return nanos / 1000;
    }

    /** A relay in a JVM of its own that prints the id and time of each message it handles. */
    private static final class RemoteRelay implements AutoCloseable {
        private final Map<UUID, Long> handled = new ConcurrentHashMap<>();
        private final Process process;

        RemoteRelay(String url) throws IOException {
            process = new ProcessBuilder(List.of(
                            System.getProperty("java.home") + "/bin/java",
                            "-Xmx256m",
                            "-XX:+UseSerialGC",
                            "-cp",
                            System.getProperty("java.class.path"),
                            Latency.class.getName(),
                            url))
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            BufferedReader lines =
                    new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
            if (!"ready".equals(lines.readLine())) {
                throw new IllegalStateException("the other relay did not start");
            }
            Thread reader = new Thread(() -> lines.lines().forEach(line -> {
                String[] parts = line.split(" ");
                handled.putIfAbsent(UUID.fromString(parts[0]), Long.parseLong(parts[1]));
            }));
            reader.setDaemon(true);
            reader.start();
        }

        Map<UUID, Long> handled() {
            return handled;
        }

        @Override
        public void close() {
            process.destroy();
        }
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
                                        System.out.println(envelope.message().id() + " " + micros()))
                        .build()) {
            relay.start();
            System.out.println("ready");
            System.out.flush();
            Thread.currentThread().join();
        }
    }
}
