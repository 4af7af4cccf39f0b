package io.postroom.externalcall;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A call as it is stored.
 *
 * @param id its number, for pages
 * @param requestHash SHA-256 of what is asked for, in hexadecimal digits
 * @param fence who may write; grows with every attempt
 * @param attempts how often the provider may have been called
 * @param calledAt when the last attempt began
 * @param leasedUntil until when nobody else calls; null unless it is calling
 * @param windowUntil until when the provider knows the key
 * @param reference what the provider calls it
 * @param reason why it was declined or parked, or what went wrong last
 */
public record ExternalCall(
        long id,
        ExternalOperation operation,
        CallState state,
        String requestHash,
        long fence,
        int attempts,
        Instant createdAt,
        Instant calledAt,
        @Nullable Instant leasedUntil,
        Instant windowUntil,
        @Nullable Instant endedAt,
        @Nullable String reference,
        @Nullable String reason) {
    /** What the provider gets, the same at every attempt. */
    public String key() {
        return operation.key();
    }
}
