package io.postroom.server.subscription;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
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
        int lanesLeased) {}
