package io.postroom.idempotency;

import io.postroom.postgres.Schema;
import io.postroom.postgres.Sql;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Idempotency keys as operators see them: one method per statement, no decisions. False means: the key is not as it was seen. */
final class KeyListTable {
    private final Sql list;
    private final Sql find;
    private final Sql release;
    private final Sql forget;
    private final Sql findHolder;

    KeyListTable(Schema schema) {
        list = schema.sql(KeyListTable.class, "list.sql");
        find = schema.sql(KeyListTable.class, "find.sql");
        release = schema.sql(KeyListTable.class, "release.sql");
        forget = schema.sql(KeyListTable.class, "forget.sql");
        findHolder = schema.sql(KeyListTable.class, "find_holder.sql");
    }

    List<KeyDetails> list(Connection tx, KeyFilter filter, @Nullable IdempotencyKey after, int limit) {
        KeyState state = filter.state();
        return list.on(tx)
                .set("tenant", filter.tenant())
                .set("scope", filter.scope())
                .set("state", state == null ? null : state.toString())
                .set("after_tenant", after == null ? null : after.tenant())
                .set("after_scope", after == null ? null : after.scope())
                .set("after_key", after == null ? null : after.key())
                .set("limit", limit)
                .list(KeyListTable::details);
    }

    Optional<KeyDetails> find(Connection tx, IdempotencyKey key) {
        return KeyTable.named(find.on(tx), key).first(KeyListTable::details);
    }

    Optional<KeyHolder> findHolder(Connection tx, IdempotencyKey key) {
        return KeyTable.named(findHolder.on(tx), key)
                .first(row -> new KeyHolder(
                        row.getInt("pid"),
                        row.getString("login"),
                        row.getString("application"),
                        instant(row, "since")));
    }

    boolean release(Connection tx, KeyDetails seen) {
        return KeyTable.named(release.on(tx), seen.key())
                        .set("fence", seen.fence())
                        .update()
                == 1;
    }

    boolean forget(Connection tx, KeyDetails seen) {
        return KeyTable.named(forget.on(tx), seen.key())
                        .set("fence", seen.fence())
                        .set("state", seen.state().toString())
                        .set("reached", seen.steps())
                        .set("hash", HexFormat.of().parseHex(seen.hash()))
                        .set("created_at", seen.createdAt())
                        .update()
                == 1;
    }

    private static KeyDetails details(ResultSet row) throws SQLException {
        return new KeyDetails(
                new IdempotencyKey(row.getString("tenant_id"), row.getString("scope"), row.getString("key")),
                HexFormat.of().formatHex(row.getBytes("request_hash")),
                KeyState.valueOf(row.getString("state").toUpperCase(Locale.ROOT)),
                row.getObject("status_code", Integer.class),
                Objects.requireNonNull(instant(row, "created_at")),
                instant(row, "completed_at"),
                Objects.requireNonNull(instant(row, "expires_at")),
                instant(row, "leased_until"),
                row.getBoolean("leased"),
                row.getLong("fence"),
                row.getInt("recovery_point"),
                row.getString("step"));
    }

    private static @Nullable Instant instant(ResultSet row, String column) throws SQLException {
        OffsetDateTime time = row.getObject(column, OffsetDateTime.class);
        return time == null ? null : time.toInstant();
    }
}
