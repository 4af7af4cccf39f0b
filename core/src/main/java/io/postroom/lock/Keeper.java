package io.postroom.lock;

import io.postroom.postgres.Database;
import io.postroom.postgres.DatabaseException;
import io.postroom.postgres.Session;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Renews leases, each at a third of its time, and finds out which could not be renewed in time. One thread talks to the database, on a
 * connection of its own from the first renewal on while there is a lease; another has nothing to do but to look at the clock, so
 * that a database that does not answer cannot keep it. Both end when there is nothing to keep. Safe for use by many threads.
 */
final class Keeper {
    private static final Logger LOG = LoggerFactory.getLogger(Keeper.class);

    private final Database database;
    private final LeaseTable table;
    private final ScheduledThreadPoolExecutor renewing = Timers.make("postroom-lease");
    private final ScheduledThreadPoolExecutor watching = Timers.make("postroom-lease-watch");
    private final Map<Lease, Kept> all = new ConcurrentHashMap<>();

    /** Touched by the thread that renews only. */
    private volatile @Nullable Session session;

    Keeper(Database database, LeaseTable table) {
        this.database = database;
        this.table = table;
    }

    /** A lease, and what is to be done about it next. */
    private static final class Kept {
        final long keepUntilNanos;
        volatile @Nullable Future<?> beat;
        volatile @Nullable Future<?> watch;
        boolean failing;

        Kept(long keepUntilNanos) {
            this.keepUntilNanos = keepUntilNanos;
        }
    }

    void keep(Lease lease) {
        Kept kept = new Kept(System.nanoTime() + lease.terms().heldMax().toNanos());
        all.put(lease, kept);
        beatAfter(lease, kept, lease.terms().third());
        watchAfter(lease, kept);
    }

    void letGo(Lease lease) {
        Kept kept = all.remove(lease);
        if (kept != null) {
            cancel(kept.beat);
            cancel(kept.watch);
            renewing.execute(this::closeIfIdle);
        }
    }

    private static void cancel(@Nullable Future<?> task) {
        if (task != null) {
            task.cancel(false);
        }
    }

    private void beatAfter(Lease lease, Kept kept, Duration wait) {
        kept.beat = renewing.schedule(() -> beat(lease, kept), wait.toNanos(), TimeUnit.NANOSECONDS);
    }

    private void watchAfter(Lease lease, Kept kept) {
        kept.watch = watching.schedule(() -> watch(lease, kept), Math.max(1, lease.leftNanos()), TimeUnit.NANOSECONDS);
    }

    private void watch(Lease lease, Kept kept) {
        if (!all.containsKey(lease)) {
            return;
        }
        if (lease.leftNanos() <= 0) {
            lease.lose("it was not renewed in time");
        } else {
            watchAfter(lease, kept);
        }
    }

    private void beat(Lease lease, Kept kept) {
        if (!all.containsKey(lease)) {
            return;
        }
        if (System.nanoTime() - kept.keepUntilNanos >= 0) {
            LOG.warn(
                    "lease {} with fence {} was held for {}; it is not renewed any more",
                    LockName.shown(lease.name()),
                    lease.fence(),
                    lease.terms().heldMax());
            return;
        }
        boolean renewed = renew(lease, kept);
        // Something may have been in the way for a moment only: there is time for several tries.
        Duration third = lease.terms().third();
        beatAfter(lease, kept, renewed ? third : third.dividedBy(4));
    }

    private boolean renew(Lease lease, Kept kept) {
        long sentNanos = System.nanoTime();
        try {
            LeaseTable.Renewal renewal = table.renew(
                    open(lease.terms().lease().dividedBy(2)).connection(),
                    lease.held(),
                    lease.terms().lease());
            kept.failing = false;
            if (renewal.renewed()) {
                lease.renewed(sentNanos);
            } else if (!renewal.held()) {
                lease.lose("another has taken it");
            }
            return renewal.renewed();
        } catch (RuntimeException | Error e) {
            // Whatever it is: an executor forgets a task that throws.
            closeSession();
            if (!kept.failing) {
                kept.failing = true;
                LOG.warn(
                        "could not renew lease {}: {}; it is tried again",
                        LockName.shown(lease.name()),
                        e.getMessage());
            }
            return false;
        }
    }

    private Session open(Duration answerWithin) {
        Session current = session;
        if (current == null) {
            current = database.open(answerWithin);
            session = current;
        }
        try {
            // Opened for another lease, perhaps: each has its own time.
            current.connection().setNetworkTimeout(Runnable::run, Math.toIntExact(answerWithin.toMillis()));
            return current;
        } catch (SQLException e) {
            throw DatabaseException.of("renew a lease", e);
        }
    }

    private void closeIfIdle() {
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
}
