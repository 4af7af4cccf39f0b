package io.postroom.audit;

import io.postroom.postgres.Schema;
import io.postroom.postgres.Sql;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.OffsetDateTime;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The audit table: one method per statement, no decisions. */
final class AuditTable {
    private final Sql insert;
    private final Sql list;

    AuditTable(Schema schema) {
        insert = schema.sql(AuditTable.class, "insert.sql");
        list = schema.sql(AuditTable.class, "list.sql");
    }

    /** Who did what to what, and why. */
    record Act(String actor, String action, String subject, String reason) {}

    void insert(Connection tx, Act act, String details) {
        insert.on(tx)
                .set("actor", act.actor())
                .set("action", act.action())
                .set("subject", act.subject())
                .set("reason", act.reason())
                .set("details", details)
                .update();
    }

    List<AuditEntry> list(Connection tx, AuditFilter filter, @Nullable Long before, int limit) {
        return list.on(tx)
                .set("subject", filter.subject())
                .set("action", filter.action())
                .set("actor", filter.actor())
                .set("from", filter.from())
                .set("to", filter.to())
                .set("before", before)
                .set("limit", limit)
                .list(AuditTable::entry);
    }

    private static AuditEntry entry(ResultSet row) throws SQLException {
        return new AuditEntry(
                row.getLong("id"),
                row.getObject("at", OffsetDateTime.class).toInstant(),
                row.getString("actor"),
                row.getString("role"),
                row.getString("action"),
                row.getString("subject"),
                row.getString("reason"),
                row.getString("details"));
    }
}
