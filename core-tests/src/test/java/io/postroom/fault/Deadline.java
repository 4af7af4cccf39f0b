package io.postroom.fault;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/** Waits for something that only shows when one looks, up to a deadline. */
final class Deadline {
    private static final long LOOK_AGAIN_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    private Deadline() {}

    /** A condition that may itself be interrupted or fail. */
    @FunctionalInterface
    interface Condition {
        boolean holds() throws Exception;
    }

    static void await(String what, Duration within, Condition condition) {
        await(() -> what, within, condition);
    }

    /** {@code what} is asked only if the time is over. */
    static void await(Supplier<String> what, Duration within, Condition condition) {
        long deadline = System.nanoTime() + within.toNanos();
        while (true) {
            if (isMet(condition)) {
                return;
            }
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError("not within " + within + ": " + what.get());
            }
            LockSupport.parkNanos(LOOK_AGAIN_NANOS);
        }
    }

    private static boolean isMet(Condition condition) {
        try {
            return condition.holds();
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}
