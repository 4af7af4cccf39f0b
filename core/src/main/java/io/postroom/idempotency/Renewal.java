package io.postroom.idempotency;

import io.postroom.postgres.Database;
import io.postroom.postgres.DatabaseException;
import io.postroom.postgres.Session;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Renews leases while steps go on, each at a third of its time, on one thread that ends when there is nothing to renew. Those that are due
 * soon go along. It has a connection of its own from the first steps on, and for a while after the last: a pool that steps have emptied must not
 * let their leases run out. If renewing fails the lease runs out: then another goes on, and the fence refuses whatever the former owner still
 * tries.
 */
final class Renewal {
    private static final Logger LOG = LoggerFactory.getLogger(Renewal.class);
    private static final long IDLE_SECONDS = 10;

    private static final Duration OPEN_WITHIN = Duration.ofSeconds(10);

    /** How many one statement renews. */
    private static final int TOGETHER_MAX = 1_000;

    private final Database database;
    private final StepTable table;
    private final ScheduledThreadPoolExecutor thread;
    private final Set<Kept> all = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean closing = new AtomicBoolean();
    /** Changed by the thread that renews only. */
    private volatile @Nullable Session session;

    private boolean failing;

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

    /** Steps that go on. */
    private static final class Kept {
        private final Steps steps;
        private final KeyPolicy policy;
        private final long third;
        private final long end;
        private final Thread runner = Thread.currentThread();
        /** Guarded by this. */
        private boolean ended;
        /** Guarded by this. */
        private boolean interrupted;
        /** For the thread that renews alone. */
        private long due;

        private Kept(Steps steps, KeyPolicy policy) {
            this.steps = steps;
            this.policy = policy;
            this.third = policy.lease().toNanos() / 3;
            this.end = System.nanoTime() + policy.runtimeMax().toNanos();
            this.due = System.nanoTime() + third;
        }

        /** Whoever hangs is to come back: the lease is lost to it. Not after its steps have ended: the thread does other things then. */
        private synchronized void interrupt() {
            if (!ended) {
                interrupted = true;
                runner.interrupt();
            }
        }

        /** On the thread of the steps, which keeps no interrupt of ours. */
        private synchronized void end() {
            ended = true;
            if (interrupted && Thread.currentThread() == runner) {
                interrupted = false;
                Thread.interrupted();
            }
        }

        private boolean isOver() {
            return System.nanoTime() - end > 0;
        }

        private boolean isDueSoon() {
            return !isOver() && due - System.nanoTime() < third / 4;
        }
    }

    /** Renews until it is stopped, or the steps have taken too long: then the caller's thread is interrupted. */
    Beat keep(Steps steps, KeyPolicy policy) {
        Kept kept = new Kept(steps, policy);
        all.add(kept);
        if (session == null) {
            // Now, while there is one: the steps may take all others.
            thread.execute(this::openQuietly);
        }
        ScheduledFuture<?> beat =
                thread.scheduleWithFixedDelay(() -> beat(kept), kept.third, kept.third / 2, TimeUnit.NANOSECONDS);
        return () -> {
            kept.end();
            all.remove(kept);
            beat.cancel(false);
            if (all.isEmpty() && closing.compareAndSet(false, true)) {
                thread.schedule(this::closeIfIdle, IDLE_SECONDS, TimeUnit.SECONDS);
            }
        };
    }

    private void beat(Kept kept) {
        if (kept.isOver()) {
            if (all.remove(kept)) {
                LOG.warn(
                        "steps of {} take longer than {}; they are interrupted, and the lease is not renewed any more",
                        kept.steps.key(),
                        kept.policy.runtimeMax());
                kept.interrupt();
            }
        } else if (kept.isDueSoon()) {
            List<Kept> due = new ArrayList<>();
            due.add(kept);
            all.stream()
                    .filter(other -> other != kept && other.isDueSoon())
                    .limit(TOGETHER_MAX - 1)
                    .forEach(due::add);
            renew(due);
        }
    }

    private void renew(List<Kept> due) {
        long leastNanos = due.stream().mapToLong(each -> each.third).min().orElseThrow();
        try {
            List<Boolean> ours = table.renew(
                    open(Duration.ofNanos(leastNanos)).connection(),
                    due.stream()
                            .map(each -> new StepTable.Lease(each.steps.held(), each.policy.lease()))
                            .toList());
            for (int i = 0; i < due.size(); i++) {
                Kept each = due.get(i);
                each.due = System.nanoTime() + each.third;
                if (!ours.get(i) && each.steps.answered() == null) {
                    each.steps.lose();
                }
            }
            failing = false;
        } catch (RuntimeException e) {
            // Whatever it is: an executor forgets a task that throws.
            closeSession();
            if (!failing) {
                failing = true;
                LOG.warn(
                        "could not renew the leases of {} and {} others: {}; it is tried again",
                        due.get(0).steps.key(),
                        due.size() - 1,
                        e.getMessage());
            }
        }
    }

    /** {@code answerWithin}: there must be time for another try. */
    private Session open(Duration answerWithin) {
        Session current = session;
        if (current == null) {
            current = database.open(answerWithin);
            session = current;
        }
        try {
            // Opened for other steps, perhaps: each have their own time.
            current.connection()
                    .setNetworkTimeout(Runnable::run, Math.toIntExact(Math.max(1, answerWithin.toMillis())));
            return current;
        } catch (SQLException e) {
            throw DatabaseException.of("renew leases", e);
        }
    }

    /** What is wrong is said when a lease is to be renewed. */
    private void openQuietly() {
        if (session == null && !all.isEmpty()) {
            try {
                open(OPEN_WITHIN);
            } catch (RuntimeException e) {
                LOG.debug("no connection to renew leases yet: {}", e.getMessage());
            }
        }
    }

    private void closeIfIdle() {
        closing.set(false);
        if (all.isEmpty()) {
            closeSession();
        }
    }

    private void closeSession() {
        Session current = session;
        session = null;
        if (current != null) {
            current.close();
        }
    }

    /** A lease that is kept until this is stopped. */
    interface Beat {
        void stop();
    }
}
