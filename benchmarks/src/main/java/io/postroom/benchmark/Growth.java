package io.postroom.benchmark;

import io.postroom.Postroom;
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
            for (int probe = 0; probe < 3; probe++) {
                String name = "growth-" + size + "-" + probe;
                io.postroom.relay.Subscription subscription = io.postroom.relay.Subscription.named(name)
                        .lanes(2)
                        .start(io.postroom.relay.Start.now())
                        .build();
                try (io.postroom.relay.Relay maker =
                        postroom.relay().handle(subscription, envelope -> {}).build()) {
                    maker.runOnce();
                }
                bestPublish = Math.max(bestPublish, publish(database, postroom));
                best = Math.max(best, Drain.relay(postroom, name, PROBE, 2));
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
