package io.postroom.server.overview;

import io.postroom.subscription.SubscriptionState;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What is remembered of a sample for an hour: figures, because the samples themselves would take the heap of the relay.
 *
 * @param walBytes {@link #UNKNOWN} of a moment before the process began
 * @param lag null if it is not known
 * @param positions of the subscriptions that were meant to flow, by name
 */
record Moment(
        Instant at,
        long position,
        long walBytes,
        long backlog,
        @Nullable Duration lag,
        Delay.@Nullable Percentiles commitToDelivery,
        Map<String, Long> positions) {

    static final long UNKNOWN = -1;

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
                sample.footing().walBytes(),
                sample.backlog(),
                sample.lag(),
                sample.commitToDelivery(),
                positions);
    }
}
