package io.postroom.job;

import io.postroom.postgres.Database;
import io.postroom.postgres.DatabaseException;
import io.postroom.retry.Backoff;
import io.postroom.telemetry.Telemetry;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Claims jobs for all crews of a process: often while there are some, seldom while there are none, at once when nudged or when a crew has
 * room for more. While there are more than one connection can fetch, and ends are written as fast, a second one claims too.
 */
final class Claimer {
    private static final Logger LOG = LoggerFactory.getLogger(Claimer.class);

    private static final int STEP_MAX = 100;

    /** So long after a claim whose answer was lost, it may still be done behind our back. */
    private static final long UNSURE_NANOS = Duration.ofMinutes(10).toNanos();

    private static final Backoff BACKOFF = new Backoff(Duration.ofMillis(20), Duration.ofSeconds(1));

    private final Database database;
    private final Claiming claiming;
    private final SecondClaimer second;
    private final ClaimTable table;
    private final Settler settler;
    private final Gate gate;
    private final List<Crew> crews = new ArrayList<>();
    private final Held held;
    private final WorkerSettings settings;
    private final BooleanSupplier trusted;
    /** Seldom if it costs much, because of an old snapshot say: nothing is claimed meanwhile. */
    private final Pace takingBack = new Pace(Duration.ofSeconds(1), Duration.ofMinutes(5));

    private final Signal signal = new Signal();
    private volatile boolean stopped;
    private volatile boolean expected;
    /** Whether a crew that has room may find some: there were more than it could take, or it was not asked for the last time. */
    private volatile boolean more;

    private @Nullable Thread thread;
    private volatile boolean failing;
    private volatile long unsureUntilNanos = System.nanoTime();

    Claimer(
            Database database,
            ClaimTable table,
            Settler settler,
            Gate gate,
            Held held,
            WorkerSettings settings,
            BooleanSupplier trusted,
            BooleanSupplier endsKeepUp,
            Telemetry telemetry) {
        this.database = database;
        this.claiming = new Claiming(database, held, telemetry);
        this.second = new SecondClaimer(
                new Claiming(database, held, telemetry),
                () -> trusted.getAsBoolean() && endsKeepUp.getAsBoolean() && !isUnsure(),
                this::failed);
        this.table = table;
        this.settler = settler;
        this.gate = gate;
        this.held = held;
        this.settings = settings;
        this.trusted = trusted;
    }

    /** What one round found. */
    private enum Found {
        /** Nobody wanted any. */
        NOT_ASKED,
        NOTHING,
        SOME,
        /** As many as were asked for: there may be more. */
        MORE
    }

    void add(Crew crew) {
        Front front = new Front(crew.queue(), table);
        crews.add(crew);
        claiming.add(crew, front);
        second.add(crew, front);
    }

    void start() {
        second.start(settings.name());
        thread = Threads.start("postroom-claim-" + settings.name(), this::run);
    }

    /** Something was inserted and will soon be committed: look often for a while. */
    void expect() {
        if (!expected) {
            expected = true;
            signal.raise();
        }
    }

    /** A claim is over: if the job has a limit, let others of its key through at once. */
    void over(ClaimedJob job) {
        gate.over(job);
        if (job.limit() != null) {
            signal.raise();
        }
    }

    /** A crew has room: claim at once if there was more than it could take. */
    void hungry() {
        if (more) {
            signal.raise();
        }
    }

    /** One round without a thread: opens the gate and claims a few of each queue. Returns whether there may be more. */
    boolean step(Consumer<ClaimedJob> taker) {
        Connection tx = claiming.connection();
        boolean some = gate.openWide(tx);
        for (Crew crew : crews) {
            List<ClaimedJob> jobs = table.claim(tx, crew.queue(), STEP_MAX);
            jobs.forEach(held::add);
            jobs.forEach(taker);
            some |= !jobs.isEmpty();
        }
        return some;
    }

    /** After steps. */
    void closeLine() {
        claiming.close();
    }

    /** Claims nothing more; returns when the last claim was given to its crew. */
    void stop(Duration patience) {
        long began = System.nanoTime();
        stopped = true;
        signal.raise();
        Threads.join(thread, patience);
        second.stop(patience.minusNanos(System.nanoTime() - began));
    }

    /** Ends when stopped; trouble with the database makes it wait, not end. */
    private void run() {
        long min = settings.pollMin().toNanos();
        long max = settings.pollMax().toNanos();
        long wait = min;
        long lastWait = min;
        int failures = 0;
        try (claiming) {
            while (!stopped) {
                try {
                    boolean wasExpected = expected;
                    expected = false;
                    Found found = round();
                    // Grows by an eighth for each look in vain: a short lull costs no latency, a long one costs little.
                    // While all are busy nobody looks: whoever has room says so.
                    wait = found == Found.MORE
                            ? 0
                            : found == Found.SOME || wasExpected
                                    ? min
                                    : found == Found.NOT_ASKED
                                            ? max
                                            : Math.min(Math.max(lastWait, min) + lastWait / 8 + 1, max);
                    lastWait = found == Found.NOT_ASKED ? min : wait;
                    wait = Math.min(wait, gate.restNanos());
                    failures = 0;
                    recovered();
                } catch (RuntimeException | Error e) {
                    claiming.close();
                    wait = BACKOFF.after(++failures).toNanos();
                    failed(e);
                }
                signal.await(wait);
            }
        } catch (InterruptedException e) {
            LOG.warn("worker {} was interrupted and claims nothing more", settings.name());
        }
    }

    private Found round() {
        Connection tx = claiming.connection();
        takeBack(tx);
        boolean opened = gate.open(tx);
        if (!trusted.getAsBoolean()) {
            return Found.NOTHING;
        }
        // Before the crews are asked: whoever has room just after it is heard.
        more = true;
        Claiming.Taken taken = claiming.take();
        more = taken.full() || taken.left();
        if (taken.full() && crews.stream().anyMatch(Crew::wantsMore)) {
            second.wake();
            return Found.MORE;
        }
        return opened || taken.some() ? Found.SOME : taken.asked() ? Found.NOTHING : Found.NOT_ASKED;
    }

    /** What was claimed though the answer was lost would stay with us for as long as we live. */
    private void takeBack(Connection tx) {
        long began = System.nanoTime();
        if (isUnsure() && !second.isBusy() && takingBack.isDue(began)) {
            int jobs;
            try {
                jobs = database.transactOn(tx, this::takeBackUnknown);
            } finally {
                // Whether it succeeds or not: it must not keep the process from claiming.
                takingBack.done(began, System.nanoTime());
            }
            if (jobs > 0) {
                LOG.info("worker {} put back {} jobs whose claim was never answered", settings.name(), jobs);
            }
        }
    }

    private int takeBackUnknown(Connection tx) {
        List<Settler.Settled> unknown = table.findUnknown(tx, held.fences(), Claiming.CLAIM_MAX).entrySet().stream()
                .map(each -> new Settler.Settled(
                        each.getKey(),
                        each.getValue() ? Verdict.handBack().cancelled() : Verdict.handBack(),
                        null,
                        settings.name()))
                .toList();
        if (!unknown.isEmpty()) {
            settler.apply(tx, unknown);
        }
        return unknown.size();
    }

    private boolean isUnsure() {
        return unsureUntilNanos - System.nanoTime() > 0;
    }

    private void failed(Throwable e) {
        unsureUntilNanos = System.nanoTime() + UNSURE_NANOS;
        if (!failing) {
            failing = true;
            LOG.warn(
                    "worker {} stopped claiming: {}",
                    settings.name(),
                    e.getMessage(),
                    e instanceof DatabaseException ? null : e);
        }
    }

    private void recovered() {
        if (failing) {
            failing = false;
            LOG.info("worker {} claims again", settings.name());
        }
    }
}
