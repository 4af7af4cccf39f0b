package io.postroom.idempotency;

import io.postroom.PostroomException;
import io.postroom.postgres.Database;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Renews leases while steps go on, each at a third of its time, on one thread that ends when there is nothing to renew. If renewing
 * fails the lease runs out: then another goes on, and the fence refuses whatever the former owner still tries.
 */
final class Renewal {
    private static final Logger LOG = LoggerFactory.getLogger(Renewal.class);
    private static final long IDLE_SECONDS = 10;

    private final Database database;
    private final StepTable table;
    private final ScheduledThreadPoolExecutor thread;

    Renewal(Database database, StepTable table) {
        this.database = database;
        this.table = table;
        this.thread = new ScheduledThreadPoolExecutor(1, work -> {
            Thread made = new Thread(work, "postroom-idempotency-lease");
            made.setDaemon(true);
            return made;
        });
        thread.setKeepAliveTime(IDLE_SECONDS, TimeUnit.SECONDS);
        thread.allowCoreThreadTimeOut(true);
        thread.setRemoveOnCancelPolicy(true);
    }

    /** Renews until it is stopped, or the steps have taken too long. */
    Beat keep(Steps steps, KeyPolicy policy) {
        long third = policy.lease().toNanos() / 3;
        long end = System.nanoTime() + policy.runtimeMax().toNanos();
        ScheduledFuture<?> beat = thread.scheduleWithFixedDelay(
                () -> {
                    if (System.nanoTime() - end > 0) {
                        LOG.warn(
                                "steps of {} take longer than {}; the lease is not renewed any more",
                                steps.key(),
                                policy.runtimeMax());
                        throw new RejectedExecutionException("over");
                    }
                    renew(steps, policy);
                },
                third,
                third,
                TimeUnit.NANOSECONDS);
        return () -> beat.cancel(false);
    }

    private void renew(Steps steps, KeyPolicy policy) {
        try {
            if (!database.run(tx -> table.renew(tx, steps.held(), policy.lease())) && steps.answered() == null) {
                steps.lose();
            }
        } catch (PostroomException e) {
            LOG.warn("could not renew the lease of {}: {}; it is tried again", steps.key(), e.getMessage());
        }
    }

    /** A lease that is kept until this is stopped. */
    interface Beat {
        void stop();
    }
}
