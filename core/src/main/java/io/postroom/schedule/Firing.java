package io.postroom.schedule;

import io.postroom.PostroomException;
import io.postroom.job.Enqueued;
import io.postroom.job.Job;
import io.postroom.job.Jobs;
import io.postroom.job.Unique;
import io.postroom.postgres.Database;
import io.postroom.postgres.DatabaseException;
import io.postroom.telemetry.Telemetry;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Enqueues the jobs of schedules whose time has come. Any number of nodes may do so at once. */
final class Firing {
    private static final Logger LOG = LoggerFactory.getLogger(Firing.class);

    /** A time that is so late was missed. */
    static final Duration ON_TIME = Duration.ofMinutes(1);

    /** How many schedules one look finds and one transaction fires; the next one finds the next, at once. */
    static final int DUE_MAX = 50;

    /** How many looks follow each other at most. */
    private static final int LOOKS_MAX = 1_000;

    /** Missed times are counted up to so many: there may be millions. */
    private static final int MISSED_MAX = 10_000;

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
    private final Telemetry telemetry;
    /** Schedules that could not fire, and when each is tried again: they must not keep the others from being found. */
    private final Map<String, Failed> failing = new ConcurrentHashMap<>();

    Firing(Database database, ScheduleTable table, Jobs jobs, Telemetry telemetry) {
        this.database = database;
        this.table = table;
        this.jobs = jobs;
        this.telemetry = telemetry;
    }

    /** Why a schedule did not fire, and not before when it is tried again, by the nanoseconds of this process. */
    private record Failed(String why, long untilNanos) {}

    /**
     * What one look did.
     *
     * @param more whether it found as many as it may: there may be more that are due
     */
    record Look(int fired, boolean more) {}

    /** Times to fire for, and what is left out before them. */
    private record Times(
            List<Instant> fire,
            @Nullable Instant next,
            @Nullable Instant firstMissed,
            long missed) {
        static Times of(List<Instant> fire, @Nullable Instant next) {
            return new Times(fire, next, null, 0);
        }
    }

    /** What a schedule did in a transaction; it is told when that is committed. */
    private record Fired(String name, int jobs, @Nullable Instant firstMissed, long missed) {}

    /** Fires what is due, look by look; returns how many jobs were enqueued. {@code now} is for tests. */
    int fire(@Nullable Instant now) {
        int fired = 0;
        for (int looks = 0; looks < LOOKS_MAX; looks++) {
            Look look = look(now);
            fired += look.fired();
            if (!look.more()) {
                break;
            }
        }
        return fired;
    }

    /** Fires some of what is due. */
    Look look(@Nullable Instant now) {
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

    /** All in one transaction: their rows are locked, and other nodes take others meanwhile. */
    private Look fireDue(@Nullable Instant now) {
        List<Fired> fired;
        try {
            fired = database.transactPromptly(tx -> {
                List<Fired> all = new ArrayList<>();
                for (ScheduleTable.Due due : table.findDue(tx, now, resting(), DUE_MAX)) {
                    all.add(fire(tx, due.details(), due.now()));
                }
                return all;
            });
        } catch (RuntimeException e) {
            if (e instanceof DatabaseException gone && gone.isUnreachable()) {
                throw e;
            }
            return fireEach(now);
        }
        tell(fired);
        return new Look(fired.stream().mapToInt(Fired::jobs).sum(), fired.size() == DUE_MAX);
    }

    /** One by one, because one of them cannot fire. */
    private Look fireEach(@Nullable Instant now) {
        int jobsFired = 0;
        List<ScheduleTable.Due> found = database.run(tx -> table.findDue(tx, now, resting(), DUE_MAX));
        for (ScheduleTable.Due due : found) {
            String name = due.details().schedule().name();
            Instant seen = Objects.requireNonNull(due.details().nextAt());
            try {
                List<Fired> fired = database.transactPromptly(tx ->
                        table.lock(tx, name, seen) ? List.of(fire(tx, due.details(), due.now())) : List.<Fired>of());
                tell(fired);
                jobsFired += fired.stream().mapToInt(Fired::jobs).sum();
                failing.remove(name);
            } catch (RuntimeException e) {
                if (e instanceof DatabaseException gone && gone.isUnreachable()) {
                    throw e;
                }
                failed(name, e);
            }
        }
        return new Look(jobsFired, found.size() == DUE_MAX);
    }

    /** Once for each gap, by the node that went over it. */
    private void tell(List<Fired> fired) {
        for (Fired each : fired) {
            failing.remove(each.name());
            if (each.missed() > 0) {
                LOG.warn(
                        "schedule {} was looked at too late: {} of its times from {} on are left out",
                        each.name(),
                        each.missed() == MISSED_MAX ? MISSED_MAX + " or more" : each.missed(),
                        each.firstMissed());
                telemetry.timesMissed(each.name(), each.missed());
            }
        }
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

    /** For a schedule whose row is locked. */
    private Fired fire(Connection tx, ScheduleDetails details, Instant now) {
        Schedule schedule = details.schedule();
        Instant seen = Objects.requireNonNull(details.nextAt());
        Times times = times(schedule, seen, now);
        if (times.firstMissed() != null) {
            table.noteMissed(tx, schedule.name(), times.firstMissed(), times.missed());
        }
        int fired = 0;
        Instant lastAt = null;
        Long lastJob = null;
        for (Instant time : times.fire()) {
            // This decides: of nodes that are here at once, one goes on.
            if (!table.noteRun(tx, schedule.name(), time)) {
                continue;
            }
            Enqueued job = enqueue(tx, schedule, time);
            lastAt = time;
            lastJob = job.id();
            fired += job.skipped() ? 0 : 1;
        }
        table.moveOn(tx, schedule.name(), seen, times.next(), lastAt, lastJob);
        return new Fired(schedule.name(), fired, times.firstMissed(), times.missed());
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

    /** The next after what was looked at is null for a delay, which begins with the end of the job. */
    private static Times times(Schedule schedule, Instant seen, Instant now) {
        Recurrence recurrence = schedule.recurrence();
        if (recurrence == null) {
            return Times.of(List.of(seen), null);
        }
        if (schedule.missed() == Missed.ALL) {
            return upTo(recurrence, seen, now);
        }
        // The first that is not left out.
        Instant first = schedule.missed() == Missed.ONCE
                ? last(recurrence, seen, now)
                : firstAfter(recurrence, seen, now.minus(ON_TIME));
        Times times = upTo(recurrence, first, now);
        return first.equals(seen) ? times : new Times(times.fire(), times.next(), seen, count(recurrence, seen, first));
    }

    /** From a time on, which is one of them, until now. */
    private static Times upTo(Recurrence recurrence, Instant first, Instant now) {
        List<Instant> all = new ArrayList<>();
        Instant time = first;
        while (!time.isAfter(now) && all.size() < TIMES_MAX) {
            all.add(time);
            time = recurrence.next(time);
        }
        return Times.of(all, time);
    }

    /** The first time that is after another one; {@code seen} is the first of all. */
    private static Instant firstAfter(Recurrence recurrence, Instant seen, Instant late) {
        return seen.isAfter(late) ? seen : recurrence.next(late);
    }

    /** How many times there are from one of them on and before another, up to a limit. */
    private static long count(Recurrence recurrence, Instant from, Instant before) {
        long count = 0;
        for (Instant time = from; time.isBefore(before) && count < MISSED_MAX; time = recurrence.next(time)) {
            count++;
        }
        return count;
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
