package io.postroom.subscription;

import io.postroom.PostroomException;
import io.postroom.audit.Audit;
import io.postroom.journal.Journal;
import io.postroom.postgres.Database;
import io.postroom.postgres.DatabaseException;
import io.postroom.postgres.SqlState;
import io.postroom.retry.Spelling;
import java.sql.Connection;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/** What all acts of operators have in common: who and why, the lock, the audit row, points in the journal. */
final class Acts {
    /** Acts that lock several rows may meet; PostgreSQL ends one of them, and it is done again. */
    private static final int TRIES_MAX = 5;

    private static final int NAMES_MAX = 1_000;

    private final Database database;
    private final Journal journal;
    private final Audit audit;
    private final SubscriptionTable table;

    Acts(Database database, Journal journal, Audit audit) {
        this.database = database;
        this.journal = journal;
        this.audit = audit;
        this.table = new SubscriptionTable(database.schema());
    }

    Database database() {
        return database;
    }

    SubscriptionTable table() {
        return table;
    }

    /** Runs work in one transaction, once more if it met another's locks the other way round. */
    <T> T transact(Database.Work<T> work) {
        for (int tries = 1; ; tries++) {
            try {
                return database.transact(work);
            } catch (DatabaseException e) {
                if (!e.sqlState().equals(SqlState.DEADLOCK) || tries == TRIES_MAX) {
                    throw e;
                }
            }
        }
    }

    /** Refuses an act that says not who and why, before anything is asked of anybody. */
    void check(Act act, String attempt) {
        List<String> problems = Audit.problems(act.actor(), act.reason());
        if (!problems.isEmpty()) {
            throw new PostroomException("audit.invalid", "could not " + attempt + ": " + String.join("; ", problems));
        }
    }

    /** Locks a subscription for the rest of the transaction. */
    SubscriptionTable.Locked lock(Connection tx, String name, String attempt) {
        return table.lock(tx, name).orElseThrow(() -> unknown(tx, name, attempt));
    }

    /** Refuses to move lanes that nobody serves, or where a cut was made already. */
    static void requireServedHere(SubscriptionTable.Locked subscription, String attempt) {
        String name = subscription.name();
        if (!subscription.servedBy().equals("postgres")) {
            throw refused(
                    "served-elsewhere",
                    attempt,
                    "it is served by " + subscription.servedBy() + " and not from its lanes; move it first: "
                            + "postroom subscription move " + name + " --to postgres");
        }
        if (subscription.movingTo() != null) {
            throw refused(
                    "moving",
                    attempt,
                    "it is being moved to " + subscription.movingTo()
                            + ", and the cut is noted; finish that first, or end it: " + "postroom subscription move "
                            + name + " --cancel");
        }
    }

    void record(Connection tx, Act act, String verb, String name, Map<String, ?> details) {
        audit.record(tx, act.actor(), "subscription " + verb, "subscription " + name, act.reason(), details);
    }

    UnknownSubscriptionException unknown(Connection tx, String name, String attempt) {
        return new UnknownSubscriptionException(
                name,
                "could not " + attempt + ": there is no such subscription"
                        + Spelling.didYouMean(name, table.names(tx, NAMES_MAX)));
    }

    /** A refusal, in the form of all errors. */
    static PostroomException refused(String code, String attempt, String fact) {
        return new PostroomException("subscription." + code, "could not " + attempt + ": " + fact);
    }

    /** The last position before a point. */
    long before(Point point, String attempt) {
        requirePast(point, attempt);
        return requireWithin(point, point.before(journal), attempt);
    }

    /** The last position that belongs to what ends at a point. */
    long upTo(Point point, String attempt) {
        requirePast(point, attempt);
        return requireWithin(point, point.upTo(journal), attempt);
    }

    /** Refuses what begins among messages that are gone: it would pass over them. May take its time where days were dropped by hand. */
    void requireKept(Point from, long after, String attempt) {
        requireKept(from, after, journal.keptAfter(), attempt);
    }

    /** The same for a transaction that has looked before; until it ends no archived day is dropped. */
    void keep(Connection tx, Point from, long after, String attempt) {
        requireKept(from, after, table.keepArchive(tx), attempt);
    }

    private void requireKept(Point from, long after, long keptAfter, String attempt) {
        if (after < keptAfter) {
            throw refused(
                    "messages-gone",
                    attempt,
                    "it is to begin at " + (from instanceof Point.Beginning ? "the beginning" : from)
                            + ", but messages up to position " + keptAfter
                            + " are gone with the days that were dropped; the oldest that are kept begin at position "
                            + (keptAfter + 1) + ", stamped after " + database.run(tx -> table.stampedBy(tx, keptAfter))
                            + ": say --from " + (keptAfter + 1)
                            + " to go without the others, or get them from where you keep such days");
        }
    }

    private long requireWithin(Point point, long position, String attempt) {
        long end = journal.refreshHead().position();
        if (position > end) {
            throw refused(
                    "beyond-end",
                    attempt,
                    point + " is beyond the journal's end, which is " + end + "; name an earlier one, or now");
        }
        return position;
    }

    private void requirePast(Point point, String attempt) {
        if (point instanceof Point.Since since) {
            Instant now = database.run(table::clock);
            if (since.time().isAfter(now)) {
                throw refused(
                        "time-in-future",
                        attempt,
                        since.time() + " is in the future, PostgreSQL's clock says " + now
                                + "; name an earlier time, or now");
            }
        }
    }
}
