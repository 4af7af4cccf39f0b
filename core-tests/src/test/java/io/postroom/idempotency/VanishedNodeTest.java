package io.postroom.idempotency;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.postroom.Postroom;
import io.postroom.postgres.Schema;
import io.postroom.testkit.CutProxy;
import io.postroom.testkit.TestDatabase;
import io.postroom.testkit.TestPostgres;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** A machine that vanishes closes no connection: what its sessions hold must be free again soon all the same. */
class VanishedNodeTest {
    private static final long PATIENCE_SECONDS = 30;
    private static final KeyPolicy SHORT = KeyPolicy.STANDARD.lease(KeyPolicy.LEASE_MIN);

    private static Shop shop;

    @BeforeAll
    static void open() {
        shop = new Shop();
    }

    @AfterAll
    static void close() {
        shop.close();
    }

    @Test
    void inACommandDoesNotHoldItsKeyForLong() throws Exception {
        CountDownLatch gone = new CountDownLatch(1);
        CompletableFuture<Outcome> never;
        try (CutProxy proxy = CutProxy.to(TestPostgres.shared().port());
                HikariDataSource pool = TestDatabase.pool(proxy.url(shop.database.url()), 1)) {
            Idempotency far = Postroom.on(pool).idempotency();
            never = CompletableFuture.supplyAsync(() -> {
                try {
                    return far.once(Shop.request("command"), SHORT, tx -> {
                        Shop.insert(tx, "command", "vanished");
                        proxy.strand();
                        gone.countDown();
                        return Answer.of(200, "vanished");
                    });
                } catch (SQLException e) {
                    throw new IllegalStateException(e);
                }
            });
            assertThat(gone.await(PATIENCE_SECONDS, TimeUnit.SECONDS)).isTrue();
            assertThat(shop.place(Shop.request("command"))).isInstanceOf(Outcome.Running.class);
            assertThat(executed()).isInstanceOf(Outcome.Executed.class);
            proxy.cut();
        }
        assertThat(never).failsWithin(Duration.ofSeconds(PATIENCE_SECONDS));
        assertThat(shop.placed("command")).isEqualTo(1);
    }

    private static Outcome executed() throws SQLException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        Outcome outcome = shop.place(Shop.request("command"));
        while (outcome instanceof Outcome.Running && System.nanoTime() < deadline) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
            outcome = shop.place(Shop.request("command"));
        }
        return outcome;
    }

    /** It vanished between the note of its step and the commit, and its lease is over. */
    @Test
    void whoseRowIsStillLockedHoldsNoRequestUp() throws Exception {
        try (Connection vanished = shop.database.begin();
                Statement statement = vanished.createStatement()) {
            shop.idempotency.steps(Shop.request("locked"), steps -> Answer.of(503, ""));
            statement.execute(
                    "update postroom.idempotency_key set recovery_point = 1, step = 'a' where key = 'locked'");
            CompletableFuture<Outcome> request = CompletableFuture.supplyAsync(
                    () -> shop.idempotency.steps(Shop.request("locked"), steps -> Answer.of(200, "")));
            assertThat(request.get(PATIENCE_SECONDS, TimeUnit.SECONDS)).isInstanceOf(Outcome.Running.class);
            vanished.rollback();
        }
        assertThat(shop.idempotency.steps(Shop.request("locked"), steps -> Answer.of(200, "")))
                .isInstanceOf(Outcome.Executed.class);
    }

    /** One thread renews for all. */
    @Test
    void whoseRowIsStillLockedEndsNobodyElsesLease() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        CompletableFuture<Outcome> locked = hanging("renew-locked", go);
        CompletableFuture<Outcome> other = hanging("renew-other", go);
        try (Connection vanished = shop.database.begin();
                Statement statement = vanished.createStatement()) {
            statement.execute("select from postroom.idempotency_key where key = 'renew-locked' for update");
            long end = System.nanoTime() + SHORT.lease().multipliedBy(4).toNanos();
            while (System.nanoTime() < end) {
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
            }
            assertThat(shop.keys("key = 'renew-other' and leased_until > clock_timestamp() - interval '1 second'"))
                    .isEqualTo(1);
            vanished.rollback();
        }
        go.countDown();
        assertThat(other.get(PATIENCE_SECONDS, TimeUnit.SECONDS)).isInstanceOf(Outcome.Executed.class);
        assertThat(locked.get(PATIENCE_SECONDS, TimeUnit.SECONDS)).isInstanceOf(Outcome.Executed.class);
    }

    /** Returns when its procedure runs. */
    private static CompletableFuture<Outcome> hanging(String key, CountDownLatch go) throws InterruptedException {
        CountDownLatch inside = new CountDownLatch(1);
        CompletableFuture<Outcome> outcome = CompletableFuture.supplyAsync(() -> {
            try {
                return shop.idempotency.steps(Shop.request(key), SHORT, steps -> {
                    inside.countDown();
                    assertThat(go.await(PATIENCE_SECONDS, TimeUnit.SECONDS)).isTrue();
                    return Answer.of(200, "");
                });
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
        assertThat(inside.await(PATIENCE_SECONDS, TimeUnit.SECONDS)).isTrue();
        return outcome;
    }

    /** Its lease is over long before its session: whoever goes on meets the rows that it has locked. */
    @Test
    void inAStepKeepsNoRowsFromWhoeverGoesOn() throws Exception {
        shop.database.execute("create table taken (key text primary key)");
        CountDownLatch gone = new CountDownLatch(1);
        CompletableFuture<Outcome> never;
        try (CutProxy proxy = CutProxy.to(TestPostgres.shared().port());
                HikariDataSource pool = TestDatabase.pool(proxy.url(shop.database.url()), 2)) {
            Idempotency far = Postroom.on(pool).idempotency();
            never = CompletableFuture.supplyAsync(() -> {
                try {
                    return far.steps(Shop.request("row"), SHORT, steps -> {
                        steps.step("place", tx -> {
                            take(tx);
                            proxy.blackhole();
                            gone.countDown();
                            return "";
                        });
                        return Answer.of(200, "vanished");
                    });
                } catch (SQLException e) {
                    throw new IllegalStateException(e);
                }
            });
            assertThat(gone.await(PATIENCE_SECONDS, TimeUnit.SECONDS)).isTrue();
            CompletableFuture<Outcome> next = CompletableFuture.supplyAsync(VanishedNodeTest::goOn);
            assertThat(next.get(2 * PATIENCE_SECONDS, TimeUnit.SECONDS).answer())
                    .hasValueSatisfying(answer -> assertThat(answer.text()).isEqualTo("went on"));
            proxy.cut();
        }
        assertThat(never).failsWithin(Duration.ofSeconds(PATIENCE_SECONDS));
        assertThat(shop.database.queryLong("select count(*) from taken")).isEqualTo(1);
    }

    private static void take(Connection tx) throws SQLException {
        try (Statement statement = tx.createStatement()) {
            statement.execute("insert into taken values ('row')");
        }
    }

    private static Outcome goOn() {
        try {
            Outcome outcome;
            do {
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
                outcome = shop.idempotency.steps(Shop.request("row"), SHORT, steps -> {
                    steps.step("place", tx -> {
                        take(tx);
                        return "";
                    });
                    return Answer.of(200, "went on");
                });
            } while (outcome instanceof Outcome.Running);
            return outcome;
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void inAStepIsEndedByTheServer() throws SQLException {
        Request request = Shop.request("step");
        KeyPolicy policy = SHORT.runtimeMax(Duration.ofSeconds(77));
        shop.idempotency.steps(request, policy, steps -> {
            steps.step("one", tx -> {
                assertThat(idleMax(tx)).as("however long its steps may take").isEqualTo("10s");
                return "";
            });
            return Answer.of(503, "");
        });
        StepTable table = new StepTable(Schema.POSTROOM);
        long fence = shop.database.queryLong("select fence from postroom.idempotency_key where key = 'step'");
        try (Connection tx = shop.database.begin()) {
            StepTable.Held held = new StepTable.Held(request, fence);
            assertThat(table.advance(tx, held, 1, "two", "{}", policy)).isTrue();
            assertThat(idleMax(tx)).as("when its row is locked").isEqualTo("10s");
            tx.rollback();
            assertThat(table.finish(tx, held, 1, Answer.of(200, ""), policy)).isTrue();
            assertThat(idleMax(tx)).as("when its answer is stored").isEqualTo("10s");
            tx.rollback();
        }
    }

    @Test
    void inATransactionOfTheCallersIsTheCallersConcern() throws SQLException {
        try (Connection tx = shop.database.begin()) {
            String before = idleMax(tx);
            shop.idempotency.once(tx, Shop.request("joined"), SHORT, same -> Answer.of(200, ""));
            assertThat(idleMax(tx)).isEqualTo(before);
            tx.rollback();
        }
    }

    private static String idleMax(Connection tx) throws SQLException {
        try (Statement statement = tx.createStatement();
                ResultSet row = statement.executeQuery("show idle_in_transaction_session_timeout")) {
            row.next();
            return row.getString(1);
        }
    }
}
