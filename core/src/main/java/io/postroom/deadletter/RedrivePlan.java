package io.postroom.deadletter;

import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * What a redrive would do, before anybody does it.
 *
 * @param idMax the newest of them; what is buried later is not meant
 * @param letters how many open dead letters the filter means
 * @param exact whether there are no more; if not, {@code letters} is a limit, and keys, tenants and times are those of the newest
 * @param keys of how many keys
 * @param tenants of how many tenants
 */
public record RedrivePlan(
        long idMax,
        long letters,
        boolean exact,
        long keys,
        long tenants,
        @Nullable Instant firstBuriedAt,
        @Nullable Instant lastBuriedAt,
        OrderConflicts conflicts) {

    RedrivePlan with(OrderConflicts found) {
        return new RedrivePlan(idMax, letters, exact, keys, tenants, firstBuriedAt, lastBuriedAt, found);
    }

    /** How long it takes at so many a second. */
    public Duration at(double rate) {
        return Duration.ofMillis(Math.round(letters * 1000.0 / rate));
    }
}
