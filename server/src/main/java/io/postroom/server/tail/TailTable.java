package io.postroom.server.tail;

import io.postroom.postgres.Schema;
import io.postroom.postgres.Sql;
import java.sql.Connection;
import java.util.Objects;

/** What a tail asks about its own deliveries: one method per statement. */
final class TailTable {
    private final Sql findDue;
    private final Sql findUnreadable;

    TailTable(Schema schema) {
        findDue = schema.sql(TailTable.class, "find_due.sql");
        findUnreadable = schema.sql(TailTable.class, "find_unreadable.sql");
    }

    /** How many messages cannot be read, where the first of them is and why; all of it empty if there is none. */
    record Unreadable(long messages, long position, String error) {}

    boolean hasDue(Connection tx, String subscription) {
        return findDue.on(tx).set("subscription", subscription).one(row -> row.getBoolean(1));
    }

    Unreadable unreadable(Connection tx, String subscription) {
        return findUnreadable
                .on(tx)
                .set("subscription", subscription)
                .one(row -> new Unreadable(
                        row.getLong(1), row.getLong(2), Objects.requireNonNullElse(row.getString(3), "")));
    }
}
