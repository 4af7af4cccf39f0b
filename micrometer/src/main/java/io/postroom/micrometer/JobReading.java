package io.postroom.micrometer;

import io.postroom.Postroom;
import io.postroom.job.JobQueue;
import java.util.List;

/**
 * Queues of jobs. Every one is counted up to a limit and no further.
 *
 * <p>While somebody holds an old snapshot even that may take long, because jobs that have ended lie before the others. Then queues are
 * counted seldom, with the same figures in between; if it takes too long they have none for as long.
 */
final class JobReading implements Reading {
    /** So that counting takes a twentieth of the time at most; what costs less than this does so anyway. */
    private static final int TIMES = 20;

    private static final long CHEAP_NANOS =
            DatabaseSampler.EVERY.dividedBy(TIMES).toNanos();

    private static final Figure JOBS =
            Figure.count("postroom.jobs.available", "Jobs that can be claimed, counted up to 10000 for each queue.");
    private static final Figure JOBS_WAITING = Figure.count(
            "postroom.jobs.waiting", "Jobs that wait for their time, their turn or other jobs, up to 10000 of each.");
    private static final Figure JOBS_RUNNING = Figure.count("postroom.jobs.running", "Jobs that a worker has.");
    private static final Figure WORKERS = Figure.count("postroom.jobs.workers", "Live processes that work on a queue.");
    private static final Figure QUEUE_PAUSED =
            Figure.flag("postroom.jobs.paused", "1 while an operator has paused the queue.");

    private List<JobQueue> queues = List.of();
    private long notBeforeNanos = System.nanoTime();

    @Override
    public void read(Postroom postroom, Figures figures) {
        long began = System.nanoTime();
        if (began - notBeforeNanos >= 0) {
            // Nothing is known of them if it fails.
            queues = List.of();
            try {
                queues = postroom.jobBoard().queues();
            } finally {
                long now = System.nanoTime();
                notBeforeNanos = now - began < CHEAP_NANOS ? now : now + (now - began) * TIMES;
            }
        }
        for (JobQueue queue : queues) {
            String[] tags = {"queue", queue.name()};
            figures.put(JOBS, queue.ready(), tags);
            figures.put(JOBS_WAITING, queue.waiting(), tags);
            figures.put(JOBS_RUNNING, queue.running(), tags);
            figures.put(WORKERS, queue.workers(), tags);
            figures.put(QUEUE_PAUSED, queue.pausedAt() == null ? 0 : 1, tags);
        }
    }
}
