package io.postroom.subscription;

import io.postroom.journal.Filter;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A subscription as it stands. Null for a part of the filter means all. {@code position} is its slowest lane's; {@code lagMessages}
 * counts positions from there to the journal's end and messages without a position, or positions to the end of a copy; what did not go
 * through at once is not behind, but put aside.
 *
 * @param lanesWanted a number of lanes that was asked for and not made yet
 * @param unavailableSince since when a live relay finds that its destination takes nothing; null while all flows
 * @param heldKeys how many keys wait because one of their messages was buried, counted up to {@link Subscriptions#COUNT_MAX}
 * @param deadLetters how many dead letters of it are open, counted up to the same
 * @param putAside what its lanes have passed and not delivered
 * @param catchUpTo where its lanes were before their number changed, as long as they are not beyond; null if that is over
 * @param lanesReplaying how many of its lanes replay at the moment
 * @param isDone whether it is a copy that has delivered all it was made for
 * @param servedBy {@code postgres} if relays bring its messages, or the broker from which a source brings them
 */
public record SubscriptionState(
        String name,
        int lanes,
        @Nullable Integer lanesWanted,
        int lanesLeased,
        String order,
        @Nullable List<String> aggregateTypes,
        @Nullable List<String> eventTypes,
        @Nullable List<String> tenants,
        String onBurial,
        String retry,
        Instant createdAt,
        long position,
        long lagMessages,
        Duration lag,
        @Nullable Pause pause,
        @Nullable Instant unavailableSince,
        long heldKeys,
        long deadLetters,
        PutAside putAside,
        @Nullable Long catchUpTo,
        @Nullable String copyOf,
        int lanesReplaying,
        @Nullable Double replayRate,
        boolean isDone,
        String servedBy) {

    /** Which messages it wants. */
    public Filter filter() {
        return new Filter(set(aggregateTypes), set(eventTypes), set(tenants));
    }

    private static Set<String> set(@Nullable List<String> values) {
        return values == null ? Set.of() : Set.copyOf(values);
    }
}
