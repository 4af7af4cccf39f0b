package io.postroom.job;

import io.postroom.PostroomException;
import io.postroom.audit.Audit;
import io.postroom.deadletter.DeadLetterFilter;
import io.postroom.deadletter.DeadLetters;
import io.postroom.deadletter.Redrive;
import io.postroom.deadletter.RedriveAction;
import io.postroom.deadletter.RedriveRequest;
import io.postroom.deadletter.Redrives;
import io.postroom.postgres.Database;
import io.postroom.postgres.JoinedTransaction;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Jobs and queues as operators see and change them. Every act is audited in its own transaction: both are there, or neither.
 *
 * <p>Safe for use by many threads.
 */
public final class JobBoard {
    public static final int ATTEMPTS_MAX = 1_000;
    public static final int PAGE_MAX = 1_000;

    /** So many ids of ended jobs one statement of a list looks through, and more if there is little that fits. */
    private static final long WINDOW = 20_000;

    private static final long WINDOW_MAX = 1_000_000;

    /** Jobs of a queue are counted no further. */
    public static final int COUNT_MAX = 10_000;

    private static final JoinedTransaction TRANSACTION = new JoinedTransaction("job", "cancel");

    private final Database database;
    private final Audit audit;
    private final BoardTable table;
    private final SettleTable settling;
    private final Redrives redrives;

    public JobBoard(Database database, Audit audit, DeadLetters letters) {
        this.redrives = letters.redrives();
        this.database = database;
        this.audit = audit;
        this.table = new BoardTable(database.schema());
        this.settling = new SettleTable(database.schema());
    }

    /** A job as it stands, or as it ended last; empty if there is none, or if what was known of it has been forgotten. */
    public Optional<JobDetails> find(long id) {
        return database.run(tx -> table.find(tx, id));
    }

    /** The attempts at a job that did not end with it done, the first one first. */
    public List<JobAttempt> attempts(long id) {
        return database.run(tx -> table.attempts(tx, id, ATTEMPTS_MAX));
    }

    /**
     * Jobs that fit, the newest first; {@code before} is the last of the page before. A job that was redriven has ended more than once:
     * the last one of a page is there with all its ends, even if these are more than {@code limit}.
     */
    public List<JobDetails> list(JobFilter filter, @Nullable Long before, int limit) {
        if (limit < 1 || limit > PAGE_MAX) {
            throw new IllegalArgumentException("limit is " + limit + ", the range is 1 to " + PAGE_MAX);
        }
        BoardTable.Span ended = database.run(table::span);
        List<JobDetails> found = new ArrayList<>();
        long below = before == null ? Long.MAX_VALUE : before;
        long window = WINDOW;
        // There is no index on what people look for: many statements that each end soon, instead of one that is cut
        // off.
        while (found.size() <= limit && below > 0) {
            long until = below;
            long lowest = Math.min(until, ended.newest()) - window;
            // Beyond the oldest that has ended there are few.
            long from = until <= ended.oldest() ? 0 : Math.max(lowest, ended.oldest());
            int missing = limit + 1 - found.size();
            found.addAll(database.run(tx -> table.list(tx, filter, from, until, missing)));
            below = from;
            window = Math.min(2 * window, WINDOW_MAX);
        }
        return found.size() <= limit ? found : page(filter, found, limit);
    }

    /** So many of them; a page goes on below an id, so that none ends inside one. */
    private List<JobDetails> page(JobFilter filter, List<JobDetails> found, int limit) {
        List<JobDetails> page = new ArrayList<>(found.subList(0, limit));
        long last = page.get(limit - 1).id();
        if (found.get(limit).id() == last) {
            page.removeIf(job -> job.id() == last);
            page.addAll(database.run(tx -> table.list(tx, filter, last, last + 1, PAGE_MAX)));
        }
        return page;
    }

    /** Queues that have jobs, have workers or are paused. Their jobs are counted up to {@link #COUNT_MAX}. */
    public List<JobQueue> queues() {
        return database.run(table::queues);
    }

    /** Lets a job run now that failed, or that waits for its time. One that failed is redriven from its dead letter. */
    public Retried retry(long id, String actor, String reason) {
        check("retry job " + id, actor, reason);
        Optional<Boolean> hurried = database.transact(tx -> {
            settling.boundTransaction(tx, SettleTable.FROZEN);
            Optional<Boolean> running = table.lockJob(tx, id);
            boolean changed = running.isPresent() && table.hurry(tx, id);
            if (changed) {
                audit.record(tx, actor, "job retry", "job " + id, reason, Map.of());
            }
            return running.map(ignored -> changed);
        });
        if (hurried.isPresent()) {
            return hurried.get() ? Retried.HURRIED : Retried.UNDER_WAY;
        }
        JobDetails ended = find(id).orElseThrow(() -> unknown("retry", id));
        Optional<Long> letter = database.run(tx -> table.findLetter(tx, id));
        if (letter.isEmpty()) {
            return ended.state().isEnd() ? Retried.ENDED : Retried.UNDER_WAY;
        }
        RedriveRequest request = new RedriveRequest(
                UUID.randomUUID(),
                RedriveAction.REDRIVE,
                DeadLetterFilter.ofIds(letter.get()),
                null,
                null,
                null,
                actor,
                reason);
        redrives.request(request);
        return redriven(id, request.id());
    }

    private Retried redriven(long id, UUID redrive) {
        try {
            Redrive done = redrives.run(redrive, progress -> {});
            if (done.done() == 1) {
                return Retried.REDRIVEN;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        throw new PostroomException(
                "job.not-redriven",
                "could not retry job " + id + ": redrive " + redrive
                        + " has left its dead letter out; another job may have its unique key, postroom deadletter show says more");
    }

    private static PostroomException unknown(String verb, long id) {
        return new PostroomException(
                "job.unknown",
                "could not " + verb + " job " + id + ": there is none with this id, or it was forgotten; check the id");
    }

    /** Cancels a job: at once if it has not begun; if it runs, its handler is told. */
    public Cancellation cancel(long id, String actor, String reason) {
        check("cancel job " + id, actor, reason);
        return database.transact(tx -> {
            settling.boundTransaction(tx, SettleTable.FROZEN);
            Cancellation came = cancel(tx, id, actor);
            if (came != Cancellation.TOO_LATE) {
                audit.record(tx, actor, "job cancel", "job " + id, reason, Map.of("cancellation", came.name()));
            }
            return came;
        });
    }

    /** The same in a transaction of the application's own, which is not audited; {@code by} is noted as who ended the job. */
    public Cancellation cancel(Connection tx, long id, String by) {
        TRANSACTION.require(tx);
        Optional<Boolean> running = table.lockJob(tx, id);
        if (running.isEmpty()) {
            if (table.find(tx, id).isEmpty()) {
                throw unknown("cancel", id);
            }
            return Cancellation.TOO_LATE;
        }
        if (running.get()) {
            table.askCancel(tx, id);
            return Cancellation.ASKED;
        }
        Settler settler = new Settler(settling, by);
        settler.apply(tx, List.of(new Settler.Settled(id, new Verdict.Cancelled(true, null), null, by)));
        return Cancellation.CANCELLED;
    }

    /** Lets nothing more of a queue be claimed. What runs goes on. Returns whether it was not paused before. */
    public boolean pause(String queue, String actor, String reason) {
        checkQueue("pause", queue);
        check("pause queue " + queue, actor, reason);
        return database.transact(tx -> {
            boolean paused = table.pause(tx, queue, actor, reason);
            if (paused) {
                audit.record(tx, actor, "queue pause", "queue " + queue, reason, Map.of());
            }
            return paused;
        });
    }

    /** Lets a paused queue go on. Returns whether it was paused. */
    public boolean resume(String queue, String actor, String reason) {
        checkQueue("resume", queue);
        check("resume queue " + queue, actor, reason);
        return database.transact(tx -> {
            boolean resumed = table.resume(tx, queue);
            if (resumed) {
                audit.record(tx, actor, "queue resume", "queue " + queue, reason, Map.of());
            }
            return resumed;
        });
    }

    private static void checkQueue(String verb, String queue) {
        if (!JobRules.isQueue(queue)) {
            throw new PostroomException(
                    "job.queue-invalid",
                    "could not " + verb + " queue " + JobRules.quote(queue)
                            + ": a queue is a lower-case letter and up to 99 letters, digits or _ . -");
        }
    }

    private static void check(String attempt, String actor, String reason) {
        List<String> problems = Audit.problems(actor, reason);
        if (!problems.isEmpty()) {
            throw new PostroomException("job.act-invalid", "could not " + attempt + ": " + String.join("; ", problems));
        }
    }
}
