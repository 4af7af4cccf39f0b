package io.postroom.server.idempotency;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.idempotency.IdempotencyKey;
import io.postroom.idempotency.KeyFilter;
import io.postroom.idempotency.KeyState;
import io.postroom.postgres.Schema;
import io.postroom.testkit.TestDatabase;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class KeyTableTest {
    private static final String KEY = "invoice-2026-11";

    private static TestDatabase database;

    /** Nobody's, and that of twenty tenants, each in two scopes; that of the last tenant in one of them is under way. */
    @BeforeAll
    static void fill() {
        database = TestDatabase.create();
        database.execute(
                "insert into postroom.idempotency_key (tenant_id, scope, key, request_hash, state, status_code, response, expires_at,"
                        + " completed_at) select t, s, k, sha256('x'), 'completed', 200, 'x', now() + interval '1 day', now()"
                        + " from (select '' as t union all select 'tenant-' || to_char(n, 'FM00') from generate_series(1, 20) as n) as of_tenant,"
                        + " unnest(array ['orders', 'payments']) as s, unnest(array ['a', '" + KEY + "', 'z']) as k",
                "update postroom.idempotency_key set state = 'failed', status_code = 500 where tenant_id = 'tenant-20'"
                        + " and scope = 'orders' and key = '" + KEY + "'");
    }

    @AfterAll
    static void drop() {
        database.close();
    }

    private static KeyTable.Found find(
            int steps, @Nullable String tenant, @Nullable String scope, @Nullable KeyState state, int limit) {
        return find(steps, new KeyFilter(tenant, scope, state), null, limit);
    }

    private static KeyTable.Found find(int steps, KeyFilter filter, @Nullable IdempotencyKey after, int limit) {
        return database.postroom()
                .database()
                .run(tx -> new KeyTable(Schema.POSTROOM, steps).find(tx, KEY, filter, after, limit));
    }

    @Test
    void aKeyOfManyIsFoundByItsTenantScopeAndState() {
        IdempotencyKey last = new IdempotencyKey("tenant-20", "orders", KEY);
        assertThat(find(100, "tenant-20", null, null, 2))
                .isEqualTo(new KeyTable.Found(List.of(last, new IdempotencyKey("tenant-20", "payments", KEY)), null));
        assertThat(find(100, "tenant-20", "orders", null, 2)).isEqualTo(new KeyTable.Found(List.of(last), null));
        assertThat(find(100, null, null, KeyState.FAILED, 2)).isEqualTo(new KeyTable.Found(List.of(last), null));
        assertThat(find(100, null, "orders", KeyState.FAILED, 2)).isEqualTo(new KeyTable.Found(List.of(last), null));
        assertThat(find(100, "tenant-21", null, null, 2)).isEqualTo(new KeyTable.Found(List.of(), null));
        assertThat(find(100, "tenant-20", "refunds", null, 2)).isEqualTo(new KeyTable.Found(List.of(), null));
        assertThat(find(100, "", "payments", null, 2).keys()).containsExactly(new IdempotencyKey("", "payments", KEY));
    }

    @Test
    void everyPlaceOfAKeyIsOnOnePageHoweverFarAPageLooks() {
        for (int steps : List.of(1, 2, 3, 7, 42, 100)) {
            for (int limit : List.of(1, 5, 100)) {
                assertThat(all(steps, new KeyFilter(null, null, null), limit))
                        .hasSize(42)
                        .doesNotHaveDuplicates();
                assertThat(all(steps, new KeyFilter(null, "orders", null), limit))
                        .hasSize(21)
                        .doesNotHaveDuplicates()
                        .allMatch(key -> key.scope().equals("orders"));
                assertThat(all(steps, new KeyFilter("tenant-07", null, null), limit))
                        .hasSize(2);
            }
        }
    }

    private static List<IdempotencyKey> all(int steps, KeyFilter filter, int limit) {
        List<IdempotencyKey> all = new ArrayList<>();
        KeyTable.Found page = find(steps, filter, null, limit);
        all.addAll(page.keys());
        for (int i = 0; page.next() != null; i++) {
            assertThat(i).as("pages").isLessThan(100);
            page = find(steps, filter, page.next(), limit);
            all.addAll(page.keys());
        }
        return all;
    }
}
