package io.postroom.server.overview;

import java.util.List;

/**
 * What is amiss besides deliveries.
 *
 * @param failedJobs that nobody has redriven or discarded, counted up to {@link #COUNT_MAX}
 * @param unserved queues with jobs that nobody claims, some of them
 * @param failingViews materialized views whose last refresh failed, some of them
 */
public record Work(long failedJobs, List<String> unserved, List<String> failingViews) {
    static final int COUNT_MAX = 10_000;
    static final int NAMES_MAX = 5;
    static final Work FINE = new Work(0, List.of(), List.of());

    public Work {
        unserved = List.copyOf(unserved);
        failingViews = List.copyOf(failingViews);
    }
}
