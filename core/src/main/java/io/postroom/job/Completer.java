package io.postroom.job;

import io.postroom.postgres.Database;
import io.postroom.postgres.DatabaseException;
import io.postroom.postgres.SqlState;
import io.postroom.retry.Backoff;
import io.postroom.telemetry.Telemetry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes what became of claims, on one thread: whatever has gathered while the last batch was written goes with the next.
 *
 * <p>Without a database it waits and tries again; handlers go on until too much waits to be written, then their threads wait too.
 */
final class Completer {
    private static final Logger LOG = LoggerFactory.getLogger(Completer.class);

    /** How much may wait to be written. */
    private static final int PENDING_MAX = 20_000;

    /** How many that PostgreSQL has refused are tried again. */
    private static final int LATER_MAX = 10_000;

    /** How many jobs that are done end with one statement. */
    private static final int BATCH_MAX = 1_000;

    private static final long IDLE_MILLIS = 50;
    private static final Duration ANSWER_WITHIN = Duration.ofSeconds(30);
    private static final Backoff BACKOFF = new Backoff(Duration.ofMillis(20), Duration.ofSeconds(1));

    private final Database database;
    private final Line line;
    private final Settler settler;
    private final WorkerTable workers;
    private final Held held;
    private final Consumer<ClaimedJob> over;
    private final Telemetry telemetry;
    private final String name;
    private final BlockingQueue<Ended> pending = new LinkedBlockingQueue<>(PENDING_MAX);
    /** What somebody had locked, or PostgreSQL refused. Only the completer's thread uses them. */
    private final List<Ended> later = new ArrayList<>();

    /** The fences of jobs that were refused, by id: each is told once. */
    private final Map<Long, Long> refusedFences = new HashMap<>();

    private final Pace laterLooks = new Pace(Duration.ofMillis(100), Duration.ofSeconds(5));
    private final Signal stop = new Signal();
    private volatile boolean stopped;
    private volatile long stopUntilNanos;
    private @Nullable Thread thread;

    /** {@code over} is told of claims that are over: jobs that have ended, or wait. */
    Completer(
            Database database,
            Settler settler,
            Held held,
            Consumer<ClaimedJob> over,
            Telemetry telemetry,
            String name) {
        this.database = database;
        this.line = new Line(database, ANSWER_WITHIN);
        this.settler = settler;
        this.workers = new WorkerTable(database.schema());
        this.held = held;
        this.over = over;
        this.telemetry = telemetry;
        this.name = name;
    }

    /** Writes a batch; returns the ids of those that were still ours. */
    @FunctionalInterface
    private interface Writing {
        Set<Long> write(List<Ended> batch);
    }

    void start() {
        thread = Threads.start("postroom-complete-" + name, this::run);
    }

    /** Takes a verdict; waits while too much is to be written. Deaf to interrupts: those are meant for handlers. */
    void submit(Ended ended) {
        boolean interrupted = false;
        while (true) {
            try {
                pending.put(ended);
                break;
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Whether so many verdicts can be taken without waiting. */
    boolean hasRoom(int verdicts) {
        return pending.remainingCapacity() >= verdicts;
    }

    /** Whether all that waits to be written goes with the next batch. */
    boolean keepsUp() {
        return pending.size() <= BATCH_MAX;
    }

    /** Writes what is there, and ends; what cannot be written within the grace is left to whoever takes the jobs away. */
    void stop(Duration grace) {
        stopUntilNanos = System.nanoTime() + grace.toNanos();
        stopped = true;
        stop.raise();
        Threads.join(thread, grace.plusSeconds(1));
    }

    /** Writes what is there, on the caller's thread; for workers that were not started. */
    void writeNow() throws InterruptedException {
        List<Ended> batch = new ArrayList<>();
        pending.drainTo(batch);
        write(batch);
    }

    /** After {@link #writeNow}. */
    void closeLine() {
        line.close();
    }

    /** Ends when stopped and nothing is left to write; whatever goes wrong makes it try again. */
    private void run() {
        List<Ended> batch = new ArrayList<>();
        int failures = 0;
        try (line) {
            while (isNeeded(batch)) {
                try {
                    step(batch);
                    failures = 0;
                } catch (RuntimeException | Error e) {
                    // Out of memory, say. What is in hand is kept: if it was written, its fences are gone.
                    if (failures++ == 0) {
                        LOG.error("worker {} cannot write what became of its jobs; it tries again", name, e);
                    }
                    stop.await(BACKOFF.after(failures).toNanos());
                }
            }
        } catch (InterruptedException e) {
            LOG.warn("worker {} was interrupted with {} claims unwritten; they are taken away", name, pending.size());
        }
    }

    private boolean isNeeded(List<Ended> batch) {
        return !stopped
                || !pending.isEmpty()
                || (!later.isEmpty() || !batch.isEmpty()) && stopUntilNanos - System.nanoTime() > 0;
    }

    /** {@code batch} has what an earlier step could not write. */
    private void step(List<Ended> batch) throws InterruptedException {
        if (batch.isEmpty()) {
            Ended first = pending.poll(IDLE_MILLIS, TimeUnit.MILLISECONDS);
            if (first != null) {
                batch.add(first);
                pending.drainTo(batch, BATCH_MAX - 1);
            }
        }
        if (!batch.isEmpty()) {
            write(batch);
            batch.clear();
        }
        writeLater();
    }

    /** What could not be written is tried again, now and then. */
    private void writeLater() throws InterruptedException {
        if (!later.isEmpty() && laterLooks.isDue(System.nanoTime())) {
            long began = System.nanoTime();
            List<Ended> batch = newest(later);
            later.clear();
            try {
                settle(batch);
            } catch (RuntimeException | Error e) {
                // Some may be written: their fences are gone.
                later.addAll(batch);
                throw e;
            }
            laterLooks.done(began, System.nanoTime());
        }
    }

    private void write(List<Ended> batch) throws InterruptedException {
        List<Ended> plain = new ArrayList<>();
        List<Ended> others = new ArrayList<>();
        for (Ended each : newest(batch)) {
            if (each.verdict() instanceof Verdict.Committed) {
                report(each);
                over.accept(each.job());
            } else {
                (each.isPlain() ? plain : others).add(each);
            }
        }
        if (!plain.isEmpty()) {
            insist(plain, jobs -> settler.complete(line.connection(), jobs));
        }
        settle(others);
    }

    private void settle(List<Ended> batch) throws InterruptedException {
        for (int from = 0; from < batch.size(); from += Settler.BATCH_MAX) {
            insist(
                    batch.subList(from, Math.min(batch.size(), from + Settler.BATCH_MAX)),
                    jobs -> database.transactPromptly(tx -> settler.settle(tx, jobs)));
        }
    }

    /** A job that was taken away and claimed again by this very process may come twice: only the last claim counts. */
    private List<Ended> newest(List<Ended> batch) {
        Map<Long, Ended> newest = new LinkedHashMap<>();
        List<Ended> stale = new ArrayList<>();
        for (Ended each : batch) {
            Ended other = newest.get(each.job().id());
            if (other != null && other.job().fence() == each.job().fence()) {
                // The same claim, which an Error has left here twice: it is as good as it was.
                continue;
            }
            if (other == null || other.job().fence() < each.job().fence()) {
                newest.put(each.job().id(), each);
            }
            if (other != null) {
                stale.add(other.job().fence() < each.job().fence() ? other : each);
            }
        }
        if (!stale.isEmpty()) {
            stale(stale);
        }
        return List.copyOf(newest.values());
    }

    /** Tries again as long as the database is not there; what it refuses is cut down to the job at fault. */
    private void insist(List<Ended> batch, Writing writing) throws InterruptedException {
        int failures = 0;
        while (true) {
            try {
                conclude(batch, writing.write(batch), failures > 0);
                if (failures > 0) {
                    LOG.info("worker {} writes what became of its jobs again", name);
                }
                return;
            } catch (RuntimeException | Error e) {
                line.close();
                if (isLocked(e)) {
                    settle(batch);
                    return;
                }
                if (!isPassing(e)) {
                    refused(batch, writing, e);
                    return;
                }
                if (failures++ == 0) {
                    LOG.warn("worker {} cannot write what became of {} jobs: {}", name, batch.size(), e.getMessage());
                }
                if (stopped && stopUntilNanos - System.nanoTime() < 0) {
                    LOG.warn("worker {} gives up on {} claims; they are taken away from it", name, batch.size());
                    return;
                }
                stop.await(BACKOFF.after(failures).toNanos());
            }
        }
    }

    /** Somebody has one of them locked for long: those are found out, and the others written. */
    private static boolean isLocked(Throwable e) {
        return e instanceof DatabaseException refused && refused.sqlState().equals(SqlState.LOCK_NOT_AVAILABLE);
    }

    private static boolean isPassing(Throwable e) {
        return e instanceof DatabaseException refused && SqlState.isPassing(refused.sqlState());
    }

    private void refused(List<Ended> batch, Writing writing, Throwable e) throws InterruptedException {
        if (batch.size() == 1) {
            refused(batch.get(0), e);
            return;
        }
        int half = batch.size() / 2;
        insist(batch.subList(0, half), writing);
        insist(batch.subList(half, batch.size()), writing);
    }

    /** A right may be missing that somebody grants, or a trigger of somebody else's be in the way for a while. */
    private void refused(Ended ended, Throwable e) {
        ClaimedJob job = ended.job();
        boolean kept = later.size() < LATER_MAX;
        Long before = kept ? refusedFences.put(job.id(), job.fence()) : refusedFences.remove(job.id());
        if (kept) {
            later.add(ended);
        }
        if (!kept || before == null || before != job.fence()) {
            LOG.error(
                    "could not write what became of {}: {}; {} it is taken away when its deadline is over",
                    job,
                    e.getMessage(),
                    kept ? "it is tried again, and" : LATER_MAX + " others wait to be tried again, so",
                    e instanceof DatabaseException ? null : e);
        }
    }

    private void conclude(List<Ended> batch, Set<Long> mine, boolean again) {
        List<Ended> others = new ArrayList<>();
        batch.forEach(each -> refusedFences.remove(each.job().id()));
        for (Ended each : batch) {
            if (mine.contains(each.job().id())) {
                report(each);
                over.accept(each.job());
            } else {
                others.add(each);
            }
        }
        if (others.isEmpty()) {
            return;
        }
        Set<Long> locked = workers.look(
                        line.connection(), others.stream().map(Ended::job).toList())
                .keySet();
        List<Ended> gone = new ArrayList<>();
        for (Ended each : others) {
            if (locked.contains(each.job().id())) {
                later.add(each);
            } else {
                gone.add(each);
            }
        }
        if (again && !gone.isEmpty()) {
            LOG.info(
                    "{} jobs, first {}, are not worker {}'s any more: their end was written though the answer was lost, or they"
                            + " were taken away",
                    gone.size(),
                    gone.get(0).job(),
                    name);
            for (Ended each : gone) {
                held.remove(each.job());
                over.accept(each.job());
            }
        } else if (!gone.isEmpty()) {
            stale(gone);
        }
    }

    private void stale(List<Ended> stale) {
        ClaimedJob first = stale.get(0).job();
        LOG.warn(
                "could not end {} jobs of worker {}, first {}: fence {} is stale, they were taken away; what it did changes"
                        + " nothing of them, unless a transactional handler's end was committed though the answer was lost",
                stale.size(),
                name,
                first,
                first.fence());
        for (Ended each : stale) {
            held.remove(each.job());
            telemetry.staleJob(each.job().queue(), each.job().kind());
        }
    }

    private void report(Ended ended) {
        held.remove(ended.job());
        telemetry.jobRan(
                ended.job().queue(), ended.job().kind(), word(ended.verdict()), Duration.ofNanos(ended.tookNanos()));
    }

    private static String word(Verdict verdict) {
        if (verdict instanceof Verdict.Again again) {
            return again.note() == null ? "handed_back" : again.note().outcome();
        }
        return verdict instanceof Verdict.GiveUp
                ? "buried"
                : verdict instanceof Verdict.Cancelled ? "cancelled" : "done";
    }
}
