package io.postroom.job;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A job that a worker has claimed: what its handler needs, and the fence with which the claim may end.
 *
 * @param attempt the number of this attempt; it is counted already
 * @param exact whether the attempt must be noted before it begins
 * @param claimedNanos when the claim was answered, by the worker's own clock of nanoseconds
 */
record ClaimedJob(
        long id,
        long fence,
        String queue,
        String kind,
        int priority,
        long turn,
        @Nullable String tenantId,
        String payload,
        @Nullable String headers,
        int attempt,
        boolean exact,
        @Nullable String retry,
        @Nullable Integer attemptsMax,
        @Nullable Duration deadline,
        long claimedNanos) {

    @Override
    public String toString() {
        return "job " + id + " (" + kind + ")";
    }
}
