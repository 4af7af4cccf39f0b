package io.postroom.job;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A queue as it stands. Jobs are counted up to {@link JobBoard#COUNT_MAX}; those that wait, in all queues together.
 *
 * @param ready how many jobs can be claimed
 * @param waiting how many wait for their time, their turn or other jobs
 * @param workers how many processes work on it
 * @param pausedAt since when nothing of it is claimed; null: it is not paused
 */
public record JobQueue(
        String name,
        long ready,
        long waiting,
        long running,
        long workers,
        @Nullable Instant pausedAt,
        @Nullable String pausedBy,
        @Nullable String pauseReason) {}
