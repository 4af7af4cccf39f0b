package io.postroom.job;

import org.jspecify.annotations.Nullable;

/** Which jobs are meant: those that fit everything that is given. What is null fits all. */
public record JobFilter(
        @Nullable String queue,
        @Nullable String kind,
        @Nullable JobState state,
        @Nullable String tenantId,
        @Nullable Long batch) {
    /** Everything. */
    public static final JobFilter ALL = new JobFilter(null, null, null, null, null);
}
