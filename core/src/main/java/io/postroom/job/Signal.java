package io.postroom.job;

import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/** Wakes one thread: a signal raised before it waits is not lost, and several raised at once count as one. */
final class Signal {
    private final Semaphore raised = new Semaphore(0);

    void raise() {
        if (raised.availablePermits() == 0) {
            raised.release();
        }
    }

    /** Returns when the signal is raised or the time is over, whichever comes first: whether it was raised. */
    boolean await(long nanos) throws InterruptedException {
        boolean heard = raised.tryAcquire(Math.max(nanos, 0), TimeUnit.NANOSECONDS);
        if (heard) {
            raised.drainPermits();
        }
        return heard;
    }
}
