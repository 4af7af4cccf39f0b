package io.postroom.maintenance;

import io.postroom.postgres.Database;
import io.postroom.postgres.Sql;

/**
 * Forgets leases that nobody has and names of locks that nobody used, a month after. A lease that comes back has a greater fence all the
 * same. Safe to run anywhere, at any time.
 */
final class LockPurger {
    /** How many go in one transaction. */
    private static final int STEP_MAX = 10_000;

    private final Database database;
    private final Sql purgeLocks;

    LockPurger(Database database) {
        this.database = database;
        purgeLocks = database.schema().sql(LockPurger.class, "purge_locks.sql");
    }

    /** Ends when nothing is left that nobody else is busy with. */
    void purge() {
        int gone;
        do {
            gone = database.run(tx -> purgeLocks.on(tx).set("limit", STEP_MAX).one(row -> row.getInt(1)));
        } while (gone == STEP_MAX);
    }
}
