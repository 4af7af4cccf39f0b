package io.postroom.server.job;

import io.postroom.job.JobState;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A job in a list: without payload, headers, progress and result, which may be megabytes each.
 *
 * @param worker who has it; of one that has ended, who said so: a worker or an operator
 */
public record JobRow(
        long id,
        String queue,
        String kind,
        JobState state,
        @Nullable String waits,
        int priority,
        int attempt,
        Instant runAt,
        @Nullable String worker,
        @Nullable Instant endedAt,
        @Nullable String error) {}
