package io.postroom.benchmark;

import io.postroom.Postroom;
import io.postroom.relay.Relay;
import io.postroom.relay.Start;
import io.postroom.relay.Subscription;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Whether the cost of a message stays the same as the table grows. */
final class Growth {
    private static final int PROBE = 40_000;

    private Growth() {}

    static void run(Report report, BenchDatabase database, Postroom postroom, long most) throws Exception {
        String section = "Growth";
        List<Double> publish = new ArrayList<>();
        List<Double> drain = new ArrayList<>();
        long rows = 0;
        for (long size = 10_000; size <= most; size *= 10) {
            while (rows < size) {
                long step = Math.min(size - rows, 500_000);
                database.execute(Sample.backlog(step));
                postroom.journal().stampAll();
                rows += step;
            }
            database.execute("checkpoint");
            double best = 0;
            double bestPublish = 0;
            for (int i = 0; i < 3; i++) {
                Probe probe = probe(database, postroom, "growth-" + size + "-" + i);
                bestPublish = Math.max(bestPublish, probe.publish());
                best = Math.max(best, probe.drain());
                rows += PROBE;
            }
            publish.add(bestPublish);
            drain.add(best);
            String label = String.format(Locale.ROOT, "%,d rows", size);
            report.figure(section, "publishAll with " + label, bestPublish, "messages/s");
            report.figure(section, "drain with " + label, best, "messages/s");
        }
        report.ratio(
                section,
                "publishAll in the largest table against the smallest",
                publish.get(publish.size() - 1) / publish.get(0),
                0.8);
        report.ratio(
                section,
                "drain in the largest table against the smallest",
                drain.get(drain.size() - 1) / drain.get(0),
                0.8);
    }

    /** In a table of its own. The smallest one is measured first, and must not pay for what the compiler has yet to do. */
    static void warmUp(EmbeddedPostgres server, int seconds) throws Exception {
        try (BenchDatabase other = BenchDatabase.create(server)) {
            Postroom postroom = other.migrated();
            long began = System.nanoTime();
            for (int i = 0; Drain.seconds(began) < seconds; i++) {
                probe(other, postroom, "warm-up-" + i);
            }
        }
    }

    /** Messages a second. */
    private record Probe(double publish, double drain) {}

    /** Publishes some more and drains them. */
    private static Probe probe(BenchDatabase database, Postroom postroom, String name) throws Exception {
        Subscription subscription =
                Subscription.named(name).lanes(2).start(Start.now()).build();
        try (Relay maker = postroom.relay().handle(subscription, envelope -> {}).build()) {
            maker.runOnce();
        }
        return new Probe(publish(database, postroom), Drain.relay(postroom, name, PROBE, 2));
    }

    private static double publish(BenchDatabase database, Postroom postroom) throws Exception {
        long began = System.nanoTime();
        try (Connection tx = database.connection(false)) {
            for (int i = 0; i < PROBE; i += 1000) {
                postroom.outbox().publishAll(tx, Sample.messages(i, 1000));
                tx.commit();
            }
        }
        return PROBE / Drain.seconds(began);
    }
}
