package io.postroom.lock;

import io.postroom.PostroomException;
import io.postroom.postgres.Database;
import io.postroom.postgres.DatabaseException;
import io.postroom.postgres.JoinedTransaction;
import io.postroom.postgres.SqlState;
import java.sql.Connection;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;

/**
 * Locks by name, in one database: held by a transaction until it ends, or leased by a process for work that outlives one.
 *
 * <p>Nothing here belongs to a session, so that all of it works behind a pooler of transactions. When a process dies, its transactions
 * end and with them their locks; its leases run out. The names of locks and those of leases have nothing to do with each other. Safe for
 * use by many threads; has nothing to close.
 */
public final class Locks {
    public static final int NAME_LENGTH_MAX = 200;
    public static final Duration WAIT_MAX = Duration.ofHours(1);

    private final Database database;
    private final HoldTable holds;
    private final LockNames names;
    private final LeaseTable leases;
    private final Keeper keeper;

    public Locks(Database database) {
        this.database = database;
        this.holds = new HoldTable(database.schema());
        this.names = new LockNames(database, holds);
        this.leases = new LeaseTable(database.schema());
        this.keeper = new Keeper(database, leases);
    }

    /**
     * Holds a lock until the transaction ends, if nobody else holds it; says whether it does. Does not wait. A transaction may hold it
     * more than once.
     *
     * <p>What follows sees what the last holder has committed, if the transaction is READ COMMITTED; in any other it sees what was
     * committed before its first statement.
     */
    public boolean tryHold(Connection tx, String name) {
        JoinedTransaction joined = joined(tx, name);
        try {
            HoldTable.Held answer = holds.tryHold(tx, name);
            names.used(name, answer.key());
            return answer.held();
        } catch (DatabaseException e) {
            throw joined.explained(e);
        }
    }

    /**
     * Holds a lock until the transaction ends, and waits for whoever has it. Throws a {@link LockBusyException} if that took too long;
     * the transaction can go on without it.
     *
     * @param wait 1 ms to an hour
     */
    public void hold(Connection tx, String name, Duration wait) {
        JoinedTransaction joined = joined(tx, name);
        if (wait.toMillis() < 1 || wait.compareTo(WAIT_MAX) > 0) {
            throw new PostroomException(
                    "lock.wait-invalid",
                    "could not hold lock " + LockName.shown(name) + ": wait is " + wait
                            + ", the range is 1 ms to 1 h; tryHold does not wait");
        }
        try {
            HoldTable.Held answer = holds.hold(tx, name, wait);
            names.used(name, answer.key());
            if (!answer.held()) {
                throw new LockBusyException(
                        name, wait, holds.findHolders(tx, answer.key()), names.suspicion(answer.key()));
            }
        } catch (DatabaseException e) {
            throw joined.explained(e);
        }
    }

    /** Takes a lease if nobody has it, renewed for a day at most. Close it when the work is done. */
    public Optional<Lease> tryLease(String name, Duration lease) {
        return tryLease(name, LeaseTerms.of(lease));
    }

    /** Takes a lease if nobody has it. Close it when the work is done. */
    public Optional<Lease> tryLease(String name, LeaseTerms terms) {
        return tryLease(LockName.check(name), terms, UUID.randomUUID());
    }

    /** Takes a lease if nobody else has it; what the same holder had taken before is lost to it. */
    Optional<Lease> tryLease(String name, LeaseTerms terms, UUID holder) {
        long sentNanos = System.nanoTime();
        Optional<LeaseTable.Taken> taken;
        try {
            taken = database.run(tx -> leases.take(tx, name, holder, Node.name(), terms.lease()));
        } catch (DatabaseException e) {
            if (e.sqlState().equals(SqlState.SERIALIZATION_FAILURE)) {
                // Where transactions are stricter than READ COMMITTED: somebody else was first.
                return Optional.empty();
            }
            throw new JoinedTransaction("lock", "take lease " + LockName.shown(name)).explained(e);
        }
        return taken.map(each -> {
            LeaseTable.Held held = new LeaseTable.Held(name, holder, each.fence());
            Lease lease = new Lease(database, leases, keeper, held, terms, sentNanos);
            keeper.keep(lease);
            return lease;
        });
    }

    /** Runs work on one node at a time, from now on until it is closed, under a lease that is renewed for a day at most. */
    public OneNode oneNode(String name, Duration lease, OneNode.Work work) {
        return oneNode(name, LeaseTerms.of(lease), work);
    }

    /** Runs work on one node at a time, from now on until it is closed. */
    public OneNode oneNode(String name, LeaseTerms terms, OneNode.Work work) {
        OneNode node = new OneNode(this, LockName.check(name), terms, work);
        node.start();
        return node;
    }

    private static JoinedTransaction joined(Connection tx, String name) {
        JoinedTransaction joined = new JoinedTransaction("lock", "hold lock " + LockName.shown(LockName.check(name)));
        joined.requireBegun(tx);
        return joined;
    }
}
