package io.postroom.server.overview;

import io.postroom.subscription.SubscriptionState;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What is remembered of a sample for an hour: figures, because the samples themselves would take the heap of the relay.
 *
 * @param positions of the subscriptions that were meant to flow, by name
 */
record Moment(
        Instant at,
        long position,
        long backlog,
        @Nullable Duration delayMedian,
        @Nullable Duration delayMost,
        Map<String, Long> positions) {

    static Moment of(Sample sample) {
        Map<String, Long> positions = new HashMap<>();
        for (SubscriptionState state : sample.current()) {
            if (state.copyOf() == null) {
                positions.put(state.name(), state.position());
            }
        }
        return new Moment(
                sample.at(),
                sample.position(),
                sample.backlog(),
                percentile(sample.delays(), 0.5),
                percentile(sample.delays(), 0.99),
                positions);
    }

    private static @Nullable Duration percentile(List<Duration> sorted, double share) {
        return sorted.isEmpty()
                ? null
                : sorted.get((int) Math.min(sorted.size() - 1, Math.floor(share * sorted.size())));
    }
}
