package io.postroom.idempotency;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.postroom.Postroom;
import io.postroom.PostroomException;
import io.postroom.postgres.DatabaseException;
import io.postroom.testkit.CutProxy;
import io.postroom.testkit.TestDatabase;
import io.postroom.testkit.TestPostgres;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.ds.PGSimpleDataSource;

class StepsTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private static Shop shop;

    @BeforeAll
    static void open() {
        shop = new Shop();
    }

    @AfterAll
    static void close() {
        shop.close();
    }

    /** Reserves, calls somebody, and answers with what both said; {@code called} hears the calls. */
    private static Procedure<SQLException> order(List<String> called) {
        return steps -> {
            String key = steps.key().key();
            String reserved = steps.step("reserve", tx -> {
                Shop.insert(tx, key, "reserve");
                return "r-" + steps.done();
            });
            called.add("charge " + reserved);
            String charged = steps.step("charge", tx -> {
                Shop.insert(tx, key, "charge");
                return "c";
            });
            return Answer.of(201, reserved + " " + charged);
        };
    }

    @Test
    void areDoneOnceAndAnsweredTheSameEachTime() throws SQLException {
        List<String> called = new ArrayList<>();
        assertThat(shop.idempotency.steps(Shop.request("all"), order(called)))
                .isEqualTo(new Outcome.Executed(Answer.of(201, "r-0 c"), true));
        assertThat(shop.idempotency.steps(Shop.request("all"), order(called)))
                .isEqualTo(new Outcome.Replayed(Answer.of(201, "r-0 c")));
        assertThat(shop.idempotency.steps(Shop.request("all", "other"), order(called)))
                .isEqualTo(new Outcome.Mismatch());
        assertThat(called).containsExactly("charge r-0");
        assertThat(shop.placed("all")).isEqualTo(2);
        assertThat(shop.keys("key = 'all' and state = 'completed' and recovery_point = 2 and step = 'charge'"
                        + " and recovery is null and leased_until is null"))
                .isEqualTo(1);
    }

    /** The call goes wrong once. Whoever asks next goes on at once, and the first step is not done again. */
    @Test
    void goOnAfterTheLastStepThatWasDone() throws Exception {
        IOException gone = new IOException("connection reset");
        assertThatThrownBy(() -> shop.idempotency.steps(Shop.request("goes-on"), steps -> {
                    steps.step("reserve", tx -> {
                        insert(tx, "goes-on", "reserve");
                        return "first";
                    });
                    throw gone;
                }))
                .isSameAs(gone);
        List<String> called = new ArrayList<>();
        assertThat(shop.idempotency.steps(Shop.request("goes-on"), order(called)))
                .isEqualTo(new Outcome.Executed(Answer.of(201, "first c"), true));
        assertThat(called).containsExactly("charge first");
        assertThat(shop.placed("goes-on")).isEqualTo(2);
    }

    /** It may have called others before its first step: the key must not be free for another request. */
    @Test
    void thatThrowBeforeTheFirstIsDoneKeepTheirKey() throws Exception {
        for (int i = 0; i < 2; i++) {
            assertThatThrownBy(() -> shop.idempotency.steps(Shop.request("kept"), steps -> {
                        steps.step("reserve", tx -> {
                            insert(tx, "kept", "reserve");
                            throw new IOException("no");
                        });
                        return Answer.of(200, "");
                    }))
                    .isInstanceOf(IOException.class);
            assertThat(shop.placed("kept")).isZero();
            assertThat(shop.keys("key = 'kept' and state = 'running' and leased_until <= clock_timestamp()"))
                    .isEqualTo(1);
        }
        assertThat(shop.idempotency.steps(Shop.request("kept", "other"), order(new ArrayList<>())))
                .isEqualTo(new Outcome.Mismatch());
        assertThat(shop.idempotency.steps(
                        Shop.request("kept"), steps -> Answer.of(200, "resumed " + steps.isResumed())))
                .isEqualTo(new Outcome.Executed(Answer.of(200, "resumed true"), true));
    }

    @Test
    void thatAnswerAFailureBeforeTheFirstIsDoneKeepTheirKey() throws Exception {
        assertThat(shop.idempotency.steps(Shop.request("busy"), steps -> Answer.of(503, "")))
                .isEqualTo(new Outcome.Executed(Answer.of(503, ""), false));
        assertThat(shop.idempotency.steps(Shop.request("busy", "other"), order(new ArrayList<>())))
                .isEqualTo(new Outcome.Mismatch());
        assertThat(shop.idempotency.steps(Shop.request("busy"), steps -> Answer.of(200, "")))
                .isInstanceOf(Outcome.Executed.class);
    }

    @Test
    void whatTheLastStepHasStoredIsAnsweredWhateverTheProcedureReturns() throws Exception {
        Procedure<Exception> procedure = steps -> {
            steps.answer(tx -> Answer.of(201, "stored"));
            return Answer.of(200, "returned");
        };
        assertThat(shop.idempotency.steps(Shop.request("stored"), procedure))
                .isEqualTo(new Outcome.Executed(Answer.of(201, "stored"), true));
        assertThat(shop.idempotency.steps(Shop.request("stored"), procedure))
                .isEqualTo(new Outcome.Replayed(Answer.of(201, "stored")));
    }

    @ParameterizedTest
    @CsvSource({"CLIENT_ERRORS_STORED, 422, failed", "STORED, 503, failed", "CLIENT_ERRORS_STORED, 503, running"})
    void failuresAreStoredAsThePolicySays(Failures failures, int status, String state) throws SQLException {
        String key = failures + "-" + status;
        Outcome outcome = shop.idempotency.steps(Shop.request(key), KeyPolicy.STANDARD.failures(failures), steps -> {
            steps.step("reserve", tx -> {
                Shop.insert(tx, key, "reserve");
                return "r";
            });
            return Answer.of(status, "no");
        });
        assertThat(outcome).isEqualTo(new Outcome.Executed(Answer.of(status, "no"), state.equals("failed")));
        assertThat(shop.keys("key = '" + key + "' and state = '" + state + "'")).isEqualTo(1);
        Outcome again = shop.idempotency.steps(Shop.request(key), order(new ArrayList<>()));
        assertThat(again)
                .isEqualTo(
                        state.equals("failed")
                                ? new Outcome.Replayed(Answer.of(status, "no"))
                                : new Outcome.Executed(Answer.of(201, "r c"), true));
        assertThat(shop.keys("key = '" + key + "' and state = 'running'")).isZero();
    }

    @Test
    void theLastStepAndTheAnswerAreOneTransaction() throws SQLException {
        Procedure<SQLException> procedure = steps -> steps.answer(tx -> {
            Shop.insert(tx, "last", "last");
            return Answer.of(201, "done");
        });
        assertThat(shop.idempotency.steps(Shop.request("last"), procedure))
                .isEqualTo(new Outcome.Executed(Answer.of(201, "done"), true));
        assertThat(shop.idempotency.steps(Shop.request("last"), procedure))
                .isEqualTo(new Outcome.Replayed(Answer.of(201, "done")));
        assertThat(shop.placed("last")).isEqualTo(1);
        Outcome failed = shop.idempotency.steps(
                Shop.request("last-fails"),
                steps -> steps.answer(tx -> {
                    Shop.insert(tx, "last-fails", "last");
                    return Answer.of(409, "no");
                }));
        assertThat(failed).isEqualTo(new Outcome.Executed(Answer.of(409, "no"), true));
        assertThat(shop.placed("last-fails")).isZero();
    }

    @Test
    void aDuplicateIsToldAtOnceThatTheyRun() throws Exception {
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        CompletableFuture<Outcome> first = async("runs", steps -> {
            inside.countDown();
            assertThat(go.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
            return Answer.of(200, "slow");
        });
        assertThat(inside.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
        assertThat(shop.idempotency.steps(Shop.request("runs"), order(new ArrayList<>())))
                .isInstanceOf(Outcome.Running.class);
        assertThat(shop.place(Shop.request("runs"))).isInstanceOf(Outcome.Running.class);
        assertThat(shop.place(Shop.request("runs", "other"))).isEqualTo(new Outcome.Mismatch());
        go.countDown();
        assertThat(first.get(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isInstanceOf(Outcome.Executed.class);
    }

    @Test
    void areAnsweredOnce() {
        Outcome outcome = shop.idempotency.steps(Shop.request("twice"), steps -> {
            steps.answer(tx -> Answer.of(200, "first"));
            assertThatThrownBy(() -> steps.answer(tx -> Answer.of(200, "second")))
                    .hasMessageContaining("could not do step answer of order.create twice: it is stored already")
                    .extracting("code")
                    .isEqualTo("idempotency.steps-over");
            return Answer.of(200, "third");
        });
        assertThat(outcome).isEqualTo(new Outcome.Executed(Answer.of(200, "first"), true));
    }

    /** One connection, once in a while, is enough for all: it may take long to get one. */
    @Test
    void manyLeasesAreRenewedTogether() throws Exception {
        KeyPolicy policy = KeyPolicy.STANDARD.lease(Duration.ofSeconds(2));
        int many = 60;
        AtomicInteger asked = new AtomicInteger();
        PGSimpleDataSource connections = new PGSimpleDataSource() {
            private static final long serialVersionUID = 1L;

            @Override
            public Connection getConnection() throws SQLException {
                asked.incrementAndGet();
                return super.getConnection();
            }
        };
        connections.setUrl(shop.database.url());
        Idempotency far = Postroom.on(connections).idempotency();
        CountDownLatch begun = new CountDownLatch(many);
        CountDownLatch go = new CountDownLatch(1);
        ExecutorService clients = Executors.newFixedThreadPool(many);
        try {
            List<Future<Outcome>> all = new ArrayList<>();
            for (int i = 0; i < many; i++) {
                String key = "together-" + i;
                all.add(clients.submit(() -> far.steps(Shop.request(key), policy, steps -> {
                    begun.countDown();
                    assertThat(go.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
                    return Answer.of(200, "");
                })));
            }
            assertThat(begun.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
            int before = asked.get();
            long renewed = micros() + 4_000_000;
            await(
                    "each was renewed after two seconds",
                    () -> shop.keys("key like 'together-%' and leased_until > to_timestamp(" + renewed + " / 1e6)")
                            == many);
            assertThat(asked.get() - before).as("connections").isLessThan(many);
            go.countDown();
            for (Future<Outcome> each : all) {
                assertThat(each.get(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isInstanceOf(Outcome.Executed.class);
            }
        } finally {
            clients.shutdownNow();
        }
    }

    /** The lease is far shorter than what is done under it. */
    @Test
    void theLeaseIsRenewedWhileAStepOrACallTakesLong() throws Exception {
        KeyPolicy policy = KeyPolicy.STANDARD.lease(KeyPolicy.LEASE_MIN);
        CountDownLatch go = new CountDownLatch(1);
        CompletableFuture<Outcome> slow = async("renewed", policy, steps -> {
            steps.step("slow", tx -> {
                Shop.insert(tx, "renewed", "slow");
                assertThat(go.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
                return "";
            });
            return Answer.of(200, "slow");
        });
        await("it began", () -> shop.keys("key = 'renewed'") == 1);
        long first = leasedUntil("renewed");
        long fence = shop.database.queryLong("select fence from postroom.idempotency_key where key = 'renewed'");
        await("the first lease is over", () -> micros() > first + 300_000);
        assertThat(shop.keys("key = 'renewed' and leased_until > clock_timestamp() and fence = " + fence))
                .isEqualTo(1);
        assertThat(shop.idempotency.steps(Shop.request("renewed"), policy, order(new ArrayList<>())))
                .isInstanceOf(Outcome.Running.class);
        go.countDown();
        assertThat(slow.get(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isInstanceOf(Outcome.Executed.class);
    }

    @Test
    void whatHangsForTooLongIsNotRenewed() throws Exception {
        KeyPolicy policy =
                KeyPolicy.STANDARD.lease(KeyPolicy.LEASE_MIN).runtimeMax(KeyPolicy.LEASE_MIN.plusMillis(300));
        CountDownLatch go = new CountDownLatch(1);
        CompletableFuture<Outcome> hangs = async("hangs", policy, steps -> {
            awaitDeaf(go);
            steps.step("late", tx -> {
                Shop.insert(tx, "hangs", "late");
                return "";
            });
            return Answer.of(200, "late");
        });
        await("its lease is over", () -> shop.keys("key = 'hangs' and leased_until < clock_timestamp()") == 1);
        assertThat(shop.idempotency.steps(Shop.request("hangs"), order(new ArrayList<>())))
                .isInstanceOf(Outcome.Executed.class);
        go.countDown();
        assertThat(hangs.get(PATIENCE.toSeconds(), TimeUnit.SECONDS))
                .as("a zombie is told that another is at it")
                .isInstanceOf(Outcome.Running.class);
        assertThat(shop.database.queryLong("select count(*) from placed where key = 'hangs' and step = 'late'"))
                .as("steps of the zombie")
                .isZero();
    }

    /** A zombie does its step while its successor has begun but not done it. */
    @Test
    void theStepOfAFormerOwnerIsRolledBack() throws Exception {
        List<String> told = new ArrayList<>();
        Outcome zombie = shop.idempotency.steps(Shop.request("zombie"), steps -> {
            takeAway("zombie");
            try {
                steps.step("reserve", tx -> {
                    Shop.insert(tx, "zombie", "zombie");
                    return "z";
                });
            } catch (LeaseLostException e) {
                told.add(e.code());
                throw e;
            }
            return Answer.of(200, "zombie");
        });
        assertThat(zombie).isInstanceOf(Outcome.Running.class);
        assertThat(told).containsExactly("idempotency.lease-lost");
        assertThat(shop.placed("zombie")).isZero();
        Outcome answerOfZombie = shop.idempotency.steps(Shop.request("zombie"), steps -> {
            takeAway("zombie");
            return Answer.of(200, "zombie");
        });
        assertThat(answerOfZombie).isInstanceOf(Outcome.Running.class);
        assertThat(shop.idempotency.steps(Shop.request("zombie"), order(new ArrayList<>())))
                .isEqualTo(new Outcome.Executed(Answer.of(201, "r-0 c"), true));
    }

    /** As if its lease had run out and another had taken it and died at once. */
    private static void takeAway(String key) {
        shop.database.execute(
                "update postroom.idempotency_key set fence = fence + 1, leased_until = clock_timestamp() where key = '"
                        + key + "'");
    }

    @Test
    void aStepWhoseCommitAnswerWasLostIsNotDoneAgain() throws Exception {
        try (CutProxy proxy = CutProxy.to(TestPostgres.shared().port());
                HikariDataSource pool = TestDatabase.pool(proxy.url(shop.database.url()), 2)) {
            Idempotency far = Postroom.on(pool).idempotency();
            assertThatThrownBy(() -> far.steps(Shop.request("lost"), steps -> {
                        steps.step("reserve", tx -> {
                            Shop.insert(tx, "lost", "reserve");
                            proxy.cutAfterNextCommit();
                            return "r";
                        });
                        return Answer.of(200, "");
                    }))
                    .isInstanceOf(DatabaseException.class);
            assertThat(proxy.commitsCut()).isEqualTo(1);
            assertThat(far.steps(Shop.request("lost"), order(new ArrayList<>())))
                    .isEqualTo(new Outcome.Executed(Answer.of(201, "r c"), true));
        }
        assertThat(shop.placed("lost")).isEqualTo(2);
    }

    @Test
    void aCompleterGoesOnWithWhatNobodyAsksForAgain() throws Exception {
        Request request = new Request(IdempotencyKey.of("complete.one", "left"), Shop.hash("body"), "three apples");
        assertThatThrownBy(() -> shop.idempotency.steps(request, steps -> {
                    steps.step("reserve", tx -> "r");
                    throw new IOException("gone");
                }))
                .isInstanceOf(IOException.class);
        try (Completer completer = shop.idempotency.completer(
                "complete.one",
                KeyPolicy.STANDARD,
                steps -> Answer.of(
                        201,
                        steps.input().orElse("nothing") + " " + steps.step("reserve", tx -> "again") + " "
                                + steps.isResumed()))) {
            assertThat(completer.runOnce()).isEqualTo(1);
            assertThat(completer.runOnce()).isZero();
        }
        assertThat(shop.idempotency.steps(request, order(new ArrayList<>())))
                .isEqualTo(new Outcome.Replayed(Answer.of(201, "three apples r true")));
    }

    @Test
    void aCompleterLeavesTheLivingAloneAndGoesOnBesideWhatFails() throws Exception {
        for (String key : List.of("fails", "works")) {
            assertThatThrownBy(() -> shop.idempotency.steps(
                            new Request(new IdempotencyKey("", "complete.some", key), Shop.hash("")), steps -> {
                                steps.step("one", tx -> "1");
                                throw new IOException("gone");
                            }))
                    .isInstanceOf(IOException.class);
        }
        Completer completer = shop.idempotency.completer("complete.some", KeyPolicy.STANDARD, steps -> {
            if (steps.key().key().equals("fails")) {
                throw new IOException("still");
            }
            steps.step("one", tx -> "1");
            return Answer.of(200, "");
        });
        assertThat(completer.runOnce()).isEqualTo(1);
        assertThat(shop.keys("scope = 'complete.some' and state = 'running'")).isEqualTo(1);
        shop.database.execute("update postroom.idempotency_key set leased_until = clock_timestamp() + interval '1 hour'"
                + " where scope = 'complete.some' and state = 'running'");
        assertThat(completer.runOnce()).isZero();
    }

    /** Whatever its age: what its steps have done would be done again. */
    @Test
    void neitherExpireNorArePurgedBeforeTheyAreDone() throws Exception {
        assertThatThrownBy(() -> shop.idempotency.steps(Shop.request("old"), steps -> {
                    steps.step("reserve", tx -> "r");
                    throw new IOException("gone");
                }))
                .isInstanceOf(IOException.class);
        shop.database.execute(
                "update postroom.idempotency_key set expires_at = now() - interval '1 year' where key = 'old'");
        shop.database.postroom().maintenance().runOnce();
        assertThat(shop.idempotency.steps(Shop.request("old"), order(new ArrayList<>())))
                .isEqualTo(new Outcome.Executed(Answer.of(201, "r c"), true));
        assertThat(shop.keys("key = 'old' and expires_at > now() + interval '23 hours'"))
                .as("its answer is kept from when it was given")
                .isEqualTo(1);
    }

    @Test
    void thatAreOthersThanThoseThatWereDoneAreRefused() throws Exception {
        assertThatThrownBy(() -> shop.idempotency.steps(Shop.request("changed"), steps -> {
                    steps.step("pay", tx -> "p");
                    throw new IOException("gone");
                }))
                .isInstanceOf(IOException.class);
        assertThatThrownBy(() -> shop.idempotency.steps(Shop.request("changed"), order(new ArrayList<>())))
                .hasMessageContaining("step 1 was pay when it was done")
                .extracting("code")
                .isEqualTo("idempotency.steps-changed");
        assertThatThrownBy(() -> shop.idempotency.steps(
                        Shop.request("changed"), steps -> steps.answer(tx -> Answer.of(200, ""))))
                .extracting("code")
                .isEqualTo("idempotency.steps-changed");
        assertThat(shop.placed("changed")).isZero();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "Pay", "1", "a b", "a\nb"})
    void refusesNamesOfSteps(String name) {
        assertThatThrownBy(() -> shop.idempotency.steps(Shop.request("names"), steps -> {
                    steps.step(name, tx -> "");
                    return Answer.of(200, "");
                }))
                .hasMessageContaining("lower-case letters")
                .extracting("code")
                .isEqualTo("idempotency.step-invalid");
    }

    @Test
    void refusesToKeepMoreThanTheLimit() {
        assertThatThrownBy(() -> shop.idempotency.steps(Shop.request("much"), steps -> {
                    steps.step("fits", tx -> "x".repeat(Steps.VALUES_LENGTH_MAX));
                    steps.step("more", tx -> {
                        Shop.insert(tx, "much", "more");
                        return "x";
                    });
                    return Answer.of(200, "");
                }))
                .hasMessageContaining("65537 characters in all, the limit is 65536")
                .isInstanceOf(PostroomException.class);
        assertThat(shop.placed("much")).isZero();
    }

    private static CompletableFuture<Outcome> async(String key, Procedure<Exception> procedure) {
        return async(key, KeyPolicy.STANDARD, procedure);
    }

    private static CompletableFuture<Outcome> async(String key, KeyPolicy policy, Procedure<Exception> procedure) {
        return CompletableFuture.supplyAsync(() -> {
            try {
                return shop.idempotency.steps(Shop.request(key), policy, procedure);
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        });
    }

    private static long leasedUntil(String key) {
        return shop.database.queryLong("select (extract(epoch from leased_until) * 1000000)::bigint"
                + " from postroom.idempotency_key where key = '" + key + "'");
    }

    private static long micros() {
        return shop.database.queryLong("select (extract(epoch from clock_timestamp()) * 1000000)::bigint");
    }

    private static void insert(java.sql.Connection tx, String key, String step) throws IOException {
        try {
            Shop.insert(tx, key, step);
        } catch (SQLException e) {
            throw new IOException(e);
        }
    }

    /** As a read of a socket waits: no interrupt ends it. */
    private static void awaitDeaf(CountDownLatch go) {
        while (go.getCount() > 0) {
            try {
                assertThat(go.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
            } catch (InterruptedException e) {
                // Deaf.
                continue;
            }
        }
    }

    private static void await(String what, BooleanSupplier condition) {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).as(what).isLessThan(deadline);
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
        }
    }

    /** A procedure that lives keeps its lease, though others hold every connection for longer than that. */
    @Test
    void leasesAreRenewedWhileThePoolIsEmpty() throws Exception {
        try (HikariDataSource pool = TestDatabase.pool(shop.database.url(), 3)) {
            Idempotency busy = Postroom.on(pool).idempotency();
            KeyPolicy policy = KeyPolicy.STANDARD.lease(Duration.ofSeconds(2));
            List<Connection> all = new ArrayList<>();
            Outcome outcome = busy.steps(Shop.request("empty pool"), policy, steps -> {
                // The renewal gets one, if it wants one; all others are taken.
                long soon = System.nanoTime() + TimeUnit.SECONDS.toNanos(1);
                while (pool.getHikariPoolMXBean().getActiveConnections() == 0 && System.nanoTime() < soon) {
                    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
                }
                while (pool.getHikariPoolMXBean().getActiveConnections() < 3) {
                    all.add(pool.getConnection());
                }
                try {
                    long begun = leasedUntil();
                    await("renewed for two leases", () -> leasedUntil() > begun + 4_000);
                    assertThat(shop.keys("key = 'empty pool' and leased_until > clock_timestamp()"))
                            .isEqualTo(1);
                } finally {
                    for (Connection each : all) {
                        each.close();
                    }
                }
                return Answer.of(200, steps.step("one", tx -> "1"));
            });
            assertThat(outcome).isEqualTo(new Outcome.Executed(Answer.of(200, "1"), true));
            await("it is given back", () -> pool.getHikariPoolMXBean().getActiveConnections() == 0);
        }
    }

    private static long leasedUntil() {
        return shop.database.queryLong("select (extract(epoch from leased_until) * 1000)::bigint"
                + " from postroom.idempotency_key where key = 'empty pool'");
    }
}
