package io.postroom.job;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A job that a worker has claimed: what its handler needs, and the fence with which the claim may end.
 *
 * @param attempt the number of this attempt; it is counted already
 * @param exact whether the attempt must be noted before it begins
 * @param limited whether another may have its turn when this one ends
 * @param claimedNanos when the claim was asked for, by the worker's own clock of nanoseconds
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
        boolean limited,
        long claimedNanos) {
    private static final int LIGHT_SIZE = 500;

    /** About how much of memory it takes. */
    int size() {
        return payload.length() + (headers == null ? 0 : headers.length());
    }

    /** The same without what only its handler needs, if that is much: what waits to be written must not fill the memory. */
    ClaimedJob light() {
        return size() < LIGHT_SIZE
                ? this
                : new ClaimedJob(
                        id,
                        fence,
                        queue,
                        kind,
                        priority,
                        turn,
                        tenantId,
                        "",
                        null,
                        attempt,
                        exact,
                        retry,
                        attemptsMax,
                        deadline,
                        limited,
                        claimedNanos);
    }

    @Override
    public String toString() {
        return "job " + id + " (" + kind + ")";
    }
}
