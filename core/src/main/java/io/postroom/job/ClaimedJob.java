package io.postroom.job;

import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A job that a worker has claimed: what its handler needs, and the fence with which the claim may end.
 *
 * @param attempt the number of this attempt; it is counted already
 * @param exact whether the attempt must be noted before it begins
 * @param limit of whose key another job may have its turn when this one ends; null: none
 * @param batch of which it may be the last; null: none
 * @param waited from when it was due to its claim, by the database's clock
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
        @Nullable LimitKey limit,
        @Nullable Long batch,
        Duration waited,
        long claimedNanos) {
    private static final int LIGHT_SIZE = 500;

    /**
     * The last claim of each job, by its id. One that was taken away from this process and claimed again by it is here twice: the claims
     * before the last one are surely lost.
     */
    static Map<Long, ClaimedJob> newest(Collection<ClaimedJob> jobs) {
        Map<Long, ClaimedJob> newest = new HashMap<>();
        jobs.forEach(job -> newest.merge(job.id(), job, (a, b) -> a.fence() < b.fence() ? b : a));
        return newest;
    }

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
                        limit,
                        batch,
                        waited,
                        claimedNanos);
    }

    @Override
    public String toString() {
        return "job " + id + " (" + kind + ")";
    }
}
