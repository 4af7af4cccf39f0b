package io.postroom.diagnosis;

import java.time.Instant;
import java.time.LocalDate;
import org.jspecify.annotations.Nullable;

/**
 * A message that was found, without its payload.
 *
 * @param key whom it is about
 * @param day the day of its outbox row; null if only a dead letter is left of it
 * @param position its place in the journal; null if it has not been stamped, or could not be found there
 * @param stampedAt when it got its position, to the second if that is long ago; null if unknown
 * @param availableAt when it may be delivered; null: at once
 * @param copies how many messages with this id were found; all is said about the newest
 */
public record Found(
        Key key,
        String eventType,
        int eventVersion,
        Instant occurredAt,
        @Nullable Instant availableAt,
        @Nullable LocalDate day,
        @Nullable Long position,
        @Nullable Integer keyHash,
        @Nullable Instant stampedAt,
        int copies) {

    /** What keeps its messages in order. */
    public record Key(@Nullable String tenantId, String aggregateType, String aggregateId) {}
}
