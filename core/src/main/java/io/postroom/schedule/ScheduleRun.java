package io.postroom.schedule;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A time that a schedule has fired for.
 *
 * @param fireAt when it was to be
 * @param jobId the job; of a time that was skipped, the one that had not ended
 * @param at when it was
 */
public record ScheduleRun(Instant fireAt, @Nullable Long jobId, boolean skipped, Instant at) {}
