package io.postroom.server.idempotency;

import io.postroom.idempotency.IdempotencyKey;
import io.postroom.idempotency.KeyFilter;
import io.postroom.postgres.Schema;
import io.postroom.postgres.Sql;
import java.sql.Connection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Keys by what a client knows of them: one method per statement. */
final class KeyTable {
    /** So many pairs of tenant and scope are looked into for one page. */
    static final int STEPS_MAX = 5_000;

    private final Sql findKeys;
    private final int stepsMax;

    KeyTable(Schema schema) {
        this(schema, STEPS_MAX);
    }

    KeyTable(Schema schema, int stepsMax) {
        this.findKeys = schema.sql(KeyTable.class, "find_keys.sql");
        this.stepsMax = stepsMax;
    }

    /** Where a key stands; {@code next} is where the search goes on, null if everything was looked into. */
    record Found(List<IdempotencyKey> keys, @Nullable IdempotencyKey next) {}

    private record Pair(IdempotencyKey key, int number, boolean isHere) {}

    Found find(Connection tx, String key, KeyFilter filter, @Nullable IdempotencyKey after, int limit) {
        List<Pair> pairs = findKeys.on(tx)
                .set("key", key)
                .set("tenant", filter.tenant())
                .set("scope", filter.scope())
                .set("state", filter.state() == null ? null : filter.state().toString())
                .set("after_tenant", after == null ? null : after.tenant())
                .set("after_scope", after == null ? null : after.scope())
                .set("steps_max", stepsMax)
                .set("limit", limit + 1)
                .list(row -> new Pair(
                        new IdempotencyKey(row.getString("tenant_id"), row.getString("scope"), key),
                        row.getInt("number"),
                        row.getBoolean("is_here")));
        List<IdempotencyKey> here =
                pairs.stream().filter(Pair::isHere).map(Pair::key).toList();
        if (here.size() > limit) {
            return new Found(here.subList(0, limit), here.get(limit - 1));
        }
        Pair last = pairs.isEmpty() ? null : pairs.get(pairs.size() - 1);
        return new Found(here, last == null || last.number() < stepsMax ? null : last.key());
    }
}
