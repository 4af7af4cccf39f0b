package io.postroom.lock;

import io.postroom.PostroomException;
import io.postroom.postgres.Database;
import io.postroom.postgres.DatabaseException;
import io.postroom.postgres.JoinedTransaction;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The right to act under a name until it is given back or lost. It is renewed by a thread of Postroom's while this process lives.
 *
 * <p>When the process dies, the lease runs out and another gets it, with a greater fence. A process that only stood still may not
 * notice: {@link #isHeld} is a hint. What it changes in this database is safe behind {@link #requireHeld}, what it changes elsewhere
 * behind {@link #fence}. Safe for use by many threads.
 */
public final class Lease implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Lease.class);

    /** However short a lease is: a process that is only slow must not lose its transaction to this. */
    private static final Duration IDLE_MIN = Duration.ofSeconds(10);

    private enum State {
        HELD,
        GIVEN_BACK,
        LOST
    }

    private final Database database;
    private final LeaseTable table;
    private final Keeper keeper;
    private final LeaseTable.Held held;
    private final LeaseTerms terms;

    private final Object lock = new Object();
    private final List<Runnable> onLost = new ArrayList<>();
    private State state = State.HELD;
    private volatile long endNanos;

    /** @param sentNanos when it was asked for: counted from there it ends here before it ends in the database */
    Lease(Database database, LeaseTable table, Keeper keeper, LeaseTable.Held held, LeaseTerms terms, long sentNanos) {
        this.database = database;
        this.table = table;
        this.keeper = keeper;
        this.held = held;
        this.terms = terms;
        renewed(sentNanos);
    }

    public String name() {
        return held.name();
    }

    /**
     * Greater than that of every lease of this name before, for ever. A store elsewhere that refuses what comes with a smaller fence
     * than it has seen is safe from holders that only think they are.
     */
    public long fence() {
        return held.fence();
    }

    /**
     * Whether nobody else can have it, as far as this process knows. By its own clock, which may have stood still with it: what depends
     * on it needs {@link #requireHeld} or {@link #fence}.
     */
    public boolean isHeld() {
        synchronized (lock) {
            return state == State.HELD && leftNanos() > 0;
        }
    }

    /**
     * Makes sure of the lease for the rest of a transaction: until it ends, nobody else gets the lease, and what it changes was changed by
     * the one holder. Throws if somebody else has taken it; then roll back.
     *
     * <p>Best called last, just before the commit. From here on PostgreSQL ends the transaction if it stands idle for longer than the
     * lease, and at least ten seconds: a process that stands still must not keep the name. In a REPEATABLE READ or SERIALIZABLE
     * transaction call it first, because each renewal of the lease changes its row.
     */
    public void requireHeld(Connection tx) {
        JoinedTransaction joined = new JoinedTransaction("lock", "make sure of lease " + LockName.shown(held.name()));
        joined.require(tx);
        synchronized (lock) {
            if (state != State.HELD) {
                throw new LeaseLostException(
                        held.name(),
                        held.fence(),
                        state == State.LOST ? "it was lost before" : "it was given back before");
            }
        }
        Duration idle = terms.lease().compareTo(IDLE_MIN) < 0 ? IDLE_MIN : terms.lease();
        boolean ours;
        try {
            ours = table.require(tx, held, idle);
        } catch (DatabaseException e) {
            throw joined.explained(e);
        }
        if (!ours) {
            lose("another has taken it");
            throw new LeaseLostException(held.name(), held.fence(), "another has taken it");
        }
    }

    /**
     * Runs something once when the lease is lost; at once if it is already, never if it was given back. On a thread of its own.
     */
    public void onLost(Runnable action) {
        synchronized (lock) {
            if (state == State.HELD) {
                onLost.add(action);
                return;
            }
            if (state == State.GIVEN_BACK) {
                return;
            }
        }
        runLost(List.of(action));
    }

    /** Gives it back, so that the next can have it at once. If the database cannot be reached, it runs out by itself. */
    @Override
    public void close() {
        synchronized (lock) {
            if (state != State.HELD) {
                return;
            }
            state = State.GIVEN_BACK;
        }
        keeper.letGo(this);
        try {
            database.run(tx -> {
                table.release(tx, held);
                return true;
            });
        } catch (PostroomException e) {
            LOG.warn(
                    "could not give lease {} with fence {} back: {}; it runs out within {} s",
                    LockName.shown(held.name()),
                    held.fence(),
                    e.getMessage(),
                    terms.lease().toSeconds());
        }
    }

    /** It was renewed by a statement that was sent then. */
    void renewed(long sentNanos) {
        endNanos = sentNanos + terms.lease().toNanos();
    }

    long leftNanos() {
        return endNanos - System.nanoTime();
    }

    LeaseTerms terms() {
        return terms;
    }

    LeaseTable.Held held() {
        return held;
    }

    void lose(String fact) {
        List<Runnable> actions;
        synchronized (lock) {
            if (state != State.HELD) {
                return;
            }
            state = State.LOST;
            actions = List.copyOf(onLost);
        }
        keeper.letGo(this);
        LOG.warn("lost lease {} with fence {}: {}", LockName.shown(held.name()), held.fence(), fact);
        runLost(actions);
    }

    /** Whoever finds out that it is lost has more to do than to wait for what others do about it. */
    private void runLost(List<Runnable> actions) {
        if (actions.isEmpty()) {
            return;
        }
        Thread thread = new Thread(() -> actions.forEach(this::runOne), "postroom-lease-lost");
        thread.setDaemon(true);
        thread.start();
    }

    private void runOne(Runnable action) {
        try {
            action.run();
        } catch (RuntimeException e) {
            LOG.error("what was to be done when lease {} is lost failed", LockName.shown(held.name()), e);
        }
    }
}
