package io.postroom.idempotency;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postroom.Postroom;
import io.postroom.maintenance.Maintenance;
import io.postroom.telemetry.Telemetry;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
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
        shop.database.execute(
                // Plans are made for an empty table, as they may be in a young installation.
                "vacuum analyze postroom.idempotency_key", """
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

    /** The first batch is gone for everybody while the second has not ended. */
    @Test
    void eachBatchIsATransactionOfItsOwn() throws Exception {
        fill(MANY);
        shop.database.execute(
                "update postroom.idempotency_key set expires_at = expires_at + substr(key, 5)::int * interval '1 microsecond'",
                "create function hold_up() returns trigger language plpgsql as"
                        + " $$ begin perform pg_advisory_xact_lock(42); return old; end $$",
                "create trigger hold_up before delete on postroom.idempotency_key for each row"
                        + " when (old.key = 'old-15000') execute function hold_up()");
        try (Connection tx = shop.database.begin();
                var statement = tx.createStatement()) {
            statement.execute("select pg_advisory_xact_lock(42)");
            CompletableFuture<Void> purge = CompletableFuture.runAsync(
                    () -> shop.database.postroom().maintenance().runOnce());
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
            while (shop.keys("true") == MANY) {
                assertThat(System.nanoTime() - deadline).as("still not").isNegative();
                LockSupport.parkNanos(20_000_000);
            }
            assertThat(shop.keys("true")).isEqualTo(MANY - 10_000);
            tx.rollback();
            purge.get(60, TimeUnit.SECONDS);
        }
        assertThat(shop.keys("true")).isZero();
    }

    @Test
    void tellsOfKeysThatNobodyGoesOnWith() {
        AtomicLong lapsed = new AtomicLong(-1);
        Maintenance maintenance = Postroom.builder(shop.database.dataSource())
                .telemetry(new Telemetry() {
                    @Override
                    public void lapsedKeys(long keys) {
                        lapsed.set(keys);
                    }
                })
                .build()
                .maintenance();
        for (String key : List.of("a", "b", "c")) {
            shop.idempotency.steps(Shop.request(key), steps -> Answer.of(503, steps.step("one", tx -> "")));
        }
        maintenance.runOnce();
        assertThat(lapsed).as("their clients may come back").hasValue(0);
        shop.database.execute(
                "update postroom.idempotency_key set leased_until = now() - interval '11 minutes' where key < 'c'");
        maintenance.runOnce();
        assertThat(lapsed).hasValue(2);
        assertThat(shop.keys("state = 'running'")).isEqualTo(3);
    }

    /** Forgotten, its steps would be done again: it is kept until somebody asks, whenever that is, and operators see it until then. */
    @Test
    void aKeyThatACrashLeftInTheMiddleGoesOnAfterItsLastStepHoweverLate() {
        List<String> done = new ArrayList<>();
        Procedure<RuntimeException> procedure = steps -> {
            String reserved = steps.step("reserve", tx -> {
                done.add("reserve");
                return "r-1";
            });
            if (!steps.isResumed()) {
                throw new IllegalStateException("the process dies here");
            }
            return Answer.of(
                    201,
                    reserved
                            + steps.step("charge", tx -> {
                                done.add("charge");
                                return " c-1";
                            }));
        };
        assertThatThrownBy(() -> shop.idempotency.steps(Shop.request("late"), procedure))
                .hasMessageContaining("dies here");
        shop.database.execute(
                "update postroom.idempotency_key set created_at = now() - interval '1 year',"
                        + " leased_until = now() - interval '1 year', expires_at = now() - interval '364 days' where key = 'late'");
        shop.database.postroom().maintenance().runOnce();
        assertThat(shop.database.postroom().idempotencyKeys().list(KeyFilter.RUNNING, null, 10))
                .singleElement()
                .satisfies(key -> {
                    assertThat(key.key().key()).isEqualTo("late");
                    assertThat(key.leased()).isFalse();
                    assertThat(key.step()).isEqualTo("reserve");
                });
        assertThat(shop.idempotency.steps(Shop.request("late"), procedure))
                .isEqualTo(new Outcome.Executed(Answer.of(201, "r-1 c-1"), true));
        assertThat(done).containsExactly("reserve", "charge");
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
