package io.postroom.opentelemetry;

import io.opentelemetry.api.trace.Span;
import io.postroom.job.Enqueued;
import io.postroom.job.Job;
import io.postroom.job.Jobs;
import java.sql.Connection;
import java.util.List;
import java.util.Objects;

/**
 * Jobs that are enqueued within a span. They carry its context in {@code traceparent}, unless they bring one. The span ends with the
 * insert; whether the transaction commits is not known then. Safe for use by many threads, each with its own connection.
 */
public final class TracedJobs {
    private final Jobs jobs;
    private final Tracing tracing;

    TracedJobs(Jobs jobs, Tracing tracing) {
        this.jobs = jobs;
        this.tracing = tracing;
    }

    /** Enqueues one job and returns its id; see {@link Jobs#enqueue}. */
    public long enqueue(Connection tx, Job job) {
        return offer(tx, job).id();
    }

    /** Enqueues one job unless another has its unique key; see {@link Jobs#offer}. */
    public Enqueued offer(Connection tx, Job job) {
        Objects.requireNonNull(job, "job is null");
        Span span = tracing.enqueuing(List.of(job));
        return Tracing.within(span, () -> {
            Enqueued enqueued = jobs.offer(tx, job);
            span.setAttribute(Conventions.MESSAGE_ID, Long.toString(enqueued.id()));
            return enqueued;
        });
    }

    /** Enqueues a batch and returns the ids in the same order; see {@link Jobs#enqueueAll}. One span for all of them. */
    public List<Long> enqueueAll(Connection tx, List<Job> batch) {
        return offerAll(tx, batch).stream().map(Enqueued::id).toList();
    }

    /** The same, and says which were skipped; see {@link Jobs#offerAll}. */
    public List<Enqueued> offerAll(Connection tx, List<Job> batch) {
        Objects.requireNonNull(batch, "jobs is null");
        return batch.isEmpty()
                ? jobs.offerAll(tx, batch)
                : Tracing.within(tracing.enqueuing(batch), () -> jobs.offerAll(tx, batch));
    }
}
