package io.postroom.job;

import java.time.Duration;

/** Bounds what something costs: it is due again only after a multiple of the time it took, and so has a small share of all time. */
final class Pace {
    /** So that it takes a twentieth of the time at most. */
    private static final int TIMES = 20;

    private final int times;
    private final long leastNanos;
    private final long mostNanos;
    private long notBeforeNanos = System.nanoTime();

    /** {@code least} and {@code most} bound the pause, whatever it costs. */
    Pace(Duration least, Duration most) {
        this(least, most, TIMES);
    }

    /** {@code times}: how much longer the pause is than what it costs. */
    Pace(Duration least, Duration most, int times) {
        this.times = times;
        this.leastNanos = least.toNanos();
        this.mostNanos = most.toNanos();
    }

    boolean isDue(long nowNanos) {
        return nowNanos - notBeforeNanos >= 0;
    }

    /** How long until it is due. */
    long restNanos(long nowNanos) {
        return Math.max(0, notBeforeNanos - nowNanos);
    }

    /** It was done, from then until now. */
    void done(long beganNanos, long nowNanos) {
        long pause = Math.max(leastNanos, Math.min(mostNanos, (nowNanos - beganNanos) * times));
        notBeforeNanos = nowNanos + pause;
    }
}
