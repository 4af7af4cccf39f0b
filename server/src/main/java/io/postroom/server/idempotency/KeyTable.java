package io.postroom.server.idempotency;

import io.postroom.idempotency.IdempotencyKey;
import io.postroom.postgres.Schema;
import io.postroom.postgres.Sql;
import java.sql.Connection;
import java.util.List;

/** Keys by what a client knows of them: one method per statement. */
final class KeyTable {
    /** So many pairs of tenant and scope are looked into; where there are more, name them. */
    static final int STEPS_MAX = 5_000;

    private final Sql findKeys;

    KeyTable(Schema schema) {
        findKeys = schema.sql(KeyTable.class, "find_keys.sql");
    }

    List<IdempotencyKey> find(Connection tx, String key, int limit) {
        return findKeys.on(tx)
                .set("key", key)
                .set("steps_max", STEPS_MAX)
                .set("limit", limit)
                .list(row -> new IdempotencyKey(row.getString(1), row.getString(2), key));
    }
}
