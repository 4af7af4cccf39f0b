package io.postroom.deadletter;

import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * What a redrive would do, before anybody does it.
 *
 * @param letters how many open dead letters the filter means
 * @param keys of how many keys
 * @param tenants of how many tenants
 */
public record RedrivePlan(
        long letters,
        long keys,
        long tenants,
        @Nullable Instant firstBuriedAt,
        @Nullable Instant lastBuriedAt,
        OrderConflicts conflicts) {

    /** How long it takes at so many a second. */
    public Duration at(double rate) {
        return Duration.ofMillis(Math.round(letters * 1000.0 / rate));
    }
}
