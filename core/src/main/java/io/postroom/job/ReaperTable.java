package io.postroom.job;

import io.postroom.postgres.Call;
import io.postroom.postgres.Schema;
import io.postroom.postgres.Sql;
import java.sql.Connection;
import java.time.Duration;
import java.util.Collection;
import java.util.List;

/** Jobs whose workers are dead or hang: one method per statement, no decisions. Runs in the given transaction, never commits. */
final class ReaperTable {
    private final Sql findLost;
    private final Sql findStray;
    private final Sql findOverdue;
    private final Sql forgetWorkers;
    private final Sql forgetRates;
    private final Sql hasTomorrow;

    ReaperTable(Schema schema) {
        findLost = schema.sql(ReaperTable.class, "find_lost.sql");
        findStray = schema.sql(ReaperTable.class, "find_stray.sql");
        findOverdue = schema.sql(ReaperTable.class, "find_overdue.sql");
        forgetWorkers = schema.sql(ReaperTable.class, "forget_workers.sql");
        forgetRates = schema.sql(ReaperTable.class, "forget_rates.sql");
        hasTomorrow = schema.sql(ReaperTable.class, "has_tomorrow.sql");
    }

    /**
     * A job to be taken away, whose row is locked.
     *
     * @param crashes how many workers died while they had it, before
     * @param begun whether this attempt may have begun
     * @param worker the name of who has it
     */
    record Lost(long id, int crashes, boolean begun, boolean cancelAsked, String worker) {}

    List<Lost> findLost(Connection tx, int limit, Collection<Long> except) {
        return find(findLost.on(tx), limit, except);
    }

    List<Lost> findStray(Connection tx, int limit, Collection<Long> except) {
        return find(findStray.on(tx), limit, except);
    }

    /** Whose deadline is over, though not for longer than {@code within}. */
    List<Lost> findOverdue(Connection tx, Duration within, int limit, Collection<Long> except) {
        return find(findOverdue.on(tx).set("within", within), limit, except);
    }

    int forgetWorkers(Connection tx, Duration kept) {
        return forgetWorkers.on(tx).set("kept", kept).update();
    }

    boolean hasTomorrow(Connection tx) {
        return hasTomorrow.on(tx).one(row -> row.getBoolean(1));
    }

    /** A key of a limit with a rate. */
    record RateKey(String limit, String key) {
        static final RateKey FIRST = new RateKey("", "");
    }

    /** Looks at the next ones; returns the last of them, or the first of all if there are no more. */
    RateKey forgetRates(Connection tx, RateKey after, int looked, Duration kept) {
        return forgetRates
                .on(tx)
                .set("after_name", after.limit())
                .set("after_key", after.key())
                .set("limit", looked)
                .set("kept", kept)
                .first(row -> row.getInt("looked") < looked
                        ? RateKey.FIRST
                        : new RateKey(row.getString("limit_name"), row.getString("limit_key")))
                .orElse(RateKey.FIRST);
    }

    private static List<Lost> find(Call call, int limit, Collection<Long> except) {
        return call.set("limit", limit)
                .set("patience", Long.toString(SettleTable.FROZEN.toMillis()))
                .set("except", except.stream().mapToLong(Long::longValue).toArray())
                .list(row -> new Lost(
                        row.getLong("id"),
                        row.getInt("crashes"),
                        row.getBoolean("begun"),
                        row.getBoolean("cancel_asked"),
                        row.getString("worker")));
    }
}
