package io.postroom.server.overview;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** How long so many messages took, or have waited so far. */
record Delay(Duration took, double messages) {
    /** A stretch of messages is told by so many of them. */
    private static final int STEPS = 10;

    /** Messages that came one after the other: the first took the longest. */
    static List<Delay> stretch(Duration newest, Duration oldest, double messages) {
        List<Delay> delays = new ArrayList<>();
        int steps = (int) Math.max(1, Math.min(STEPS, Math.ceil(messages)));
        for (int i = 0; i < steps; i++) {
            double share = steps == 1 ? 1 : i / (steps - 1.0);
            long nanos = Math.round(newest.toNanos() + share * (oldest.toNanos() - newest.toNanos()));
            delays.add(new Delay(Duration.ofNanos(Math.max(0, nanos)), messages / steps));
        }
        return delays;
    }

    /** From commit to delivery: so many in a hundred took no longer. */
    public record Percentiles(Duration p50, Duration p95, Duration p99) {}

    /** Null if there is nothing to tell. */
    static @Nullable Percentiles percentiles(List<Delay> delays) {
        List<Delay> sorted =
                delays.stream().sorted(Comparator.comparing(Delay::took)).toList();
        double all = sorted.stream().mapToDouble(Delay::messages).sum();
        return all <= 0 ? null : new Percentiles(at(sorted, all * 0.5), at(sorted, all * 0.95), at(sorted, all * 0.99));
    }

    private static Duration at(List<Delay> sorted, double messages) {
        double seen = 0;
        for (Delay delay : sorted) {
            seen += delay.messages();
            if (seen >= messages) {
                return delay.took();
            }
        }
        return sorted.get(sorted.size() - 1).took();
    }
}
