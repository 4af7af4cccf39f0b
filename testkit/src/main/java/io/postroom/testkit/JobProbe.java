package io.postroom.testkit;

import io.postroom.Postroom;
import io.postroom.job.JobBoard;
import io.postroom.job.JobDetails;
import io.postroom.job.JobFilter;
import io.postroom.job.JobQueue;
import io.postroom.job.JobState;
import io.postroom.job.Kind;
import io.postroom.job.Workers;
import io.postroom.postgres.Sql;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Jobs as a test sees them: what was enqueued, what happens when it runs, what happens later. Nothing runs by itself, and nobody waits:
 * time is moved.
 *
 * <p>For a database that belongs to the test, and one of these for it: it knows by how much time was moved. For one thread.
 */
public final class JobProbe {
    /** How many times of schedules one {@link #runDue} fires. */
    public static final int TIMES_MAX = 1_000;

    private final Postroom postroom;
    private final JobBoard board;
    private final List<Sql> moves;
    /** Schedules know times of the calendar, which cannot be moved: they are fired as of so much later. */
    private Duration moved = Duration.ZERO;

    public JobProbe(Postroom postroom) {
        this.postroom = postroom;
        this.board = postroom.jobBoard();
        this.moves = List.of(
                postroom.database().schema().sql(JobProbe.class, "move_jobs.sql"),
                postroom.database().schema().sql(JobProbe.class, "move_ends.sql"),
                postroom.database().schema().sql(JobProbe.class, "move_rates.sql"));
    }

    /** The jobs of a kind that were enqueued and have not ended, the oldest first. */
    public List<JobDetails> enqueued(String kind) {
        // By state: many that have ended must not hide those that have not.
        return Stream.of(JobState.READY, JobState.RUNNING)
                .flatMap(state ->
                        board.list(new JobFilter(null, kind, state, null, null), null, JobBoard.PAGE_MAX).stream())
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

    /**
     * Fires schedules that are due, one time after the other as if somebody had looked all the while, and runs every job of these kinds
     * that is due, of all queues, on this thread; returns how many attempts were made. Jobs of other kinds stay as they are,
     * but for a key that was unique while they were ready: they are claimed for a moment, which frees it.
     */
    public int runDue(Kind... kinds) {
        int ran = runJobs(kinds);
        for (int times = 0; postroom.schedules().runNext(moved).isPresent(); times++) {
            if (times == TIMES_MAX) {
                throw new AssertionError("more than " + TIMES_MAX + " times of schedules are due; move time by less");
            }
            ran += runJobs(kinds);
        }
        return ran;
    }

    private int runJobs(Kind... kinds) {
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
        moved = moved.plus(by);
    }

    private String all() {
        return board.list(JobFilter.ALL, null, JobBoard.PAGE_MAX).stream()
                .map(JobDetails::toString)
                .collect(Collectors.joining(", ", "[", "]"));
    }
}
