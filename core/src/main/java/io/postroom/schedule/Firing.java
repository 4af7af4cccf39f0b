package io.postroom.schedule;

import io.postroom.PostroomException;
import io.postroom.job.Enqueued;
import io.postroom.job.Job;
import io.postroom.job.Jobs;
import io.postroom.job.Unique;
import io.postroom.postgres.Database;
import io.postroom.postgres.DatabaseException;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Enqueues the jobs of schedules whose time has come. Any number of nodes may do so at once. */
final class Firing {
    private static final Logger LOG = LoggerFactory.getLogger(Firing.class);

    /** A time that is later than this was missed. */
    static final Duration ON_TIME = Duration.ofMinutes(1);

    /** How many schedules one look finds; the next one finds the next. */
    private static final int DUE_MAX = 100;

    /** How many missed times of one schedule fire with one transaction; the next one goes on. */
    private static final int TIMES_MAX = 100;

    /** What cannot fire is tried again after so long. */
    private static final Duration FAILED_WAIT = Duration.ofSeconds(30);

    private static final Duration RUNS_KEPT = Duration.ofDays(30);
    private static final int FORGET_MAX = 1_000;
    private static final int FORGET_STEPS_MAX = 100;

    private final Database database;
    private final ScheduleTable table;
    private final Jobs jobs;
    /** Schedules that could not fire, and when each is tried again: they must not keep the others from being found. */
    private final Map<String, Failed> failing = new ConcurrentHashMap<>();

    Firing(Database database, ScheduleTable table, Jobs jobs) {
        this.database = database;
        this.table = table;
        this.jobs = jobs;
    }

    /** Why a schedule did not fire, and not before when it is tried again, by the nanoseconds of this process. */
    private record Failed(String why, long untilNanos) {}

    /** Fires what is due; returns how many jobs were enqueued. {@code now} is for tests. */
    int fire(@Nullable Instant now) {
        database.run(tx -> table.endDelay(tx, now));
        return fireDue(now);
    }

    /** As of so much later, the first time that is due by then, if any: fires what is due at that very time. For tests. */
    Optional<Instant> fireNext(Duration ahead) {
        Instant then = database.run(tx -> {
            Instant now = table.clock(tx).plus(ahead);
            table.endDelay(tx, now);
            return now;
        });
        Optional<Instant> first = database.run(tx -> table.findDue(tx, then, resting(), 1)).stream()
                .map(due -> Objects.requireNonNull(due.details().nextAt()))
                .findFirst();
        first.ifPresent(this::fireDue);
        return first;
    }

    private int fireDue(@Nullable Instant now) {
        int fired = 0;
        List<ScheduleTable.Due> found = database.run(tx -> table.findDue(tx, now, resting(), DUE_MAX));
        for (ScheduleTable.Due due : found) {
            String name = due.details().schedule().name();
            try {
                fired += database.transactPromptly(tx -> fire(tx, due.details(), due.now()));
                failing.remove(name);
            } catch (RuntimeException e) {
                if (e instanceof DatabaseException gone && gone.isUnreachable()) {
                    throw e;
                }
                failed(name, e);
            }
        }
        return fired;
    }

    /** One that cannot fire must not keep the others from it, nor fill the log. */
    private void failed(String name, RuntimeException e) {
        String why = String.valueOf(e.getMessage());
        Failed before = failing.put(name, new Failed(why, System.nanoTime() + FAILED_WAIT.toNanos()));
        if (before == null || !before.why().equals(why)) {
            LOG.error(
                    "could not fire schedule {}: {}; it is tried again every {} s",
                    name,
                    why,
                    FAILED_WAIT.toSeconds(),
                    e instanceof PostroomException ? null : e);
        }
    }

    private List<String> resting() {
        long now = System.nanoTime();
        return failing.entrySet().stream()
                .filter(each -> each.getValue().untilNanos() - now > 0)
                .map(Map.Entry::getKey)
                .toList();
    }

    /** In steps, until nothing is left; a bound for each look, so that schedules fire meanwhile. */
    int forget() {
        int forgotten = 0;
        for (int steps = 0; steps < FORGET_STEPS_MAX; steps++) {
            int some = database.run(tx -> table.forgetRuns(tx, RUNS_KEPT, FORGET_MAX));
            forgotten += some;
            if (some < FORGET_MAX) {
                break;
            }
        }
        return forgotten;
    }

    private int fire(Connection tx, ScheduleDetails details, Instant now) {
        Schedule schedule = details.schedule();
        Instant seen = Objects.requireNonNull(details.nextAt());
        if (!table.lock(tx, schedule.name(), seen)) {
            return 0;
        }
        AtomicReference<@Nullable Instant> next = new AtomicReference<>();
        List<Instant> times = times(schedule, seen, now, next);
        int fired = 0;
        Instant lastAt = null;
        Long lastJob = null;
        for (Instant time : times) {
            // This decides: of nodes that are here at once, one goes on.
            if (!table.noteRun(tx, schedule.name(), time)) {
                continue;
            }
            Enqueued job = enqueue(tx, schedule, time);
            lastAt = time;
            lastJob = job.id();
            fired += job.skipped() ? 0 : 1;
        }
        table.moveOn(tx, schedule.name(), seen, next.get(), lastAt, lastJob);
        return fired;
    }

    /** Enqueues the job of one time, in the transaction that notes it. */
    Enqueued enqueue(Connection tx, Schedule schedule, Instant time) {
        Enqueued enqueued = jobs.offer(tx, job(schedule, time));
        table.noteJob(tx, schedule.name(), time, enqueued);
        return enqueued;
    }

    /** The job of one time. */
    static Job job(Schedule schedule, Instant time) {
        Job.Builder job = Job.of(schedule.job().kind(), schedule.job().payload())
                .queue(schedule.job().queue())
                .priority(schedule.job().priority())
                .tenantId(schedule.job().tenantId())
                .header("schedule", schedule.name())
                .header("fire-at", time.toString());
        schedule.job().headers().forEach(job::header);
        if (schedule.job().retry() != null) {
            job.retry(schedule.job().retry());
        }
        if (schedule.job().deadline() != null) {
            job.deadline(schedule.job().deadline());
        }
        if (!schedule.overlap()) {
            job.unique(Unique.of("schedule " + schedule.name()));
        }
        return job.build();
    }

    /** The times to fire for, and which is the next after what was looked at: null for a delay, which begins with the end of the job. */
    private static List<Instant> times(
            Schedule schedule, Instant seen, Instant now, AtomicReference<@Nullable Instant> next) {
        Recurrence recurrence = schedule.recurrence();
        if (recurrence == null) {
            return List.of(seen);
        }
        if (schedule.missed() == Missed.ALL) {
            List<Instant> all = new ArrayList<>();
            Instant time = seen;
            while (!time.isAfter(now) && all.size() < TIMES_MAX) {
                all.add(time);
                time = recurrence.next(time);
            }
            next.set(time);
            return all;
        }
        next.set(recurrence.next(now));
        Instant last = last(recurrence, seen, now);
        return schedule.missed() == Missed.ONCE || !last.isBefore(now.minus(ON_TIME)) ? List.of(last) : List.of();
    }

    /** The last time that is not after now; {@code seen} is one. */
    private static Instant last(Recurrence recurrence, Instant seen, Instant now) {
        // From a time shortly before now, further back until there is one: what was missed may be millions.
        for (Duration back = Duration.ofMinutes(1); ; back = back.multipliedBy(4)) {
            Instant from = now.minus(back);
            if (!from.isAfter(seen)) {
                from = seen;
            }
            Instant time = from.equals(seen) ? seen : recurrence.next(from);
            if (!time.isAfter(now)) {
                for (Instant after = recurrence.next(time); !after.isAfter(now); after = recurrence.next(after)) {
                    time = after;
                }
                return time;
            }
        }
    }
}
