package io.postroom.deadletter;

import io.postroom.PostroomException;
import io.postroom.audit.Audit;
import io.postroom.postgres.Database;
import io.postroom.postgres.DatabaseException;
import io.postroom.postgres.SqlState;
import java.sql.Connection;
import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Puts dead letters back on their way, or ends them: many at a time, step by step, each step a transaction.
 *
 * <p>What was asked for is kept in the database: a process that dies leaves it to be carried on by any other, and nothing happens
 * twice. Each act is audited when it is asked for, when it is cancelled and when it ends. Safe for use by many threads.
 */
public final class Redrives {
    /** In one step. */
    public static final int LETTERS_MAX = 500;

    /** Of payloads in memory, in one step with a patch. */
    static final long PATCH_BYTES_MAX = 16L * 1_048_576;

    public static final int LIST_MAX = 1_000;

    private static final Logger LOG = LoggerFactory.getLogger(Redrives.class);
    /** How many redrives are carried on side by side by {@link #stepAll}, and how many steps each makes. */
    private static final int SIDE_BY_SIDE_MAX = 100;

    private static final int STEPS_MAX = 10;
    /** How long to leave alone what somebody else is at, or what waits for its canary. */
    private static final Duration LOOK = Duration.ofMillis(250);

    private static final Duration LOOK_MAX = Duration.ofSeconds(2);

    private final Database database;
    private final Audit audit;
    private final RedriveTable table;
    private final Stepper stepper;

    Redrives(Database database, Audit audit, Collection<Redriver> redrivers) {
        this.database = database;
        this.audit = audit;
        this.table = new RedriveTable(database.schema());
        this.stepper = new Stepper(new DeadLetterTable(database.schema()), table, redrivers);
    }

    /**
     * Asks for a redrive or discard; steps then do it. Asking again with the same id returns the first and changes nothing; asking for
     * something else with it is an error.
     */
    public Redrive request(RedriveRequest request) {
        return request(request, (Long) null).redrive();
    }

    /**
     * Asks for what a plan has shown: dead letters that were buried since are not meant, though they fit. Fewer than planned are done
     * if others were resolved meanwhile; the total says how many are meant.
     */
    public Redrive request(RedriveRequest request, RedrivePlan plan) {
        return request(request, (Long) plan.idMax()).redrive();
    }

    /** The same for a plan that may be none, and whether it was asked for now: asking twice is asking once. */
    public RequestedRedrive requestOnce(RedriveRequest request, @Nullable RedrivePlan plan) {
        return request(request, plan == null ? null : (Long) plan.idMax());
    }

    private RequestedRedrive request(RedriveRequest request, @Nullable Long idMax) {
        return database.transact(tx -> {
            boolean isNew = table.request(tx, request, idMax);
            Redrive stored = require(tx, request.id());
            if (!isNew && !stored.request().isSameAs(request)) {
                throw new PostroomException(
                        "redrive.other",
                        "could not request redrive " + request.id() + ": it was requested before as "
                                + stored.request().describe() + ", and now as " + request.describe()
                                + "; choose another id");
            }
            if (isNew) {
                Map<String, Object> details = new LinkedHashMap<>();
                details.put("filter", request.filter().summary());
                details.put("letters", stored.total());
                if (request.patch() != null) {
                    details.put("patchOperations", request.patch().size());
                }
                if (request.rate() != null) {
                    details.put("rate", request.rate());
                }
                if (request.canary() != null) {
                    details.put("canary", request.canary());
                }
                String action = "deadletter " + request.action().word();
                audit.record(tx, request.actor(), action, subject(request.id()), request.reason(), details);
            }
            return new RequestedRedrive(stored, isNew);
        });
    }

    /** A redrive as it stands; throws if there is none. */
    public Redrive get(UUID id) {
        return database.run(tx -> require(tx, id));
    }

    /** Redrives, newest first. */
    public List<Redrive> list(int limit) {
        return list(null, limit);
    }

    /** A page of them; {@code before} is the last one of the page before. */
    public List<Redrive> list(@Nullable UUID before, int limit) {
        if (limit < 1 || limit > LIST_MAX) {
            throw new PostroomException(
                    "redrive.page-invalid",
                    "could not list redrives: the page is " + limit + ", the range is 1 to " + LIST_MAX);
        }
        return database.run(tx -> table.list(tx, before, limit));
    }

    /** How many dead letters were ever redriven, and how many discarded, by any process. */
    public Map<RedriveAction, Long> resolved() {
        return database.run(table::sum);
    }

    /** Does some of what is left, in one transaction, unless somebody else is at it. */
    public RedriveStep step(UUID id) {
        try {
            RedriveStep step = database.transact(tx -> step(tx, id));
            if (step.letters() > 0) {
                database.run(tx -> {
                    stepper.wake(tx);
                    return true;
                });
            }
            return step;
        } catch (DatabaseException e) {
            if (e.sqlState().equals(SqlState.DEADLOCK) || e.sqlState().equals(SqlState.UNIQUE_VIOLATION)) {
                // Somebody locks in another order, such as an operator by hand, or was faster with a unique key of a
                // job. Nothing was
                // done; the next step does it, or sees what is in its way.
                LOG.info("redrive {} had to give way to another transaction and goes on", id);
                return new RedriveStep(get(id), 0, LOOK);
            }
            throw e;
        }
    }

    private RedriveStep step(Connection tx, UUID id) {
        RedriveTable.Locked locked = table.lock(tx, id).orElse(null);
        if (locked == null) {
            return new RedriveStep(require(tx, id), 0, LOOK);
        }
        if (locked.redrive().isEnded()) {
            return new RedriveStep(locked.redrive(), 0, Duration.ZERO);
        }
        int letters = stepper.step(tx, locked);
        Redrive now = require(tx, id);
        if (now.isEnded()) {
            RedriveRequest request = now.request();
            audit.record(tx, request.actor(), "deadletter end", subject(id), request.reason(), counts(now));
        }
        return new RedriveStep(now, letters, pause(now));
    }

    private static Duration pause(Redrive redrive) {
        Double rate = redrive.request().rate();
        if (redrive.isEnded() || rate == null && redrive.state() == RedriveState.RUNNING) {
            return Duration.ZERO;
        }
        Duration each = rate == null ? LOOK : Duration.ofNanos(Math.round(1e9 / rate));
        return each.compareTo(LOOK) < 0 ? LOOK : each.compareTo(LOOK_MAX) > 0 ? LOOK_MAX : each;
    }

    /**
     * Ends a redrive that is not finished. What it has done stays done; the step that is being made is the last.
     *
     * @return how it stands; one that was cancelled before is left as it is
     */
    public Redrive cancel(UUID id, String actor, String reason) {
        List<String> problems = Audit.problems(actor, reason);
        if (!problems.isEmpty()) {
            throw new PostroomException(
                    "redrive.invalid", "could not cancel redrive " + id + ": " + String.join("; ", problems));
        }
        return database.transact(tx -> {
            boolean ended = table.cancel(tx, id, "cancelled by " + actor + ": " + reason);
            Redrive now = require(tx, id);
            if (ended) {
                audit.record(tx, actor, "deadletter cancel", subject(id), reason, counts(now));
            } else if (now.state() != RedriveState.CANCELLED) {
                throw new PostroomException(
                        "redrive.ended",
                        "could not cancel redrive " + id + ": it is "
                                + now.state().word() + " already, with " + now.done() + " of " + now.total()
                                + " dead letters done");
            }
            return now;
        });
    }

    /**
     * Makes one step after the other until the redrive ends, and tells how it stands after each. An interrupt ends it earlier: the
     * redrive stays as it is, and anybody goes on with it.
     */
    public Redrive run(UUID id, Consumer<Redrive> progress) throws InterruptedException {
        while (true) {
            RedriveStep step = step(id);
            progress.accept(step.redrive());
            if (step.redrive().isEnded()) {
                return step.redrive();
            }
            if (Thread.interrupted()) {
                throw new InterruptedException("redrive " + id + " is not finished; run it again to go on");
            }
            TimeUnit.NANOSECONDS.sleep(step.pause().toNanos());
        }
    }

    /**
     * Carries on what others have left unfinished, some steps of each. For a process that is there anyway; to be called again and
     * again.
     *
     * @return how many dead letters were looked at
     */
    public int stepAll() {
        int letters = 0;
        for (UUID id : database.run(tx -> table.findUnfinished(tx, SIDE_BY_SIDE_MAX))) {
            try {
                for (int steps = 0; steps < STEPS_MAX; steps++) {
                    RedriveStep step = step(id);
                    letters += step.letters();
                    if (step.redrive().isEnded() || !step.pause().isZero()) {
                        break;
                    }
                }
            } catch (DatabaseException e) {
                throw e;
            } catch (PostroomException e) {
                // The others must not suffer from one that a newer version has asked for.
                LOG.warn("redrive {} is left to others: {}", id, e.getMessage());
            }
        }
        return letters;
    }

    private Redrive require(Connection tx, UUID id) {
        return table.find(tx, id)
                .orElseThrow(() -> new PostroomException(
                        "redrive.unknown",
                        "could not find redrive " + id + "; postroom deadletter redrives lists them"));
    }

    private static String subject(UUID id) {
        return "redrive " + id;
    }

    private static Map<String, Object> counts(Redrive redrive) {
        Map<String, Object> counts = new LinkedHashMap<>();
        counts.put("state", redrive.state().word());
        counts.put("total", redrive.total());
        counts.put("done", redrive.done());
        counts.put("skipped", redrive.skipped());
        counts.put("skips", redrive.skips());
        return counts;
    }
}
