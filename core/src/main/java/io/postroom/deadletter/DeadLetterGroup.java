package io.postroom.deadletter;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Open dead letters that have something in common. What they were not grouped by is null, and so is the tenant of messages without.
 *
 * @param ofJobs whether the owner is a queue
 * @param letters how many
 * @param keys of how many keys
 * @param tenants of how many tenants
 * @param sampleId the newest of them
 * @param sampleError its error
 */
public record DeadLetterGroup(
        @Nullable String owner,
        boolean ofJobs,
        @Nullable String eventType,
        @Nullable String errorClass,
        @Nullable String fingerprint,
        @Nullable Cause cause,
        @Nullable String tenantId,
        @Nullable String aggregateType,
        @Nullable String aggregateId,
        long letters,
        Instant firstBuriedAt,
        Instant lastBuriedAt,
        long keys,
        long tenants,
        long sampleId,
        String sampleError) {}
