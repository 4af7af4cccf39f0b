package io.postroom.relay;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Named daemon threads. */
final class Threads {
    private static final Logger LOG = LoggerFactory.getLogger(Threads.class);

    private static final long AGAIN_NANOS = 100_000_000L;

    private Threads() {}

    static Thread start(String name, Runnable body) {
        Thread thread = new Thread(body, name);
        thread.setDaemon(true);
        thread.setUncaughtExceptionHandler((dead, e) -> LOG.error("thread {} died", dead.getName(), e));
        thread.start();
        return thread;
    }

    /**
     * A thread that everything hangs on: its body returns when it is to end, and is begun again when something is thrown out of it, be it
     * that there is no memory to log what was thrown before.
     */
    static Thread keep(String name, Runnable body) {
        return start(name, () -> {
            while (!isDone(body)) {
                // Whatever it is, it is likely to come again: not in a tight loop.
                LockSupport.parkNanos(AGAIN_NANOS);
            }
        });
    }

    private static boolean isDone(Runnable body) {
        try {
            body.run();
            return true;
        } catch (Throwable e) {
            try {
                LOG.error(
                        "thread {} goes on after an error",
                        Thread.currentThread().getName(),
                        e);
            } catch (Throwable unsaid) {
                // Nobody can be told; the work is what matters.
            }
            return false;
        }
    }

    /** Waits for a thread to end, for the given time at most. */
    static void await(Thread thread, Duration patience) {
        try {
            if (thread != Thread.currentThread()) {
                thread.join(Math.max(1, patience.toMillis()));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Waits for a thread to end; after the given time it is interrupted. */
    static void join(@Nullable Thread thread, Duration patience) {
        if (thread == null || thread == Thread.currentThread()) {
            return;
        }
        try {
            thread.join(Math.max(1, patience.toMillis()));
            if (thread.isAlive()) {
                thread.interrupt();
                thread.join(1_000);
            }
        } catch (InterruptedException e) {
            thread.interrupt();
            Thread.currentThread().interrupt();
        }
    }
}
