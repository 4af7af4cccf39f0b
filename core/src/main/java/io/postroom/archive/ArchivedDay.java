package io.postroom.archive;

import java.time.Instant;
import java.time.LocalDate;
import org.jspecify.annotations.Nullable;

/**
 * A day of the archive.
 *
 * @param firstPosition the first of the positions that were given out on it; null if none was
 * @param passedAt whoever has passed this position needs nothing of it
 * @param bytes what it takes on disk, with its indexes
 * @param droppedAt when it was dropped; null: it is there
 */
public record ArchivedDay(
        LocalDate day,
        @Nullable Long firstPosition,
        @Nullable Long lastPosition,
        long passedAt,
        long bytes,
        Instant archivedAt,
        @Nullable Instant droppedAt) {

    /** How many messages got their position on it. */
    public long messages() {
        return firstPosition == null || lastPosition == null ? 0 : lastPosition - firstPosition + 1;
    }

    public boolean isDropped() {
        return droppedAt != null;
    }
}
