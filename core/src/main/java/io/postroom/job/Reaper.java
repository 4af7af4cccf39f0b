package io.postroom.job;

import io.postroom.postgres.Database;
import io.postroom.postgres.DatabaseException;
import io.postroom.postgres.SqlState;
import io.postroom.retry.Backoff;
import io.postroom.retry.Fault;
import io.postroom.telemetry.Telemetry;
import java.sql.Connection;
import java.time.Duration;
import java.util.Collection;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.BooleanSupplier;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes jobs away from workers that are dead or hang, and lets others have them. Every worker does so; who comes later finds nothing.
 *
 * <p>Each batch is one transaction that locks what it takes: a job that its worker ends at that moment is ended or taken, never both.
 * Has a thread of its own.
 */
final class Reaper {
    private static final Logger LOG = LoggerFactory.getLogger(Reaper.class);

    /** How many batches one pass makes: the next pass goes on. */
    private static final int BATCHES_MAX = 100;

    /** How many jobs that cannot be rescued are remembered; they must not keep others from being rescued. */
    static final int SPARED_MAX = 100_000;

    /** How long such a job is left alone: what keeps it from being rescued, a missing grant or a trigger, may be mended. */
    private static final Backoff SPARED = new Backoff(Duration.ofMinutes(1), Duration.ofMinutes(10));

    /** However long a look takes, the next one comes within this. */
    private static final Duration PAUSE_MAX = Duration.ofMinutes(1);

    /** The same for looks that find something only after rare trouble, and that cost much while somebody holds an old snapshot. */
    private static final Duration RARE_PAUSE_MAX = Duration.ofMinutes(10);

    /** Longer than any job can be over its deadline. */
    private static final Duration EVER = Duration.ofDays(36_500);

    /** Looks overlap by this: who was locked for a moment, or whose clock read a little less, is seen by the next one. */
    private static final Duration OVERLAP = Duration.ofSeconds(30);

    private static final Duration WORKERS_KEPT = Duration.ofHours(1);

    private static final Duration RATES_KEPT = Limit.PER_MAX.multipliedBy(2);

    /** How many rates one look reads; the next one goes on from there. */
    static final int RATES_MAX = 5_000;

    private static final Duration RATES_PAUSE = Duration.ofMinutes(1);

    private static final Duration DAYS_PAUSE = Duration.ofDays(1);

    /** How long a job waits that its worker has died of more than once. */
    private static final Backoff CRASHED = new Backoff(Duration.ofSeconds(1), Duration.ofMinutes(1));

    private final Database database;
    private final ReaperTable table;
    private final Settler settler;
    private final WorkerSettings settings;
    private final BooleanSupplier trusted;
    private final Telemetry telemetry;
    private final LongSupplier nanos;
    private final int sparedMax;
    /** Jobs that could not be rescued, the last one last. Only the reaper's thread uses them. */
    private final Map<Long, Spared> spared = new LinkedHashMap<>();
    /** Whether all that was to be found was found. */
    private boolean wentThrough;

    private final Pace strays = new Pace(Duration.ZERO, RARE_PAUSE_MAX);
    /** Most looks for overdue jobs begin with the deadlines of the last one: whoever was over them then was found, or locked. */
    private final Pace wholeLooks = new Pace(Duration.ZERO, RARE_PAUSE_MAX);

    private final Pace rates = new Pace(RATES_PAUSE, RARE_PAUSE_MAX);
    private ReaperTable.RateKey lastRate = ReaperTable.RateKey.FIRST;
    private final Pace days = new Pace(DAYS_PAUSE, DAYS_PAUSE);

    private final Signal signal = new Signal();
    private volatile boolean stopped;
    private @Nullable Thread thread;
    private boolean failing;
    private long lookedNanos = System.nanoTime();

    /** {@code trusted} says whether this worker's own lease surely holds, and has for long enough after an outage. */
    Reaper(Database database, Settler settler, WorkerSettings settings, BooleanSupplier trusted, Telemetry telemetry) {
        this(database, settler, settings, trusted, telemetry, System::nanoTime, SPARED_MAX);
    }

    /** For tests: {@code nanos} says when a job that could not be rescued is tried again, {@code sparedMax} how many are remembered. */
    Reaper(
            Database database,
            Settler settler,
            WorkerSettings settings,
            BooleanSupplier trusted,
            Telemetry telemetry,
            LongSupplier nanos,
            int sparedMax) {
        this.database = database;
        this.table = new ReaperTable(database.schema());
        this.settler = settler;
        this.settings = settings;
        this.trusted = trusted;
        this.telemetry = telemetry;
        this.nanos = nanos;
        this.sparedMax = sparedMax;
    }

    /** How often a job could not be rescued, and not before when it is tried again. */
    private record Spared(int failures, long untilNanos) {}

    @FunctionalInterface
    private interface Finding {
        List<ReaperTable.Lost> find(Connection tx, int limit, Collection<Long> except);
    }

    void start() {
        thread = Threads.start("postroom-reap-" + settings.name(), this::run);
    }

    void stop() {
        stopped = true;
        signal.raise();
        Threads.join(thread, settings.stopGrace());
    }

    /** Ends when stopped; trouble with the database makes it try again. */
    private void run() {
        Pace pace = new Pace(settings.heartbeat(), PAUSE_MAX);
        try {
            while (!stopped) {
                // Spread, so that workers which were started together do not all look at the same time.
                signal.await(ThreadLocalRandom.current()
                        .nextLong(settings.heartbeat().toNanos()));
                long began = System.nanoTime();
                // After an outage every lease has run out: first all that live say so.
                if (!stopped && pace.isDue(began) && trusted.getAsBoolean()) {
                    reapQuietly();
                    pace.done(began, System.nanoTime());
                }
            }
        } catch (InterruptedException e) {
            LOG.warn("worker {} was interrupted and takes nothing away any more", settings.name());
        }
    }

    private void reapQuietly() {
        try {
            reap();
            lookAhead();
            failing = false;
        } catch (RuntimeException | Error e) {
            if (!failing) {
                failing = true;
                LOG.warn(
                        "worker {} could not look for dead workers: {}; it tries again",
                        settings.name(),
                        e.getMessage(),
                        e instanceof DatabaseException ? null : e);
            }
        }
    }

    /** Takes away what is to be taken; returns how many jobs. One look that fails keeps nobody from the others, and is thrown after them. */
    int reap() {
        int reaped = 0;
        long began = nanos.getAsLong();
        wentThrough = true;
        RuntimeException failure = null;
        for (IntSupplier look : List.<IntSupplier>of(this::reapLost, this::reapOverdue, this::reapStrays)) {
            try {
                reaped += look.getAsInt();
            } catch (RuntimeException e) {
                failure = failure == null ? e : failure;
            }
        }
        if (failure != null) {
            throw failure;
        }
        if (wentThrough) {
            // They were to be tried again and were not found: another worker has rescued them.
            spared.values().removeIf(each -> each.untilNanos() - began <= 0);
        }
        database.run(tx -> table.forgetWorkers(tx, WORKERS_KEPT));
        long beganRates = System.nanoTime();
        if (rates.isDue(beganRates)) {
            forgetRates();
            rates.done(beganRates, System.nanoTime());
        }
        return reaped;
    }

    /** Once a day: whoever uses the library alone may not know that somebody must keep the house. */
    private void lookAhead() {
        long began = System.nanoTime();
        if (!days.isDue(began)) {
            return;
        }
        if (!database.run(table::hasTomorrow)) {
            LOG.warn(
                    "schema {} has no partition for jobs that end tomorrow: nobody runs maintenance, and without it ended jobs are kept"
                            + " for ever; let one process call postroom.maintenance().start(), or run postroom serve",
                    database.schema().name());
        }
        days.done(began, System.nanoTime());
    }

    /** Some of them; looks follow each other through all. */
    void forgetRates() {
        lastRate = database.run(tx -> table.forgetRates(tx, lastRate, RATES_MAX, RATES_KEPT));
    }

    private int reapLost() {
        return reap(table::findLost, "lost");
    }

    /** After those of dead workers: whoever is over its deadline meanwhile is found here. */
    private int reapOverdue() {
        long began = System.nanoTime();
        boolean whole = wholeLooks.isDue(began);
        Duration within = whole ? EVER : Duration.ofNanos(began - lookedNanos).plus(OVERLAP);
        try {
            int reaped = reap((tx, limit, except) -> table.findOverdue(tx, within, limit, except), "overdue");
            lookedNanos = began;
            return reaped;
        } finally {
            // Whether it succeeds or not: the next one must be a short one.
            if (whole) {
                wholeLooks.done(began, System.nanoTime());
            }
        }
    }

    private int reapStrays() {
        long began = System.nanoTime();
        if (!strays.isDue(began)) {
            return 0;
        }
        try {
            return reap(table::findStray, "stray");
        } finally {
            strays.done(began, System.nanoTime());
        }
    }

    private int reap(Finding finding, String what) {
        // First those that were never tried: however many are tried again, they do not come before these.
        int reaped = reap(finding, what, () -> List.copyOf(spared.keySet()));
        boolean again = spared.values().stream().anyMatch(this::isDue);
        return again ? reaped + reap(finding, what, this::spared) : reaped;
    }

    private int reap(Finding finding, String what, Supplier<List<Long>> except) {
        int reaped = 0;
        int limit = Settler.BATCH_MAX;
        boolean all = false;
        for (int batches = 0; batches < BATCHES_MAX; batches++) {
            List<ReaperTable.Lost> found = List.of();
            try {
                found = take(finding, what, limit, except.get());
            } catch (UnrescuedException e) {
                // One at a time from here on, until it is known which one it is.
                if (e.found.size() == 1 && !leaveAlone(e.found.get(0).id(), e)) {
                    break;
                }
                limit = 1;
                continue;
            }
            reaped += found.size();
            if (found.size() < limit) {
                all = true;
                break;
            }
        }
        wentThrough &= all;
        return reaped;
    }

    private List<ReaperTable.Lost> take(Finding finding, String what, int limit, List<Long> except) {
        List<ReaperTable.Lost> taken = database.transactPromptly(tx -> {
            List<ReaperTable.Lost> found = finding.find(tx, limit, except);
            try {
                settler.apply(tx, found.stream().map(Reaper::settled).toList());
            } catch (RuntimeException e) {
                if (e instanceof DatabaseException refused && SqlState.isPassing(refused.sqlState())) {
                    throw e;
                }
                throw new UnrescuedException(found, e);
            }
            return found;
        });
        taken.forEach(each -> spared.remove(each.id()));
        if (!taken.isEmpty()) {
            ReaperTable.Lost first = taken.get(0);
            LOG.warn(
                    "took {} {} jobs away, first job {} from worker {}; they are run again",
                    taken.size(),
                    what,
                    first.id(),
                    first.worker());
            telemetry.reaped(taken.size());
        }
        return taken;
    }

    private static Settler.Settled settled(ReaperTable.Lost job) {
        Verdict.Note note = job.begun()
                ? new Verdict.Note(
                        "lost", Fault.of("lost", "its worker " + job.worker() + " died, or hung over the deadline"))
                : null;
        // Only what has died of it before waits: the others were perhaps only near.
        Duration after = job.begun() && job.crashes() > 0 ? CRASHED.after(job.crashes()) : Duration.ZERO;
        Verdict verdict = new Verdict.Again(after, job.begun(), job.begun(), note);
        return new Settler.Settled(job.id(), job.cancelAsked() ? verdict.cancelled() : verdict, null, job.worker());
    }

    /** Returns whether it could be remembered: if not, it would be found again at once. */
    private boolean leaveAlone(long id, UnrescuedException e) {
        Spared before = spared.remove(id);
        if (spared.size() >= sparedMax && !forgetOne()) {
            LOG.error(
                    "could not take job {} away: {}; {} others could not be either, the most that are remembered: what is left of dead"
                            + " workers waits until some of them can be",
                    id,
                    e.getMessage(),
                    sparedMax);
            return false;
        }
        int failures = before == null ? 1 : before.failures() + 1;
        Duration wait = SPARED.after(failures);
        LOG.error(
                "could not take job {} away: {}; it is left as it is and tried again in {} s",
                id,
                e.getMessage(),
                wait.toSeconds());
        spared.put(id, new Spared(failures, nanos.getAsLong() + wait.toNanos()));
        return true;
    }

    /** One that is due: it is tried again anyway, or another worker has rescued it. */
    private boolean forgetOne() {
        Iterator<Spared> each = spared.values().iterator();
        while (each.hasNext()) {
            if (isDue(each.next())) {
                each.remove();
                return true;
            }
        }
        return false;
    }

    private List<Long> spared() {
        return spared.entrySet().stream()
                .filter(each -> !isDue(each.getValue()))
                .map(Map.Entry::getKey)
                .toList();
    }

    /** How many jobs it remembers that could not be rescued; for tests. */
    int sparedCount() {
        return spared.size();
    }

    private boolean isDue(Spared job) {
        return job.untilNanos() - nanos.getAsLong() <= 0;
    }

    /** A batch that PostgreSQL refused for a reason of its own, or that was not changed as a whole. */
    private static final class UnrescuedException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        private final transient List<ReaperTable.Lost> found;

        UnrescuedException(List<ReaperTable.Lost> found, RuntimeException cause) {
            super(cause.getMessage(), cause);
            this.found = found;
        }
    }
}
