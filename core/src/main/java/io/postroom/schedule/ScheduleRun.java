package io.postroom.schedule;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A time that a schedule has fired for, or that was left out.
 *
 * @param fireAt when it was to be
 * @param jobId the job; of a time that was skipped, the one that had not ended; null if there is none, because it was missed
 * @param skipped whether it was left out
 * @param missed how many times were left out because nobody saw them, with this one and after it; counted up to 10,000
 * @param at when it was
 */
public record ScheduleRun(Instant fireAt, @Nullable Long jobId, boolean skipped, long missed, Instant at) {}
