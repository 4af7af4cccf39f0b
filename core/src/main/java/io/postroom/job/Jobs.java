package io.postroom.job;

import io.postroom.postgres.Database;
import io.postroom.postgres.DatabaseException;
import io.postroom.postgres.JoinedTransaction;
import io.postroom.telemetry.Telemetry;
import io.postroom.telemetry.TraceContext;
import java.sql.Connection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Enqueues jobs inside the caller's transaction: a job will run if and only if that transaction commits.
 *
 * <p>Enqueuing only inserts on the given connection; it never commits, rolls back, closes or changes it, and sends no notification. A
 * process that dies before the commit leaves nothing, one that dies after it leaves a job that will run. Safe for use by many threads,
 * each with its own connection.
 */
public final class Jobs {
    /** How many jobs one {@link #enqueueAll} takes. */
    public static final int BATCH_MAX = 10_000;

    /** How many characters the payloads of one {@link #enqueueAll} have together. */
    public static final long BATCH_CHARACTERS_MAX = 67_108_864;

    private static final JoinedTransaction TRANSACTION = new JoinedTransaction("job", "enqueue");

    private final Database database;
    private final Telemetry telemetry;
    private final JobTable table;
    private final List<Runnable> listeners = new CopyOnWriteArrayList<>();

    public Jobs(Database database, Telemetry telemetry) {
        this.database = database;
        this.telemetry = telemetry;
        this.table = new JobTable(database.schema());
    }

    /** Enqueues one job and returns its id. */
    public long enqueue(Connection tx, Job job) {
        Objects.requireNonNull(job, "job is null");
        TRANSACTION.require(tx);
        JobRules.check(job);
        long id;
        try {
            id = table.insert(tx, traced(job, TraceContext.headers()));
        } catch (DatabaseException e) {
            throw TRANSACTION.explained(e);
        }
        enqueued(job.queue(), 1);
        return id;
    }

    /** Enqueues a batch with one statement and returns the ids in the same order. Either all of it or nothing is inserted. */
    public List<Long> enqueueAll(Connection tx, List<Job> jobs) {
        Objects.requireNonNull(jobs, "jobs is null");
        TRANSACTION.require(tx);
        checkBatch(jobs);
        if (jobs.isEmpty()) {
            return List.of();
        }
        Map<String, String> trace = TraceContext.headers();
        List<Long> ids;
        try {
            ids = table.insertBatch(
                    tx, jobs.stream().map(job -> traced(job, trace)).toList());
        } catch (DatabaseException e) {
            throw TRANSACTION.explained(e);
        }
        Map<String, Integer> queues = new HashMap<>();
        jobs.forEach(job -> queues.merge(job.queue(), 1, Integer::sum));
        queues.forEach(this::enqueued);
        return ids;
    }

    /** Begins a group of threads that work on queues of this database. */
    public Workers.Builder workers() {
        return new Workers.Builder(database, telemetry, this);
    }

    /** Says that something was committed just now in this process: its workers look at once instead of at their next poll. */
    public void nudge() {
        listeners.forEach(Runnable::run);
    }

    /** Runs the listener after each insert in this process, until the returned action is run. */
    Runnable onNudge(Runnable listener) {
        listeners.add(listener);
        return () -> listeners.remove(listener);
    }

    private void enqueued(String queue, int jobs) {
        telemetry.enqueued(queue, jobs);
        nudge();
    }

    private static void checkBatch(List<Job> jobs) {
        if (jobs.size() > BATCH_MAX) {
            throw batchTooLarge("there are " + jobs.size() + ", the limit is " + BATCH_MAX + " for one call");
        }
        long characters = 0;
        for (int i = 0; i < jobs.size(); i++) {
            Job job = Objects.requireNonNull(jobs.get(i), "job " + i + " of the batch is null");
            JobRules.check(job);
            characters += job.payload().length();
        }
        if (characters > BATCH_CHARACTERS_MAX) {
            throw batchTooLarge("their payloads have " + characters + " characters, the limit is "
                    + BATCH_CHARACTERS_MAX + " for one call");
        }
    }

    private static InvalidJobException batchTooLarge(String fact) {
        return new InvalidJobException(
                "job.batch-too-large",
                "could not enqueue jobs: " + fact + "; enqueue the rest with another call in the same transaction");
    }

    /** Checked before: the limits are the caller's, and a trace never makes a job fail. */
    private static Job traced(Job job, Map<String, String> trace) {
        if (trace.isEmpty()
                || job.headers().containsKey("traceparent")
                || job.headers().containsKey("tracestate")) {
            return job;
        }
        Map<String, String> headers = new HashMap<>(job.headers());
        headers.putAll(trace);
        return new Job(
                job.kind(),
                job.queue(),
                job.priority(),
                job.tenantId(),
                job.payload(),
                headers,
                job.runAt(),
                job.runAfter(),
                job.retry(),
                job.deadline());
    }
}
