package io.postroom.schedule;

import io.postroom.postgres.DatabaseException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks for schedules that are due, on a thread of its own, until it is closed. Any number of nodes may have one; if all but one die, that
 * one goes on. If the process dies between two steps, each time that was noted has its job, and the others are still due.
 */
public final class Scheduler implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Scheduler.class);
    private static final Duration LOOK = Duration.ofMillis(250);
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    /** Once in so many looks, old runs are forgotten. */
    private static final int FORGET_EVERY = 4_000;

    private final Firing firing;
    private final CountDownLatch stop = new CountDownLatch(1);
    private final Thread thread;
    private boolean failing;

    Scheduler(Firing firing) {
        this.firing = firing;
        thread = new Thread(this::run, "postroom-schedule");
        thread.setDaemon(true);
        thread.start();
    }

    /** Ends when closed; trouble with the database makes it try again. */
    private void run() {
        try {
            boolean more = false;
            for (int looks = 1; !stop.await(more ? 0 : LOOK.toMillis(), TimeUnit.MILLISECONDS); looks++) {
                more = look(looks % FORGET_EVERY == 0);
            }
        } catch (InterruptedException e) {
            LOG.warn("the thread of schedules was interrupted and ends");
        }
    }

    /** Returns whether there may be more that is due. */
    private boolean look(boolean forget) {
        try {
            boolean more = firing.look(null).more();
            if (forget) {
                firing.forget();
            }
            failing = false;
            return more;
        } catch (RuntimeException | Error e) {
            if (!failing) {
                failing = true;
                LOG.warn(
                        "could not look for schedules: {}; it tries again",
                        e.getMessage(),
                        e instanceof DatabaseException ? null : e);
            }
            return false;
        }
    }

    @Override
    public void close() {
        stop.countDown();
        try {
            thread.join(PATIENCE.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
