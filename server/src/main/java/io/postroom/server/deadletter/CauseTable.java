package io.postroom.server.deadletter;

import io.postroom.deadletter.DeadLetterFilter;
import io.postroom.deadletter.DeadLetterGroup;
import io.postroom.postgres.Schema;
import io.postroom.postgres.Sql;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.OffsetDateTime;
import java.util.List;

/** Dead letters by cause, for people: however many there are, a page looks at the newest and answers at once. */
final class CauseTable {
    /** How many of the newest are looked at. */
    static final int WINDOW = 10_000;

    private final Sql listCauses;

    CauseTable(Schema schema) {
        listCauses = schema.sql(CauseTable.class, "list_causes.sql");
    }

    /** Groups, and among how many dead letters they were made. */
    record Causes(List<DeadLetterGroup> groups, long lookedAt) {
        boolean isWhole() {
            return lookedAt < WINDOW;
        }
    }

    Causes causes(Connection tx, DeadLetterFilter filter, int limit) {
        long[] lookedAt = {0};
        List<DeadLetterGroup> groups = filter.on(listCauses.on(tx))
                .set("window", WINDOW)
                .set("limit", limit)
                .list(row -> {
                    lookedAt[0] = row.getLong("looked_at");
                    return group(row);
                });
        return new Causes(groups, lookedAt[0]);
    }

    private static DeadLetterGroup group(ResultSet row) throws SQLException {
        return new DeadLetterGroup(
                row.getString("owner"),
                row.getString("event_type"),
                row.getString("error_class"),
                row.getString("fingerprint"),
                null,
                null,
                null,
                null,
                row.getLong("letters"),
                row.getObject("first_buried_at", OffsetDateTime.class).toInstant(),
                row.getObject("last_buried_at", OffsetDateTime.class).toInstant(),
                row.getLong("keys"),
                row.getLong("tenants"),
                row.getLong("sample_id"),
                row.getString("sample_error"));
    }
}
