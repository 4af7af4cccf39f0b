package io.postroom.source;

import java.time.Duration;
import java.util.List;

/**
 * What a move of a subscription would find.
 *
 * @param position of its slowest lane
 * @param feedPosition of the feed's slowest lane: everything up to there is with the broker, but for what waits among its deliveries
 * @param deliveries what waits in the subscription
 * @param letters its open dead letters
 * @param overlap how long ago the oldest message that both sides may bring has taken effect at the earliest
 * @param obstacles what speaks against it, each a sentence with what to do; none: it can be moved
 */
public record Outlook(
        ServedBy servedBy,
        long position,
        long feedPosition,
        long deliveries,
        long letters,
        Duration overlap,
        List<String> obstacles) {
    public Outlook {
        obstacles = List.copyOf(obstacles);
    }
}
