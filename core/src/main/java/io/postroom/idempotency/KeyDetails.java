package io.postroom.idempotency;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A key as operators see it; nothing of the answer but its status.
 *
 * @param hash of the request, as hexadecimal digits
 * @param leased whether somebody who is alive goes on with its steps
 * @param steps how many of its steps are done
 * @param step the last of them
 */
public record KeyDetails(
        IdempotencyKey key,
        String hash,
        KeyState state,
        @Nullable Integer status,
        Instant createdAt,
        @Nullable Instant completedAt,
        Instant expiresAt,
        @Nullable Instant leasedUntil,
        boolean leased,
        long fence,
        int steps,
        @Nullable String step) {}
