package io.postroom.maintenance;

import io.postroom.postgres.Database;
import io.postroom.postgres.Sql;
import java.time.Duration;
import java.time.Instant;

/**
 * Leaves one tick per second of those older than an hour: enough to find a position by time, a small part of what a busy journal
 * writes. Safe to run anywhere, at any time.
 */
final class TickThinner {
    private static final Duration KEPT_WHOLE = Duration.ofHours(1);

    private final Database database;
    private final Sql thinTicks;
    private Instant thinnedUntil = Instant.EPOCH;

    TickThinner(Database database) {
        this.database = database;
        thinTicks = database.schema().sql(TickThinner.class, "thin_ticks.sql");
    }

    /** Thins what has grown old enough since the last time. The clock only chooses a range; the database has its own limit. */
    long thin() {
        Instant until = Instant.now().minus(KEPT_WHOLE);
        long thinned = database.transact(tx ->
                thinTicks.on(tx).set("since", thinnedUntil).set("until", until).one(row -> row.getLong(1)));
        // Two hours of overlap, for clocks that differ.
        thinnedUntil = until.minus(KEPT_WHOLE.multipliedBy(2));
        return thinned;
    }
}
