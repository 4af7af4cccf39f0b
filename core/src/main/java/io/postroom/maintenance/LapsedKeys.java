package io.postroom.maintenance;

import io.postroom.postgres.Database;
import io.postroom.postgres.Sql;
import io.postroom.telemetry.Telemetry;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells of idempotency keys that were left in the middle of their steps and that nobody goes on with: their client never asked again, and
 * no completer runs. They do not expire, for their steps would be done again. Changes nothing.
 */
final class LapsedKeys {
    private static final Logger LOG = LoggerFactory.getLogger(LapsedKeys.class);

    /** Who asks again at all has done so by then. */
    private static final Duration LAPSED_FOR = Duration.ofMinutes(10);

    private static final int COUNT_MAX = 10_000;

    private final Database database;
    private final Telemetry telemetry;
    private final Sql count;

    LapsedKeys(Database database, Telemetry telemetry) {
        this.database = database;
        this.telemetry = telemetry;
        this.count = database.schema().sql(LapsedKeys.class, "count_lapsed_keys.sql");
    }

    void tell() {
        long keys = database.run(tx -> count.on(tx)
                .set("lapsed_for", LAPSED_FOR)
                .set("count_max", COUNT_MAX)
                .one(row -> row.getLong(1)));
        telemetry.lapsedKeys(keys);
        if (keys > 0) {
            LOG.warn(
                    "{} idempotency keys were left in the middle of their steps for more than {} minutes, and nobody goes on with"
                            + " them; see postroom idempotency list; run a completer, or release them",
                    keys == COUNT_MAX ? COUNT_MAX + " or more" : keys,
                    LAPSED_FOR.toMinutes());
        }
    }
}
