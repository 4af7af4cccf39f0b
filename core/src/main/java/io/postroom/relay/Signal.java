package io.postroom.relay;

import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/** Wakes one thread: a signal raised before it waits is not lost, and several raised at once count as one. */
final class Signal {
    private final Semaphore raised = new Semaphore(0);
    private volatile boolean stopping;

    void raise() {
        if (raised.availablePermits() == 0) {
            raised.release();
        }
    }

    /** Tells the thread to come to an end, and wakes it. */
    void stop() {
        stopping = true;
        raise();
    }

    /** Whether the thread was told to come to an end. */
    boolean isStopping() {
        return stopping;
    }

    /** Returns when the signal is raised or the time is over, whichever comes first; true if it was raised. */
    boolean await(long nanos) throws InterruptedException {
        boolean wasRaised = raised.tryAcquire(Math.max(nanos, 0), TimeUnit.NANOSECONDS);
        if (wasRaised) {
            raised.drainPermits();
        }
        return wasRaised;
    }
}
