package io.postroom.job;

import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A job as it stands, or as it ended last. Immutable; {@link #toString} shows no payload.
 *
 * @param waits why a ready job cannot be claimed yet, in a word; null: it can
 * @param runAt when it was, or is, due
 * @param attempt how many attempts were begun, as far as they count
 * @param worker who has it, while it runs
 * @param uniqueKey its unique key, while it has one
 * @param batch the batch it belongs to
 * @param progress what its handler said last, as JSON, while it has not ended
 * @param endedBy the worker or the operator who ended it
 */
public record JobDetails(
        long id,
        String queue,
        String kind,
        JobState state,
        int priority,
        @Nullable String tenantId,
        String payload,
        Map<String, String> headers,
        @Nullable String waits,
        Instant runAt,
        int attempt,
        long fence,
        @Nullable String worker,
        @Nullable Instant claimedAt,
        @Nullable Instant cancelAskedAt,
        @Nullable String uniqueKey,
        @Nullable Long batch,
        @Nullable String progress,
        Instant createdAt,
        @Nullable Instant endedAt,
        @Nullable String endedBy,
        @Nullable String result,
        @Nullable String errorClass,
        @Nullable String error) {

    @Override
    public String toString() {
        return "job " + id + " (" + kind + "), " + state.word();
    }
}
