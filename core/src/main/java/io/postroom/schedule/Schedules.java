package io.postroom.schedule;

import io.postroom.PostroomException;
import io.postroom.audit.Audit;
import io.postroom.job.Enqueued;
import io.postroom.job.Jobs;
import io.postroom.postgres.Database;
import io.postroom.postgres.JoinedTransaction;
import io.postroom.retry.Spelling;
import io.postroom.telemetry.Telemetry;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Schedules: declared by applications, fired by any node that has a {@link Scheduler}, paused and run by operators.
 *
 * <p>Each time fires once, however many nodes look: the primary key of {@code (schedule, time)} decides, in the transaction that also
 * enqueues the job. Times are the database's. Safe for use by many threads.
 */
public final class Schedules {
    /** How many schedules there may be in a listing. */
    public static final int LIST_MAX = 10_000;

    public static final int RUNS_MAX = 1_000;

    private static final JoinedTransaction TRANSACTION = new JoinedTransaction("schedule", "declare");

    private final Database database;
    private final Audit audit;
    private final ScheduleTable table;
    private final Firing firing;

    public Schedules(Database database, Jobs jobs, Audit audit, Telemetry telemetry) {
        this.database = database;
        this.audit = audit;
        this.table = new ScheduleTable(database.schema());
        this.firing = new Firing(database, table, jobs, telemetry);
    }

    /**
     * Declares a schedule, or changes the one of this name; every node may do so when it starts. Returns whether something has changed.
     * When it fires next stays as it was, unless that is what has changed.
     */
    public boolean put(Connection tx, Schedule schedule) {
        TRANSACTION.require(tx);
        Instant now = table.clock(tx);
        // As it will be enqueued: with the headers that are added then.
        Jobs.check(Firing.job(schedule, now));
        return table.put(tx, schedule, first(schedule, now));
    }

    /** The same as of a given time, for tests. */
    boolean put(Connection tx, Schedule schedule, Instant now) {
        return table.put(tx, schedule, first(schedule, now));
    }

    public List<ScheduleDetails> list() {
        return list(null, LIST_MAX);
    }

    /**
     * A page of them, by name.
     *
     * @param after the last name of the page before; null: from the first
     * @param limit 1 to {@link #LIST_MAX}
     */
    public List<ScheduleDetails> list(@Nullable String after, int limit) {
        if (limit < 1 || limit > LIST_MAX) {
            throw new PostroomException(
                    "schedule.page-invalid",
                    "could not list schedules: the page is " + limit + " schedules, the range is 1 to " + LIST_MAX);
        }
        return database.run(tx -> table.list(tx, null, after, limit));
    }

    /** Throws if there is none. */
    public ScheduleDetails get(String name) {
        return database.run(tx -> get(tx, "show", name));
    }

    /** The next times that it will fire for, if it is not paused: the one that is due, and so on. Of a delay the next only, if known; likewise if this node cannot read it. */
    public List<Instant> next(String name, int count) {
        ScheduleDetails found = get(name);
        Instant due = found.nextAt();
        Recurrence recurrence = found.schedule().recurrence();
        if (recurrence == null || due == null || recurrence instanceof UnreadableRecurrence) {
            return due == null ? List.of() : List.of(due);
        }
        return recurrence.next(due.minusNanos(1_000), count);
    }

    /** The times that it has fired for or left out, the last one first. */
    public List<ScheduleRun> runs(String name, int limit) {
        return database.run(tx -> table.runs(tx, name, Math.min(limit, RUNS_MAX)));
    }

    /** Enqueues its job now, paused or not; its own times stay as they are. Returns the job, which is another's if that has not ended. */
    public Enqueued runNow(String name, String actor, String reason) {
        check("run", name, actor, reason);
        return database.transact(tx -> {
            Schedule schedule = get(tx, "run", name).schedule();
            Instant now = table.clock(tx).truncatedTo(ChronoUnit.MICROS);
            while (!table.noteRun(tx, name, now)) {
                // Somebody else at the very same microsecond.
                now = now.plus(1, ChronoUnit.MICROS);
            }
            Enqueued job = firing.enqueue(tx, schedule, now);
            audit.record(tx, actor, "schedule run", "schedule " + name, reason, Map.of("job", "" + job.id()));
            return job;
        });
    }

    /** Lets it fire no more. Returns whether it did before. */
    public boolean pause(String name, String actor, String reason) {
        check("pause", name, actor, reason);
        return database.transact(tx -> {
            get(tx, "pause", name);
            boolean paused = table.pause(tx, name, actor, reason);
            if (paused) {
                audit.record(tx, actor, "schedule pause", "schedule " + name, reason, Map.of());
            }
            return paused;
        });
    }

    /** Lets it fire again, from now on: times that have passed meanwhile are left out. Returns whether it was paused. */
    public boolean resume(String name, String actor, String reason) {
        check("resume", name, actor, reason);
        return database.transact(tx -> {
            Schedule schedule = get(tx, "resume", name).schedule();
            boolean resumed = table.resume(tx, name, first(schedule, table.clock(tx)));
            if (resumed) {
                audit.record(tx, actor, "schedule resume", "schedule " + name, reason, Map.of());
            }
            return resumed;
        });
    }

    /** Removes it; jobs that it has enqueued stay. Returns whether it was there. */
    public boolean remove(Connection tx, String name) {
        TRANSACTION.require(tx);
        return table.remove(tx, name);
    }

    /** The same by an operator; throws if there is none. Whoever still declares it brings it back when it starts. */
    public void remove(String name, String actor, String reason) {
        check("remove", name, actor, reason);
        database.transact(tx -> {
            get(tx, "remove", name);
            table.remove(tx, name);
            audit.record(tx, actor, "schedule remove", "schedule " + name, reason, Map.of());
            return true;
        });
    }

    /** Fires what is due, once, on the caller's thread; returns how many jobs were enqueued. */
    public int runOnce() {
        return firing.fire(null);
    }

    /** The same as of a given time, for tests. */
    int runOnce(Instant now) {
        return firing.fire(now);
    }

    /**
     * As if so much time had passed while somebody looked: fires the first time that is due by then, as of that very time, and returns it;
     * empty if none is. For tests, which call it until then.
     */
    public Optional<Instant> runNext(Duration ahead) {
        return firing.fireNext(ahead);
    }

    /** Begins to fire schedules in this process, on a thread of its own, until the scheduler is closed. */
    public Scheduler start() {
        return new Scheduler(firing);
    }

    private static Instant first(Schedule schedule, Instant now) {
        Recurrence recurrence = schedule.recurrence();
        return recurrence != null ? recurrence.next(now) : now.plus(Objects.requireNonNull(schedule.delay()));
    }

    private ScheduleDetails get(Connection tx, String verb, String name) {
        return table.list(tx, name, null, 1).stream().findFirst().orElseThrow(() -> {
            List<String> names = table.list(tx, null, null, LIST_MAX).stream()
                    .map(each -> each.schedule().name())
                    .toList();
            return new PostroomException(
                    "schedule.unknown",
                    "could not " + verb + " schedule '" + CronText.excerpt(name) + "': there is none of this name; "
                            + (names.isEmpty() ? "none is declared" : "list them first")
                            + Spelling.didYouMean(name, names));
        });
    }

    private static void check(String verb, String name, @Nullable String actor, @Nullable String reason) {
        List<String> problems = Audit.problems(String.valueOf(actor), String.valueOf(reason));
        if (!problems.isEmpty()) {
            throw new PostroomException(
                    "schedule.act-invalid",
                    "could not " + verb + " schedule " + name + ": " + String.join("; ", problems));
        }
    }
}
