package io.postroom.externalcall;

import io.postroom.postgres.Call;
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

/** The table of external calls: one method per statement, no decisions. */
final class ExternalCallTable {
    private final Sql insert;
    private final Sql lock;
    private final Sql take;
    private final Sql settle;
    private final Sql letGo;
    private final Sql park;
    private final Sql parkOverdue;
    private final Sql reconcile;
    private final Sql find;
    private final Sql latest;
    private final Sql list;

    ExternalCallTable(Schema schema) {
        insert = schema.sql(ExternalCallTable.class, "insert.sql");
        lock = schema.sql(ExternalCallTable.class, "lock.sql");
        take = schema.sql(ExternalCallTable.class, "take.sql");
        settle = schema.sql(ExternalCallTable.class, "settle.sql");
        letGo = schema.sql(ExternalCallTable.class, "let_go.sql");
        park = schema.sql(ExternalCallTable.class, "park.sql");
        parkOverdue = schema.sql(ExternalCallTable.class, "park_overdue.sql");
        reconcile = schema.sql(ExternalCallTable.class, "reconcile.sql");
        find = schema.sql(ExternalCallTable.class, "find.sql");
        latest = schema.sql(ExternalCallTable.class, "latest.sql");
        list = schema.sql(ExternalCallTable.class, "list.sql");
    }

    /** A locked call; {@code tooLate} if an attempt that begins now would outlast the window. */
    record Locked(ExternalCall call, boolean leased, boolean tooLate) {}

    /** How a call ends. */
    record End(
            CallState state,
            @Nullable String reference,
            @Nullable String reason) {}

    /** A call that was parked because its time was over. */
    record Overdue(String key, String name) {}

    Optional<ExternalCall> insert(
            Connection tx, ExternalOperation operation, String requestHash, Duration lease, Duration window) {
        return insert.on(tx)
                .set("key", operation.key())
                .set("key_before", operation.keyBefore())
                .set("name", operation.name())
                .set("tenant_id", operation.tenant())
                .set("business_id", operation.businessId())
                .set("revision", operation.revision())
                .set("request_hash", requestHash)
                .set("lease", lease)
                .set("window", window)
                .first(ExternalCallTable::call);
    }

    Optional<Locked> lock(Connection tx, String key, Duration lease) {
        return lock.on(tx)
                .set("key", key)
                .set("lease", lease)
                .first(row -> new Locked(call(row), row.getBoolean("leased"), row.getBoolean("too_late")));
    }

    ExternalCall take(Connection tx, String key, Duration lease) {
        return take.on(tx).set("key", key).set("lease", lease).one(ExternalCallTable::call);
    }

    Optional<ExternalCall> settle(Connection tx, ExternalCall attempt, End end) {
        return fenced(settle, tx, attempt)
                .set("state", end.state().word())
                .set("reference", end.reference())
                .set("reason", end.reason())
                .first(ExternalCallTable::call);
    }

    Optional<ExternalCall> letGo(Connection tx, ExternalCall attempt, String reason) {
        return fenced(letGo, tx, attempt).set("reason", reason).first(ExternalCallTable::call);
    }

    Optional<ExternalCall> park(Connection tx, ExternalCall attempt, String reason) {
        return fenced(park, tx, attempt).set("reason", reason).first(ExternalCallTable::call);
    }

    private static Call fenced(Sql sql, Connection tx, ExternalCall attempt) {
        return sql.on(tx).set("key", attempt.key()).set("fence", attempt.fence());
    }

    List<Overdue> parkOverdue(Connection tx, int limit, String reason) {
        return parkOverdue
                .on(tx)
                .set("limit", limit)
                .set("reason", reason)
                .list(row -> new Overdue(row.getString("key"), row.getString("name")));
    }

    ExternalCall reconcile(Connection tx, String key, End end) {
        return reconcile
                .on(tx)
                .set("key", key)
                .set("state", end.state().word())
                .set("reference", end.reference())
                .set("reason", end.reason())
                .one(ExternalCallTable::call);
    }

    Optional<ExternalCall> find(Connection tx, String key) {
        return find.on(tx).set("key", key).first(ExternalCallTable::call);
    }

    Optional<ExternalCall> latest(Connection tx, ExternalOperation operation) {
        return latest.on(tx)
                .set("name", operation.name())
                .set("tenant_id", operation.tenant())
                .set("business_id", operation.businessId())
                .first(ExternalCallTable::call);
    }

    List<ExternalCall> list(Connection tx, ExternalCallFilter filter, @Nullable Long before, int limit) {
        CallState state = filter.state();
        return list.on(tx)
                .set("state", state == null ? null : state.word())
                .set("name", filter.name())
                .set("tenant_id", filter.tenant())
                .set("before", before)
                .set("limit", limit)
                .list(ExternalCallTable::call);
    }

    private static ExternalCall call(ResultSet row) throws SQLException {
        return new ExternalCall(
                row.getLong("id"),
                new ExternalOperation(
                        row.getString("name"),
                        row.getString("tenant_id"),
                        row.getString("business_id"),
                        row.getInt("revision")),
                CallState.of(row.getString("state")),
                row.getString("request_hash"),
                row.getLong("fence"),
                row.getInt("attempts"),
                time(row, "created_at"),
                time(row, "called_at"),
                timeOrNull(row, "leased_until"),
                time(row, "window_until"),
                timeOrNull(row, "ended_at"),
                row.getString("reference"),
                row.getString("reason"));
    }

    private static Instant time(ResultSet row, String column) throws SQLException {
        return row.getObject(column, OffsetDateTime.class).toInstant();
    }

    private static @Nullable Instant timeOrNull(ResultSet row, String column) throws SQLException {
        OffsetDateTime time = row.getObject(column, OffsetDateTime.class);
        return time == null ? null : time.toInstant();
    }
}
