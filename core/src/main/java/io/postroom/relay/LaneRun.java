package io.postroom.relay;

import io.postroom.postgres.DatabaseException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Keeps one lane going: on a thread of its own, or step by step on the caller's. */
final class LaneRun {
    private static final Logger LOG = LoggerFactory.getLogger(LaneRun.class);

    /** A broken lane waits as long as after so many failures. */
    private static final int BROKEN_FAILURES = 4;

    private final Lane lane;
    private final RelaySettings settings;
    private final Consumer<Boolean> ended;
    private volatile boolean draining;
    private volatile long drainUntilNanos;
    private volatile boolean abandoned;
    private volatile @Nullable Thread thread;
    private final AtomicBoolean over = new AtomicBoolean();
    /** Only the heartbeat's thread uses it. */
    private final List<Thread> hung = new ArrayList<>();

    private boolean allHang;

    /** {@code ended} is told once whether the lease was lost. */
    LaneRun(Lane lane, RelaySettings settings, Consumer<Boolean> ended) {
        this.lane = lane;
        this.settings = settings;
        this.ended = ended;
    }

    Lane lane() {
        return lane;
    }

    void start() {
        startThread(null);
    }

    /** Without a thread nobody works on the lane: then it is not ours, and its lease is to run out. */
    private void startThread(@Nullable Slot hung) {
        try {
            thread = Threads.start(threadName(), () -> run(hung));
        } catch (RuntimeException | Error e) {
            giveUp();
            throw e;
        }
    }

    private void giveUp() {
        abandoned = true;
        lane.leave();
        end(true);
    }

    private void end(boolean lost) {
        if (over.compareAndSet(false, true)) {
            ended.accept(lost);
        }
    }

    /** Lets another thread go on with a lane whose own hangs in the sink, over the deadline. For the thread of the heartbeat. */
    void watch() {
        Thread hanging = thread;
        if (hanging != null && !hanging.isAlive() && !over.get()) {
            LOG.error(
                    "lane {} of subscription {} has lost its thread; it is taken again when its lease has run out",
                    lane.held().lane(),
                    lane.held().subscription());
            giveUp();
            return;
        }
        LaneSends.Hold inHand = lane.sending().inHand();
        if (hanging == null || inHand == null || isYoung(inHand.slot())) {
            return;
        }
        hung.removeIf(each -> !each.isAlive());
        if (hung.size() >= RelaySettings.HUNG_MAX) {
            sayThatAllHang();
            return;
        }
        allHang = false;
        if (lane.sending().wrest(inHand)) {
            hung.add(hanging);
            // Most of what blocks ends by this; what it returns or throws is of no interest any more.
            hanging.interrupt();
            startThread(inHand.slot());
        }
    }

    /** Once, not at every look. */
    private void sayThatAllHang() {
        if (!allHang) {
            allHang = true;
            LOG.error(
                    "lane {} of subscription {} waits: {} of its threads hang in the sink",
                    lane.held().lane(),
                    lane.held().subscription(),
                    hung.size() + 1);
        }
    }

    private boolean isYoung(Slot slot) {
        return System.nanoTime() - slot.sentNanos() < lane.deadline().toNanos();
    }

    private String threadName() {
        return "postroom-lane-" + lane.held().subscription() + "-" + lane.held().lane();
    }

    /** Asks the lane to finish what is on its way and give itself back; a sink that does not answer in time is not awaited. */
    void drain() {
        if (!draining) {
            drainUntilNanos = System.nanoTime() + settings.stopGrace().toNanos();
            draining = true;
        }
        lane.signal().stop();
    }

    /** The lease is lost: stop at once, settle nothing. */
    void abandon() {
        abandoned = true;
        lane.signal().stop();
    }

    /** Whether the relay was told that the lease is lost. */
    boolean isAbandoned() {
        return abandoned;
    }

    /** Waits until the lane has ended, or the time has come. */
    void join(long deadlineNanos) {
        if (thread == null) {
            finish();
        } else {
            Threads.await(thread, Duration.ofNanos(Math.max(deadlineNanos - System.nanoTime(), 1)));
        }
    }

    /** Wakes a lane that hangs in a handler. */
    void interrupt() {
        Thread running = thread;
        if (running != null) {
            running.interrupt();
        }
    }

    /** Steps until nothing more can be done, waiting for the sink's answers. */
    long deliverAll() {
        long accepted = 0;
        long deadline = System.nanoTime() + settings.stopGrace().toNanos();
        boolean more = true;
        while (more) {
            long progress = lane.step(false);
            accepted += progress;
            boolean waiting = lane.inFlight() > 0 || lane.awaitsQuiet();
            if (waiting) {
                await(1_000_000);
            } else if (progress == 0 && lane.restNanos() > 0) {
                // What is written may let others go: those behind it, or what comes after a replay.
                lane.settle();
                more = lane.restNanos() == 0;
            }
            more &= System.nanoTime() - deadline < 0;
        }
        lane.settle();
        return accepted;
    }

    /** Gives the lane back on the caller's thread. */
    void finish() {
        boolean lost = false;
        try {
            lane.leave();
            lane.release();
        } catch (LostLeaseException e) {
            lost = true;
            LOG.warn(e.getMessage());
        } catch (DatabaseException e) {
            LOG.warn(
                    "could not give back lane {} of subscription {}: {}; its lease runs out",
                    lane.held().lane(),
                    lane.held().subscription(),
                    e.getMessage());
        } catch (RuntimeException | Error e) {
            LOG.error(
                    "could not give back lane {} of subscription {}; its lease runs out",
                    lane.held().lane(),
                    lane.held().subscription(),
                    e);
        } finally {
            // Whatever happens: a lane that nobody works on must not be renewed.
            end(lost);
        }
    }

    /**
     * Ends when the lane is drained or its lease lost; trouble with the database makes it wait.
     *
     * @param hung the message that the thread before hangs with
     */
    private void run(@Nullable Slot hung) {
        boolean lost = false;
        boolean superseded = false;
        int failures = 0;
        try {
            if (hung != null) {
                lane.succeed(hung);
            }
            while (!abandoned) {
                try {
                    lane.step(draining);
                    failures = 0;
                    // A lane that is lost and to be given back at the same beat is lost.
                    if (draining && !abandoned && isDrained()) {
                        return;
                    }
                    await(draining ? 5_000_000 : lane.restNanos());
                } catch (DatabaseException e) {
                    if (failures++ == 0) {
                        LOG.warn(
                                "lane {} of subscription {} waits: {}",
                                lane.held().lane(),
                                lane.held().subscription(),
                                e.getMessage());
                    }
                    if (draining) {
                        return;
                    }
                    await(settings.backoff().after(Math.min(failures, 4)).toNanos());
                }
            }
            lost = true;
            LOG.warn(
                    "lost lane {} of subscription {}: fence {} is stale, another relay took the lane or the server was replaced; what"
                            + " was not settled is delivered again",
                    lane.held().lane(),
                    lane.held().subscription(),
                    lane.held().fence());
        } catch (LostLeaseException e) {
            lost = true;
            LOG.warn(e.getMessage());
        } catch (LaneSends.SupersededException e) {
            superseded = true;
        } catch (RuntimeException | Error e) {
            LOG.error(
                    "lane {} of subscription {} broke; it is given back and taken again from where it was settled",
                    lane.held().lane(),
                    lane.held().subscription(),
                    e);
            // What broke it is likely to break it again: not in a tight loop.
            await(settings.backoff().after(BROKEN_FAILURES).toNanos());
        } finally {
            if (lost) {
                lane.leave();
                end(true);
            } else if (!superseded) {
                finish();
            }
        }
    }

    private boolean isDrained() {
        if (lane.inFlight() == 0 && !lane.hasGaps()) {
            return true;
        }
        if (drainUntilNanos - System.nanoTime() > 0) {
            return false;
        }
        LOG.warn(
                "lane {} of subscription {} waits no longer for {} answers of its sink; those messages are delivered again",
                lane.held().lane(),
                lane.held().subscription(),
                lane.inFlight());
        return true;
    }

    private void await(long nanos) {
        try {
            lane.signal().await(nanos);
        } catch (InterruptedException e) {
            // Only a relay that closes does this, after its grace: end now. Giving the lane back must not be
            // interrupted too.
            drainUntilNanos = System.nanoTime();
            draining = true;
        }
    }
}
