package io.postroom.job;

import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;

/**
 * One attempt while its handler is at it. Whoever comes first decides: the handler's return, or whoever gives up on it.
 *
 * <p>Safe for use by many threads. A thread is never interrupted for a job that it has finished.
 */
final class Run {
    /** Why a handler was interrupted. */
    enum Why {
        NONE,
        DEADLINE,
        CANCEL,
        LOST,
        STOP
    }

    private final ClaimedJob job;
    private final JobContext context;
    private final Duration deadline;
    private final Thread thread = Thread.currentThread();
    private final long begunNanos = System.nanoTime();
    private final Set<Why> told = EnumSet.noneOf(Why.class);
    private Why why = Why.NONE;
    private long interruptedNanos;
    private boolean over;
    private boolean abandoned;

    /** Made by the thread that is about to run the handler. */
    Run(ClaimedJob job, JobContext context, Duration deadline) {
        this.job = job;
        this.context = context;
        this.deadline = deadline;
    }

    ClaimedJob job() {
        return job;
    }

    JobContext context() {
        return context;
    }

    Thread thread() {
        return thread;
    }

    Duration deadline() {
        return deadline;
    }

    long tookNanos() {
        return System.nanoTime() - begunNanos;
    }

    boolean isOverdue() {
        return tookNanos() > deadline.toNanos();
    }

    synchronized Why why() {
        return why;
    }

    /** Interrupts the handler, once for each reason; the first reason stays. */
    synchronized void interrupt(Why reason) {
        if (over || abandoned || !told.add(reason)) {
            return;
        }
        if (why == Why.NONE) {
            why = reason;
        }
        interruptedNanos = System.nanoTime();
        thread.interrupt();
    }

    /** Whether it was interrupted so long ago, for whatever reason came last. */
    synchronized boolean isDeafFor(Duration patience) {
        return why != Why.NONE && System.nanoTime() - interruptedNanos > patience.toNanos();
    }

    /** The handler has returned. False: somebody has given up on it, and its thread must end. */
    synchronized boolean finish() {
        over = true;
        // Interrupts were meant for the handler; none comes after this.
        Thread.interrupted();
        return !abandoned;
    }

    /** Gives up on the handler. False: it has returned. */
    synchronized boolean abandon() {
        if (over || abandoned) {
            return false;
        }
        abandoned = true;
        return true;
    }
}
