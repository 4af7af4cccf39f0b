package io.postroom.server.tail;

import io.postroom.postgres.Schema;
import io.postroom.postgres.Sql;
import java.sql.Connection;

/** What a tail asks about its own lane: one method per statement. */
final class TailTable {
    private final Sql countDue;
    private final Sql findScheduled;

    TailTable(Schema schema) {
        countDue = schema.sql(TailTable.class, "count_due.sql");
        findScheduled = schema.sql(TailTable.class, "find_scheduled.sql");
    }

    boolean hasScheduled(Connection tx, String subscription) {
        return findScheduled.on(tx).set("subscription", subscription).one(row -> row.getBoolean(1));
    }

    long countDue(Connection tx, String subscription, int limit) {
        return countDue.on(tx)
                .set("subscription", subscription)
                .set("limit", limit)
                .one(row -> row.getLong(1));
    }
}
