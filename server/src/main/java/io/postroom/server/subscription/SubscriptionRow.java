package io.postroom.server.subscription;

import io.postroom.journal.Filter;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A subscription as it stands; null for a part of the filter means all. */
public record SubscriptionRow(
        String name,
        int lanes,
        String order,
        @Nullable List<String> aggregateTypes,
        @Nullable List<String> eventTypes,
        @Nullable List<String> tenants,
        Instant createdAt,
        long position,
        long lagMessages,
        Duration lag,
        int lanesLeased) {

    /** Which messages it wants. */
    public Filter filter() {
        return new Filter(set(aggregateTypes), set(eventTypes), set(tenants));
    }

    private static Set<String> set(@Nullable List<String> values) {
        return values == null ? Set.of() : Set.copyOf(values);
    }
}
