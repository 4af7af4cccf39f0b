package io.postroom.job;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Named daemon threads. */
final class Threads {
    private static final Logger LOG = LoggerFactory.getLogger(Threads.class);

    private Threads() {}

    static Thread start(String name, Runnable body) {
        Thread thread = new Thread(body, name);
        thread.setDaemon(true);
        thread.setUncaughtExceptionHandler((dead, e) -> LOG.error("thread {} died", dead.getName(), e));
        thread.start();
        return thread;
    }

    /** Waits for a thread to end, for the given time at most; returns whether it has. */
    static boolean join(@Nullable Thread thread, Duration patience) {
        if (thread == null || thread == Thread.currentThread()) {
            return true;
        }
        try {
            thread.join(Math.max(1, patience.toMillis()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return !thread.isAlive();
    }
}
