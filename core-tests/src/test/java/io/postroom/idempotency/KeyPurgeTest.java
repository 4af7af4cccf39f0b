package io.postroom.idempotency;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class KeyPurgeTest {
    private static final int MANY = 25_000;

    private Shop shop;

    @BeforeEach
    void open() {
        shop = new Shop();
    }

    @AfterEach
    void close() {
        shop.close();
    }

    private void fill(int count) {
        shop.database.execute("""
                insert into postroom.idempotency_key (tenant_id, scope, key, request_hash, state, status_code, response, completed_at, expires_at)
                select '', 'order.create', 'old-' || n, sha256('body'), 'completed', 200, '', now(), now() - interval '1 second'
                from generate_series(1, %d) as n""".formatted(count));
    }

    @Test
    void forgetsWhatHasExpiredInBatchesAndNothingElse() throws SQLException {
        fill(MANY);
        shop.place(Shop.request("young"));
        shop.database.postroom().maintenance().runOnce();
        assertThat(shop.keys("true")).isEqualTo(1);
        assertThat(shop.place(Shop.request("young"))).isInstanceOf(Outcome.Replayed.class);
    }

    @Test
    void severalAtOnceShareTheWorkAndNobodyFails() throws Exception {
        fill(MANY);
        List<CompletableFuture<Void>> purges = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            purges.add(CompletableFuture.runAsync(
                    () -> shop.database.postroom().maintenance().runOnce()));
        }
        for (CompletableFuture<Void> purge : purges) {
            purge.get(60, TimeUnit.SECONDS);
        }
        shop.database.postroom().maintenance().runOnce();
        assertThat(shop.keys("true")).isZero();
    }

    /** A request that is just now replacing an expired answer neither holds a purge up nor loses what it stores. */
    @Test
    void passesWhatARequestIsReplacing() throws Exception {
        fill(10);
        try (Connection tx = shop.database.begin()) {
            shop.idempotency.once(tx, Shop.request("old-3"), Shop.place("old-3"));
            CompletableFuture.runAsync(
                            () -> shop.database.postroom().maintenance().runOnce())
                    .get(60, TimeUnit.SECONDS);
            assertThat(shop.keys("key <> 'old-3'")).isZero();
            tx.commit();
        }
        assertThat(shop.keys("key = 'old-3' and expires_at > now()")).isEqualTo(1);
    }

    @Test
    void aPurgeThatIsNotCommittedYetHoldsNoRequestUp() throws Exception {
        fill(10);
        try (Connection tx = shop.database.begin();
                var statement = tx.createStatement()) {
            statement.execute("select postroom.purge_keys(10)");
            CompletableFuture<Outcome> request = CompletableFuture.supplyAsync(() -> {
                try {
                    return shop.place(Shop.request("old-5"));
                } catch (SQLException e) {
                    throw new IllegalStateException(e);
                }
            });
            assertThat(request.get(60, TimeUnit.SECONDS)).isInstanceOf(Outcome.Running.class);
            tx.commit();
        }
        assertThat(shop.place(Shop.request("old-5"))).isInstanceOf(Outcome.Executed.class);
        assertThat(shop.placed("old-5")).isEqualTo(1);
    }

    @Test
    void refusesBatchesBeyondItsLimit() {
        for (String batch : List.of("0", "100001", "null")) {
            assertThatThrownBy(() -> shop.database.execute("select postroom.purge_keys(" + batch + ")"))
                    .hasStackTraceContaining("the range is 1 to 100000");
        }
    }
}
