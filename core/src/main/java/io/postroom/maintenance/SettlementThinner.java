package io.postroom.maintenance;

import io.postroom.postgres.Database;
import io.postroom.postgres.Sql;
import java.time.Duration;

/**
 * Leaves one settlement per minute and lane of those older than an hour, and none older than a week: they tell when messages were
 * delivered. Safe to run anywhere, at any time.
 */
final class SettlementThinner {
    private static final Duration KEPT_WHOLE = Duration.ofHours(1);
    private static final Duration KEPT = Duration.ofDays(7);

    /** How many go in one statement. */
    private static final int STEP_MAX = 10_000;

    private final Database database;
    private final Sql thinSettlements;

    SettlementThinner(Database database) {
        this.database = database;
        thinSettlements = database.schema().sql(SettlementThinner.class, "thin_settlements.sql");
    }

    /** Returns how many went. */
    long thin() {
        long thinned = 0;
        int gone;
        do {
            gone = database.run(tx -> thinSettlements
                    .on(tx)
                    .set("kept_whole", KEPT_WHOLE)
                    .set("kept", KEPT)
                    .set("limit", STEP_MAX)
                    .update());
            thinned += gone;
        } while (gone == STEP_MAX);
        return thinned;
    }
}
