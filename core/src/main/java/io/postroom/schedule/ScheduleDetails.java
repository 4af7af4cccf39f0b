package io.postroom.schedule;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A schedule as it stands.
 *
 * @param nextAt when it fires next; null while the job before a delay has not ended
 * @param lastAt the last time that it fired for
 * @param lastJob the job that was enqueued then
 * @param pausedAt since when it fires no more; null: it does
 * @param missedAt the first of the last times that nobody saw; null if that is not known of any
 * @param missedTimes how many they were, counted up to 10,000
 */
public record ScheduleDetails(
        Schedule schedule,
        @Nullable Instant nextAt,
        @Nullable Instant lastAt,
        @Nullable Long lastJob,
        @Nullable Instant pausedAt,
        @Nullable String pausedBy,
        @Nullable String pauseReason,
        @Nullable Instant missedAt,
        long missedTimes) {}
