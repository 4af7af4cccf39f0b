package io.postroom.subscription;

import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** A key that waits because one of its messages was buried. {@code parked} counts what waits behind it, up to {@link Subscriptions#PARKED_MAX}. */
public record HeldKey(
        long position,
        long deadLetter,
        @Nullable String tenantId,
        String aggregateType,
        String aggregateId,
        UUID messageId,
        String errorClass,
        Instant buriedAt,
        long parked) {}
