package io.postroom.advice;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What was measured.
 *
 * @param window how long the rates are averages of
 * @param messagesPerSecond stamped in the window, on average
 * @param peakPerSecond in the busiest minute of it
 * @param payloadBytes of a message with its headers, on average of the last ones; 0 if there is none
 * @param consumers subscriptions that flow, and readers by position
 * @param relays that are alive
 * @param delay99 from stamp to settlement, of 99 in 100 of the last minutes; null if nothing was settled
 * @param walBytesPerSecond of the whole server, since its statistics were reset
 * @param subscriptions those that relays serve
 */
public record Figures(
        Duration window,
        double messagesPerSecond,
        double peakPerSecond,
        long payloadBytes,
        int consumers,
        int relays,
        @Nullable Duration delay99,
        double walBytesPerSecond,
        Storage storage,
        List<Flow> subscriptions) {
    public Figures {
        subscriptions = List.copyOf(subscriptions);
    }

    /**
     * What is kept.
     *
     * @param days how many days the outbox has rows of
     * @param bytes of outbox and journal with their indexes
     * @param largestDayRows about how many messages the busiest day has
     */
    public record Storage(int days, long bytes, long largestDayRows, long largestDayBytes) {}

    /**
     * A subscription.
     *
     * @param isUnavailable whether a live relay finds that its destination takes nothing
     * @param outPerSecond positions its slowest lane passed, on average of the last minute until now; 0 if nothing was settled
     */
    public record Flow(
            String name,
            int lanes,
            int lanesLeased,
            Duration lag,
            long lagMessages,
            boolean isUnavailable,
            double outPerSecond) {}
}
