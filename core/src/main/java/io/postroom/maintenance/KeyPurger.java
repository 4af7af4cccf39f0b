package io.postroom.maintenance;

import io.postroom.postgres.Database;
import io.postroom.postgres.Sql;

/**
 * Forgets what expired idempotency keys were answered; the key is as if it were not there from its expiry on, whether or not it was
 * purged. Running keys stay. Safe to run anywhere, at any time.
 */
final class KeyPurger {
    /** How many go in one transaction. */
    private static final int STEP_MAX = 10_000;

    private final Database database;
    private final Sql purgeKeys;

    KeyPurger(Database database) {
        this.database = database;
        purgeKeys = database.schema().sql(KeyPurger.class, "purge_keys.sql");
    }

    /** Returns how many went. Ends when nothing is left that nobody else is busy with. */
    long purge() {
        long purged = 0;
        int gone;
        do {
            gone = database.run(tx -> purgeKeys.on(tx).set("limit", STEP_MAX).one(row -> row.getInt(1)));
            purged += gone;
        } while (gone == STEP_MAX);
        return purged;
    }
}
