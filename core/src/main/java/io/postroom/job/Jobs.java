package io.postroom.job;

import io.postroom.postgres.Database;
import io.postroom.postgres.DatabaseException;
import io.postroom.postgres.JoinedTransaction;
import io.postroom.telemetry.Telemetry;
import io.postroom.telemetry.TraceContext;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;

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

    private static final int BATCH_NAME_LENGTH_MAX = 200;

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

    /** Enqueues one job and returns its id, or that of the job that has its unique key: {@link #offer} says which. */
    public long enqueue(Connection tx, Job job) {
        return offer(tx, job).id();
    }

    /** Enqueues one job unless another has its unique key. */
    public Enqueued offer(Connection tx, Job job) {
        Objects.requireNonNull(job, "job is null");
        TRANSACTION.require(tx);
        JobRules.check(job);
        Enqueued enqueued;
        try {
            enqueued = insert(tx, traced(job, TraceContext.headers()));
        } catch (DatabaseException e) {
            throw TRANSACTION.explained(e);
        }
        if (!enqueued.skipped()) {
            enqueued(job.queue(), 1);
        }
        return enqueued;
    }

    /** Enqueues a batch and returns the ids in the same order. Either all of it or nothing is inserted. */
    public List<Long> enqueueAll(Connection tx, List<Job> jobs) {
        return offerAll(tx, jobs).stream().map(Enqueued::id).toList();
    }

    /** The same, and says which were skipped because another has their unique key. */
    public List<Enqueued> offerAll(Connection tx, List<Job> jobs) {
        Objects.requireNonNull(jobs, "jobs is null");
        TRANSACTION.require(tx);
        checkBatch(jobs);
        if (jobs.isEmpty()) {
            return List.of();
        }
        Map<String, String> trace = TraceContext.headers();
        Enqueued[] all = new Enqueued[jobs.size()];
        try {
            List<Integer> free = new ArrayList<>();
            List<Integer> counted = new ArrayList<>();
            List<Integer> bound = new ArrayList<>();
            for (int i = 0; i < all.length; i++) {
                Job job = jobs.get(i);
                (job.isCounted() ? counted : job.isBound() ? bound : free).add(i);
            }
            insertMany(free, jobs, trace, all, many -> table.insertBatch(tx, many));
            insertMany(counted, jobs, trace, all, many -> insertCounted(tx, many));
            // Everybody waits for keys in the same order, so that nobody waits in a circle.
            bound.sort(Comparator.comparing(i -> uniqueness(jobs.get(i))));
            insertBound(tx, bound, jobs, trace, all);
        } catch (DatabaseException e) {
            throw TRANSACTION.explained(e);
        }
        Map<String, Integer> queues = new HashMap<>();
        for (int i = 0; i < all.length; i++) {
            if (!all[i].skipped()) {
                queues.merge(jobs.get(i).queue(), 1, Integer::sum);
            }
        }
        queues.forEach(this::enqueued);
        return List.of(all);
    }

    private void insertBound(
            Connection tx, List<Integer> which, List<Job> jobs, Map<String, String> trace, Enqueued[] all) {
        if (which.isEmpty()) {
            return;
        }
        List<JobTable.Bound> answers = table.insertBoundBatch(
                tx, which.stream().map(i -> traced(jobs.get(i), trace)).toList());
        for (int i = 0; i < answers.size(); i++) {
            all[which.get(i)] = enqueued(jobs.get(which.get(i)), answers.get(i));
        }
    }

    private static void insertMany(
            List<Integer> which,
            List<Job> jobs,
            Map<String, String> trace,
            Enqueued[] all,
            Function<List<Job>, List<Long>> insert) {
        if (which.isEmpty()) {
            return;
        }
        List<Long> ids =
                insert.apply(which.stream().map(i -> traced(jobs.get(i), trace)).toList());
        for (int i = 0; i < ids.size(); i++) {
            all[which.get(i)] = new Enqueued(ids.get(i), false);
        }
    }

    private List<Long> insertCounted(Connection tx, List<Job> jobs) {
        Set<String> limits = new HashSet<>();
        Set<Long> batches = new HashSet<>();
        for (Job job : jobs) {
            if (job.limit() != null) {
                limits.add(job.limit().name());
            }
            if (job.batch() != null) {
                batches.add(job.batch());
            }
        }
        table.unknownBonds(tx, limits, batches).ifPresent(unknown -> {
            throw JobRules.broken(jobs.get(0), String.valueOf(unknown.code()), String.valueOf(unknown.problem()));
        });
        return table.insertCounted(tx, jobs);
    }

    private Enqueued insert(Connection tx, Job job) {
        if (!job.isBound()) {
            return new Enqueued(table.insert(tx, job), false);
        }
        return enqueued(job, table.insertBound(tx, job));
    }

    private static Enqueued enqueued(Job job, JobTable.Bound bound) {
        if (bound.code() != null) {
            throw JobRules.broken(job, bound.code(), String.valueOf(bound.problem()));
        }
        return bound.enqueued();
    }

    private static String uniqueness(Job job) {
        return job.unique() == null ? "" : job.kind() + '\n' + job.unique().key() + '\n' + job.tenantId();
    }

    /**
     * Begins a batch: jobs that name it belong together, and a job may be enqueued that runs when all of them have ended. That one is
     * enqueued last, in the same transaction or a later one.
     */
    public long batch(Connection tx, String name) {
        TRANSACTION.require(tx);
        if (name.isBlank() || name.length() > BATCH_NAME_LENGTH_MAX) {
            throw new InvalidJobException(
                    "job.batch-name-invalid",
                    "could not begin a batch: its name is " + JobRules.quote(name) + ", it must be 1 to "
                            + BATCH_NAME_LENGTH_MAX + " characters");
        }
        return table.insertGroup(tx, name);
    }

    /** Declares a limit, or changes it, for all jobs that name it. */
    public void declare(Connection tx, Limit limit) {
        TRANSACTION.require(tx);
        table.putLimit(tx, limit);
    }

    /** Throws what {@link #enqueue} would throw because of the job itself. */
    public static void check(Job job) {
        JobRules.check(job);
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
        return job.withHeaders(headers);
    }
}
