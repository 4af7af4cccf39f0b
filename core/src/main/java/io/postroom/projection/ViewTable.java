package io.postroom.projection;

import io.postroom.postgres.Schema;
import io.postroom.postgres.Sql;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Materialized views that are kept: one method per statement, no decisions. */
final class ViewTable {
    private final Sql register;
    private final Sql find;
    private final Sql list;
    private final Sql listDue;
    private final Sql lock;
    private final Sql isDue;
    private final Sql refresh;
    private final Sql refreshed;
    private final Sql failed;
    private final Sql hasten;
    private final Sql forget;

    ViewTable(Schema schema) {
        register = schema.sql(ViewTable.class, "register_view.sql");
        find = schema.sql(ViewTable.class, "find_view.sql");
        list = schema.sql(ViewTable.class, "list_views.sql");
        listDue = schema.sql(ViewTable.class, "list_due_views.sql");
        lock = schema.sql(ViewTable.class, "lock_view.sql");
        isDue = schema.sql(ViewTable.class, "is_due.sql");
        refresh = schema.sql(ViewTable.class, "refresh_view.sql");
        refreshed = schema.sql(ViewTable.class, "view_refreshed.sql");
        failed = schema.sql(ViewTable.class, "view_failed.sql");
        hasten = schema.sql(ViewTable.class, "hasten_view.sql");
        forget = schema.sql(ViewTable.class, "forget_view.sql");
    }

    /** A view as PostgreSQL knows it. */
    record Found(String view, boolean populated, boolean isOwner, String owner, boolean hasKey) {}

    void register(Connection tx, String name, Duration every) {
        register.on(tx).set("name", name).set("every", every).update();
    }

    Optional<Found> find(Connection tx, String schema, String view) {
        return find.on(tx)
                .set("schema_name", schema)
                .set("view_name", view)
                .first(row -> new Found(
                        row.getString("view"),
                        row.getBoolean("populated"),
                        row.getBoolean("is_owner"),
                        row.getString("owner"),
                        row.getBoolean("has_key")));
    }

    List<ViewState> list(Connection tx, @Nullable String name) {
        return list.on(tx).set("name", name).list(ViewTable::state);
    }

    List<String> due(Connection tx, int limit) {
        return listDue.on(tx).set("limit", limit).list(row -> row.getString(1));
    }

    boolean lock(Connection tx, String name, Duration idleMax, Duration refreshMax) {
        return lock.on(tx)
                .set("name", name)
                .set("idle_millis", Long.toString(idleMax.toMillis()))
                .set("refresh_millis", Long.toString(refreshMax.toMillis()))
                .one(row -> row.getBoolean("locked"));
    }

    boolean isDue(Connection tx, String name) {
        return isDue.on(tx).set("name", name).first(row -> row.getBoolean(1)).orElse(false);
    }

    void refresh(Connection tx, Found found) {
        refresh.on(tx)
                .set("view", found.view())
                .set("populated", Boolean.toString(found.populated()))
                .one(row -> true);
    }

    int refreshed(Connection tx, String name) {
        return refreshed.on(tx).set("name", name).update();
    }

    int failed(Connection tx, String name, String error) {
        return failed.on(tx).set("name", name).set("error", error).update();
    }

    boolean hasten(Connection tx, String name) {
        return hasten.on(tx).set("name", name).update() == 1;
    }

    boolean forget(Connection tx, String name) {
        return forget.on(tx).set("name", name).update() == 1;
    }

    private static ViewState state(ResultSet row) throws SQLException {
        double took = row.getDouble("took");
        boolean wasRefreshed = !row.wasNull();
        return new ViewState(
                row.getString("name"),
                GenerationTable.seconds(row.getDouble("every")),
                row.getObject("due_at", OffsetDateTime.class).toInstant(),
                time(row, "refreshed_at"),
                GenerationTable.seconds(row.getDouble("age")),
                wasRefreshed ? GenerationTable.seconds(took) : null,
                time(row, "failed_at"),
                row.getString("error"),
                row.getInt("failures"));
    }

    private static @Nullable Instant time(ResultSet row, String column) throws SQLException {
        OffsetDateTime time = row.getObject(column, OffsetDateTime.class);
        return time == null ? null : time.toInstant();
    }
}
