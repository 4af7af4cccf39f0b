package io.postroom.relay;

import io.postroom.retry.Backoff;
import io.postroom.retry.Fault;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whether a destination takes messages, as this relay sees it: shared by the lanes that send to it.
 *
 * <p>Closed, all flows. When a sink says that it is unavailable the circuit opens: nothing is sent for a while, then one message of
 * one lane goes as a probe. If the destination answers for itself, whatever it answers, all flows again; if not, the next wait is
 * longer. When it says that it wants no more for good, no probe goes: the subscription is to be paused, and whoever takes a lane of it
 * after that finds the circuit closed.
 *
 * <p>Where nobody has said that the destination is at fault, {@link Blame} finds out; then only what it accepts, or rejects for good,
 * closes the circuit. Safe for use by many threads.
 */
final class Circuit {
    private static final Logger LOG = LoggerFactory.getLogger(Circuit.class);

    private final String subscription;
    private final Backoff backoff;
    private final Runnable changed;
    private volatile boolean closed = true;
    private final Blame blame = new Blame();
    private final Outage outage = new Outage();
    private int failures;
    private long probeAtNanos;
    private @Nullable LaneProbes prober;
    private boolean probeSent;
    private @Nullable Fault fault;
    private boolean gone;

    /** {@code changed} runs when the circuit opens or closes, or the next probe moves. */
    Circuit(String subscription, Backoff backoff, Runnable changed) {
        this.subscription = subscription;
        this.backoff = backoff;
        this.changed = changed;
    }

    /** What operators see of an open circuit. */
    record View(int failures, Duration probeIn, Fault fault) {}

    /** Whose fault it is that the destination does not accept messages. */
    Blame blame() {
        return blame;
    }

    boolean isClosed() {
        return closed;
    }

    /** Whether this lane may send one message now, to find out how the destination is. */
    synchronized boolean mayProbe(LaneProbes lane) {
        return !closed
                && !gone
                && !probeSent
                && (prober == null || prober == lane)
                && probeAtNanos - System.nanoTime() <= 0;
    }

    /** The lane sends a probe now. */
    synchronized void probing(LaneProbes lane) {
        prober = lane;
        probeSent = true;
    }

    /** The lane ends; a probe of its own is not awaited. */
    synchronized void leave(LaneProbes lane) {
        if (prober == lane) {
            prober = null;
            probeSent = false;
        }
    }

    /** How long until a probe may go. */
    synchronized long waitNanos() {
        return closed || probeSent ? 0 : probeAtNanos - System.nanoTime();
    }

    /** Whether a probe is on its way and its answer is awaited. */
    synchronized boolean isProbing() {
        return !closed && probeSent;
    }

    /**
     * The destination has answered for itself: it accepted a message, or has something against it.
     *
     * @param sentNanos when that message was sent
     */
    void answered(long sentNanos) {
        blame.answered(sentNanos);
        closeIfOpen();
    }

    /** The destination has accepted a message. */
    void accepted(long sentNanos) {
        blame.accepted(sentNanos);
        closeIfOpen();
    }

    private void closeIfOpen() {
        // What was on its way when the destination said that it wants no more does not unsay it.
        if (!closed && wantsNoMore().isEmpty()) {
            close().ifPresent(lasted -> LOG.info(
                    "the destination of subscription {} answers again, it took nothing for {} s",
                    subscription,
                    lasted.toMillis() / 1000.0));
        }
    }

    /** A probe failed by itself, which tells nothing about the destination: another one may go at once. */
    void passOver(LaneProbes lane) {
        leave(lane);
        changed.run();
    }

    /** Returns how long it was open, unless another thread has closed it already. */
    private Optional<Duration> close() {
        Optional<Duration> lasted;
        synchronized (this) {
            closed = true;
            gone = false;
            failures = 0;
            prober = null;
            probeSent = false;
            fault = null;
            lasted = outage.end(System.nanoTime());
        }
        changed.run();
        return lasted;
    }

    /**
     * The destination takes nothing. Answers of messages that were on their way when it opened, or during one probe, are one failure,
     * not many.
     *
     * @return whether this is worth a word: not each time that a probe finds it so
     */
    boolean unavailable(Fault cause, @Nullable Duration after, boolean byProbe) {
        return open(cause, after, byProbe, RelaySettings.PAUSE_MAX);
    }

    /** The same, of a destination that has not said so itself: a probe goes after the given time at the latest. */
    boolean suspected(Fault cause, boolean byProbe, Duration most) {
        return open(cause, null, byProbe, most);
    }

    private boolean open(Fault cause, @Nullable Duration after, boolean byProbe, Duration most) {
        boolean news;
        synchronized (this) {
            if (gone || !closed && !byProbe) {
                return false;
            }
            closed = false;
            failures++;
            fault = cause;
            Duration wait = after == null ? backoff.after(failures) : after;
            Duration bounded = wait.compareTo(most) > 0 ? most : wait;
            long now = System.nanoTime();
            probeAtNanos = now + bounded.toNanos();
            prober = null;
            probeSent = false;
            news = outage.goesOn(now);
        }
        changed.run();
        return news;
    }

    /**
     * The destination wants no more, for good.
     *
     * @return whether this was news
     */
    boolean gone(Fault cause) {
        synchronized (this) {
            if (gone) {
                return false;
            }
            closed = false;
            gone = true;
            failures++;
            fault = cause;
            probeAtNanos = System.nanoTime() + RelaySettings.PAUSE_MAX.toNanos();
            prober = null;
            probeSent = false;
        }
        changed.run();
        return true;
    }

    /** What the destination said when it wanted no more. */
    synchronized Optional<Fault> wantsNoMore() {
        return gone ? Optional.ofNullable(fault) : Optional.empty();
    }

    /** Somebody has resumed the subscription: what the destination said before counts no longer. */
    void resumed() {
        if (wantsNoMore().isPresent()) {
            close();
        }
    }

    synchronized Optional<View> view() {
        Fault cause = fault;
        return closed || cause == null
                ? Optional.empty()
                : Optional.of(
                        new View(failures, Duration.ofNanos(Math.max(probeAtNanos - System.nanoTime(), 0)), cause));
    }
}
