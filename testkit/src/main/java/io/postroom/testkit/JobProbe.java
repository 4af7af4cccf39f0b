package io.postroom.testkit;

import io.postroom.Postroom;
import io.postroom.job.JobBoard;
import io.postroom.job.JobDetails;
import io.postroom.job.JobFilter;
import io.postroom.job.JobQueue;
import io.postroom.job.Kind;
import io.postroom.job.Workers;
import io.postroom.postgres.Sql;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Jobs as a test sees them: what was enqueued, what happens when it runs, what happens later. Nothing runs by itself, and nobody waits:
 * time is moved.
 *
 * <p>For a database that belongs to the test.
 */
public final class JobProbe {
    private final Postroom postroom;
    private final JobBoard board;
    private final List<Sql> moves;

    public JobProbe(Postroom postroom) {
        this.postroom = postroom;
        this.board = postroom.jobBoard();
        this.moves = List.of(
                postroom.database().schema().sql(JobProbe.class, "move_jobs.sql"),
                postroom.database().schema().sql(JobProbe.class, "move_ends.sql"),
                postroom.database().schema().sql(JobProbe.class, "move_rates.sql"),
                postroom.database().schema().sql(JobProbe.class, "move_schedules.sql"));
    }

    /** The jobs of a kind that were enqueued and have not ended, the oldest first. */
    public List<JobDetails> enqueued(String kind) {
        return board.list(new JobFilter(null, kind, null, null, null), null, JobBoard.PAGE_MAX).stream()
                .filter(job -> !job.state().isEnd())
                .sorted((a, b) -> Long.compare(a.id(), b.id()))
                .toList();
    }

    /** The one job of a kind that was enqueued; fails if there is none, or more than one. */
    public JobDetails assertEnqueued(String kind) {
        List<JobDetails> found = enqueued(kind);
        if (found.size() != 1) {
            throw new AssertionError("expected one job of kind " + kind + ", there are " + found.size()
                    + "; of all kinds there are " + all());
        }
        return found.get(0);
    }

    /** Fails if a job of the kind was enqueued and has not ended. */
    public void assertNotEnqueued(String kind) {
        List<JobDetails> found = enqueued(kind);
        if (!found.isEmpty()) {
            throw new AssertionError("expected no job of kind " + kind + ", there are " + found.size() + ": " + found);
        }
    }

    /** Fires schedules that are due, and runs every job that is due, of all queues, on this thread; returns how many attempts were made. */
    public int runDue(Kind... kinds) {
        postroom.schedules().runOnce();
        Workers.Builder builder = postroom.jobs().workers().name("probe");
        List<JobQueue> queues = board.queues();
        if (queues.isEmpty()) {
            return 0;
        }
        queues.forEach(queue -> builder.queue(queue.name(), 1));
        List.of(kinds).forEach(builder::handle);
        try (Workers workers = builder.build()) {
            return workers.runDue();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted", e);
        }
    }

    /** Lets so much time pass for jobs, limits and schedules: what is due by then is due now. */
    public void moveTime(Duration by) {
        postroom.database().transact(tx -> {
            moves.forEach(move -> move.on(tx).set("by", by).update());
            return true;
        });
    }

    private String all() {
        return board.list(JobFilter.ALL, null, JobBoard.PAGE_MAX).stream()
                .map(JobDetails::toString)
                .collect(Collectors.joining(", ", "[", "]"));
    }
}
