package io.postroom.lock;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Waits for what only shows when one looks. */
final class Patience {
    static final Duration LONG = Duration.ofSeconds(60);

    private static final long LOOK_AGAIN_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    private Patience() {}

    /** A condition that may itself fail. */
    @FunctionalInterface
    interface Condition {
        boolean holds() throws Exception;
    }

    static void await(String what, Condition condition) throws Exception {
        long deadline = System.nanoTime() + LONG.toNanos();
        while (!condition.holds()) {
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError("not within " + LONG + ": " + what);
            }
            LockSupport.parkNanos(LOOK_AGAIN_NANOS);
        }
    }
}
