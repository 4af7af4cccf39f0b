package io.postroom.idempotency;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.postroom.Postroom;
import io.postroom.postgres.DatabaseException;
import io.postroom.telemetry.Telemetry;
import io.postroom.testkit.CutProxy;
import io.postroom.testkit.TestDatabase;
import io.postroom.testkit.TestPostgres;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A command in a transaction of its own. */
class OnceTest {
    private static final Duration PATIENCE = Duration.ofSeconds(20);

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
    void isDoneOnceAndAnsweredTheSameEachTime() throws SQLException {
        Outcome first = shop.place(Shop.request("same"));
        Outcome second = shop.place(Shop.request("same"));
        assertThat(first).isInstanceOf(Outcome.Executed.class);
        assertThat(second).isInstanceOf(Outcome.Replayed.class);
        assertThat(second.answer()).isEqualTo(first.answer());
        assertThat(shop.placed("same")).isEqualTo(1);
    }

    @Test
    void keepsStatusHeadersInTheirOrderAndEveryByteOfTheBody() {
        byte[] body = new byte[1024];
        for (int i = 0; i < body.length; i++) {
            body[i] = (byte) i;
        }
        Answer answer = new Answer(202, new java.util.LinkedHashMap<>(Map.of("Location", "/orders/7")), body);
        shop.idempotency.once(Shop.request("bytes"), tx -> answer);
        Answer again = shop.idempotency
                .once(Shop.request("bytes"), tx -> Answer.of(500, ""))
                .answer()
                .orElseThrow();
        assertThat(again).isEqualTo(answer);
        assertThat(again.body()).isEqualTo(body);
    }

    @Test
    void anEmptyAnswerIsAnAnswer() {
        shop.idempotency.once(Shop.request("empty"), tx -> Answer.of(204, ""));
        assertThat(shop.idempotency.once(Shop.request("empty"), tx -> Answer.of(200, "other")))
                .isEqualTo(new Outcome.Replayed(Answer.of(204, "")));
    }

    @Test
    void theSameKeyWithAnotherHashIsAMismatch() throws SQLException {
        shop.place(Shop.request("mismatch", "a"));
        assertThat(shop.place(Shop.request("mismatch", "b"))).isEqualTo(new Outcome.Mismatch());
        assertThat(shop.placed("mismatch")).isEqualTo(1);
    }

    /** T33: neither blocked by another tenant's key nor answered with its answer. */
    @Test
    void keysOfOtherTenantsAndScopesAreOthers() {
        for (IdempotencyKey key : List.of(
                new IdempotencyKey("t1", Shop.SCOPE, "k"),
                new IdempotencyKey("t2", Shop.SCOPE, "k"),
                new IdempotencyKey("", Shop.SCOPE, "k"),
                new IdempotencyKey("t1", "order.cancel", "k"))) {
            Outcome outcome =
                    shop.idempotency.once(new Request(key, Shop.hash("x")), tx -> Answer.of(200, key.toString()));
            assertThat(outcome).isEqualTo(new Outcome.Executed(Answer.of(200, key.toString()), true));
        }
    }

    @Test
    void whatThrowsLeavesNothingAndIsThrownAsItIs() {
        IOException thrown = new IOException("no");
        assertThatThrownBy(() -> shop.idempotency.once(Shop.request("throws"), tx -> {
                    insert(tx, "throws");
                    throw thrown;
                }))
                .isSameAs(thrown);
        assertThat(shop.placed("throws")).isZero();
        assertThat(shop.keys("key = 'throws'")).isZero();
        assertThat(shop.idempotency.once(Shop.request("throws"), tx -> Answer.of(200, "")))
                .isInstanceOf(Outcome.Executed.class);
    }

    @ParameterizedTest
    @CsvSource({
        "CLIENT_ERRORS_STORED, 200, true",
        "CLIENT_ERRORS_STORED, 302, true",
        "CLIENT_ERRORS_STORED, 404, true",
        "CLIENT_ERRORS_STORED, 499, true",
        "CLIENT_ERRORS_STORED, 500, false",
        "STORED, 409, true",
        "STORED, 503, true",
        "TRIED_AGAIN, 201, true",
        "TRIED_AGAIN, 400, false",
        "TRIED_AGAIN, 599, false",
    })
    void failuresAreStoredAsThePolicySaysAndTheirEffectsNever(Failures failures, int status, boolean stored)
            throws SQLException {
        String key = failures + "-" + status;
        KeyPolicy policy = KeyPolicy.STANDARD.failures(failures);
        Outcome first = shop.idempotency.once(Shop.request(key), policy, tx -> {
            Shop.insert(tx, key, "");
            return Answer.of(status, "first");
        });
        assertThat(first).isEqualTo(new Outcome.Executed(Answer.of(status, "first"), stored));
        assertThat(shop.placed(key)).isEqualTo(status < 400 ? 1 : 0);
        Outcome second = shop.idempotency.once(Shop.request(key), policy, tx -> Answer.of(status, "second"));
        assertThat(second)
                .isEqualTo(
                        stored
                                ? new Outcome.Replayed(Answer.of(status, "first"))
                                : new Outcome.Executed(Answer.of(status, "second"), false));
        assertThat(shop.keys("key = '" + key + "' and state = '" + (status < 400 ? "completed" : "failed") + "'"))
                .isEqualTo(stored ? 1 : 0);
    }

    @Test
    void aDuplicateIsToldAtOnceThatItRuns() throws Exception {
        try (Held held = new Held("running")) {
            long began = System.nanoTime();
            Outcome meanwhile = shop.place(Shop.request("running"));
            assertThat(meanwhile).isEqualTo(new Outcome.Running(Duration.ofSeconds(1)));
            assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(Duration.ofSeconds(2));
            assertThat(held.finish()).isInstanceOf(Outcome.Executed.class);
        }
        assertThat(shop.place(Shop.request("running"))).isInstanceOf(Outcome.Replayed.class);
        assertThat(shop.placed("running")).isEqualTo(1);
    }

    @Test
    void aDuplicateWithPatienceGetsTheAnswerWithoutHoldingAConnection() throws Exception {
        try (HikariDataSource pool = TestDatabase.pool(shop.database.url(), 1);
                Held held = new Held("patient")) {
            Idempotency other = Postroom.on(pool).idempotency();
            CompletableFuture<Outcome> waiting = CompletableFuture.supplyAsync(() -> other.once(
                    Shop.request("patient"), KeyPolicy.STANDARD.patience(PATIENCE), tx -> Answer.of(500, "")));
            // Its pool has one connection; others get it while it waits.
            for (int i = 0; i < 20; i++) {
                assertThat(other.once(Shop.request("patient-other-" + i), tx -> Answer.of(200, "")))
                        .isInstanceOf(Outcome.Executed.class);
            }
            assertThat(waiting).isNotDone();
            Outcome first = held.finish();
            assertThat(waiting.get(PATIENCE.toSeconds(), TimeUnit.SECONDS))
                    .isEqualTo(new Outcome.Replayed(first.answer().orElseThrow()));
        }
    }

    @Test
    void anExpiredAnswerIsAsIfItHadNeverBeenThere() throws SQLException {
        Outcome first = shop.place(Shop.request("expired", "a"));
        expire("expired");
        Outcome second = shop.place(Shop.request("expired", "b"));
        assertThat(second).isInstanceOf(Outcome.Executed.class);
        assertThat(second.answer()).isNotEqualTo(first.answer());
        assertThat(shop.place(Shop.request("expired", "b")).answer()).isEqualTo(second.answer());
        assertThat(shop.placed("expired")).isEqualTo(2);
    }

    @Test
    void anExpiredAnswerStaysIfTheCommandThatWouldReplaceItFails() throws SQLException {
        shop.place(Shop.request("expired-fails"));
        expire("expired-fails");
        assertThatThrownBy(() -> shop.idempotency.once(Shop.request("expired-fails"), tx -> {
                    throw new IOException("no");
                }))
                .isInstanceOf(IOException.class);
        assertThat(shop.keys("key = 'expired-fails'")).isEqualTo(1);
    }

    @Test
    void anAnswerIsKeptForADayUnlessThePolicySaysOtherwise() throws SQLException {
        shop.place(Shop.request("day"));
        shop.idempotency.once(
                Shop.request("hour"), KeyPolicy.STANDARD.expiry(Duration.ofHours(1)), tx -> Answer.of(200, ""));
        assertThat(shop.keys("key = 'day' and expires_at - completed_at between '23:59:59' and '24:00:01'"))
                .isEqualTo(1);
        assertThat(shop.keys("key = 'hour' and expires_at - completed_at between '00:59:59' and '01:00:01'"))
                .isEqualTo(1);
    }

    private static void expire(String key) {
        shop.database.execute(
                "update postroom.idempotency_key set expires_at = clock_timestamp() where key = '" + key + "'");
    }

    @ParameterizedTest
    @ValueSource(strings = {"commit", "rollback"})
    void aCommandThatEndsItsTransactionIsFoundOut(String verb) {
        assertThatThrownBy(() -> shop.idempotency.once(Shop.request("ends-" + verb), tx -> {
                    Shop.insert(tx, "ends-" + verb, "");
                    try (Statement statement = tx.createStatement()) {
                        statement.execute(verb);
                        statement.execute("select 1");
                    }
                    return Answer.of(200, "");
                }))
                .hasMessageContaining("its command has committed or rolled back")
                .extracting("code")
                .isEqualTo("idempotency.transaction-ended");
        assertThat(shop.keys("key = 'ends-" + verb + "'")).isZero();
    }

    @Test
    void aStatementThatFailedAndWasHiddenIsFoundOut() {
        assertThatThrownBy(() -> shop.idempotency.once(Shop.request("hidden"), tx -> {
                    try (Statement statement = tx.createStatement()) {
                        statement.execute("select 1 / 0");
                    } catch (SQLException e) {
                        // Nobody says so.
                    }
                    return Answer.of(200, "");
                }))
                .extracting("code")
                .isEqualTo("idempotency.transaction-aborted");
        assertThat(shop.keys("key = 'hidden'")).isZero();
    }

    @Test
    void aConstraintThatIsCheckedAtTheCommitRollsEverythingBack() {
        shop.database.execute(
                "create table if not exists late (id int unique deferrable initially deferred)",
                "insert into late values (1)");
        assertThatThrownBy(() -> shop.idempotency.once(Shop.request("late"), tx -> {
                    try (Statement statement = tx.createStatement()) {
                        statement.execute("insert into late values (1)");
                    }
                    return Answer.of(200, "");
                }))
                .isInstanceOfSatisfying(
                        DatabaseException.class, e -> assertThat(e.sqlState()).isEqualTo("23505"));
        assertThat(shop.keys("key = 'late'")).isZero();
        assertThat(shop.database.queryLong("select count(*) from late")).isEqualTo(1);
    }

    /** The row appears in the middle of the command, as if the lock had not been there. */
    @Test
    void aKeyThatAppearsMeanwhileIsAnsweredAndTheCommandIsRolledBack() throws SQLException {
        Outcome outcome = shop.idempotency.once(Shop.request("appears"), tx -> {
            Shop.insert(tx, "appears", "");
            insertAnswer("appears", "body");
            return Answer.of(200, "mine");
        });
        assertThat(outcome).isEqualTo(new Outcome.Replayed(Answer.of(200, "theirs")));
        assertThat(shop.placed("appears")).isZero();
    }

    private static void insertAnswer(String key, String body) {
        shop.database.execute(
                "insert into postroom.idempotency_key (tenant_id, scope, key, request_hash, state, status_code,"
                        + " response, completed_at, expires_at) values ('', 'order.create', '" + key + "', sha256('"
                        + body
                        + "'), 'completed', 200, 'theirs', now(), now() + interval '1 hour')");
    }

    @Test
    void whoseCommitWasDoneAndTheAnswerToItLostIsAnswered() throws SQLException {
        try (CutProxy proxy = CutProxy.to(TestPostgres.shared().port());
                HikariDataSource pool = TestDatabase.pool(proxy.url(shop.database.url()), 2)) {
            Idempotency far = Postroom.on(pool).idempotency();
            Outcome outcome = far.once(Shop.request("lost"), tx -> {
                Shop.insert(tx, "lost", "");
                proxy.cutAfterNextCommit();
                return Answer.of(201, "once");
            });
            assertThat(proxy.commitsCut()).isEqualTo(1);
            assertThat(outcome.answer()).contains(Answer.of(201, "once"));
            assertThat(far.once(Shop.request("lost"), Shop.place("lost")))
                    .isEqualTo(new Outcome.Replayed(Answer.of(201, "once")));
        }
        assertThat(shop.placed("lost")).isEqualTo(1);
    }

    @Test
    void whoseConnectionIsCutBeforeTheCommitHasNotHappened() throws SQLException {
        try (CutProxy proxy = CutProxy.to(TestPostgres.shared().port());
                HikariDataSource pool = TestDatabase.pool(proxy.url(shop.database.url()), 2)) {
            Idempotency far = Postroom.on(pool).idempotency();
            assertThatThrownBy(() -> far.once(Shop.request("cut"), tx -> {
                        Shop.insert(tx, "cut", "");
                        proxy.cut();
                        return Answer.of(201, "never");
                    }))
                    .isInstanceOfSatisfying(
                            DatabaseException.class,
                            e -> assertThat(e.isUnreachable()).isTrue());
            Outcome again = far.once(Shop.request("cut"), KeyPolicy.STANDARD.patience(PATIENCE), Shop.place("cut"));
            assertThat(again).isInstanceOf(Outcome.Executed.class);
        }
        assertThat(shop.placed("cut")).isEqualTo(1);
    }

    /** T37: nobody's default isolation makes it happen twice, or fail. */
    @ParameterizedTest
    @ValueSource(strings = {"repeatable read", "serializable"})
    void worksWhereTransactionsAreRepeatableReadOrSerializable(String isolation) throws Exception {
        String key = "isolation-" + isolation.charAt(0);
        String url = shop.database.url() + (shop.database.url().contains("?") ? "&" : "?")
                + "options=-c%20default_transaction_isolation=" + isolation.replace(" ", "\\%20");
        try (HikariDataSource pool = TestDatabase.pool(url, 4)) {
            Idempotency strict = Postroom.on(pool).idempotency();
            Outcome outcome = strict.once(Shop.request(key), tx -> {
                try (Statement statement = tx.createStatement();
                        ResultSet row = statement.executeQuery("show transaction_isolation")) {
                    row.next();
                    assertThat(row.getString(1)).isEqualTo(isolation);
                }
                Shop.insert(tx, key, "");
                insertAnswer(key, "body");
                return Answer.of(200, "mine");
            });
            assertThat(outcome).isEqualTo(new Outcome.Replayed(Answer.of(200, "theirs")));
            assertThat(shop.placed(key)).isZero();
            assertThat(strict.once(Shop.request(key + "2"), Shop.place(key + "2")))
                    .isInstanceOf(Outcome.Executed.class);
        }
    }

    @Test
    void everyOutcomeIsCounted() throws Exception {
        List<String> heard = new CopyOnWriteArrayList<>();
        Idempotency counted = Postroom.builder(shop.database.dataSource())
                .telemetry(new Telemetry() {
                    @Override
                    public void requested(String scope, String outcome) {
                        heard.add(scope + " " + outcome);
                    }
                })
                .build()
                .idempotency();
        counted.once(Shop.request("counted"), tx -> Answer.of(200, ""));
        counted.once(Shop.request("counted"), tx -> Answer.of(200, ""));
        counted.once(Shop.request("counted", "other"), tx -> Answer.of(200, ""));
        try (Held held = new Held("counted-2")) {
            counted.once(Shop.request("counted-2"), tx -> Answer.of(200, ""));
            held.finish();
        }
        counted.once(Shop.request("counted-3"), tx -> Answer.of(503, ""));
        assertThatThrownBy(() -> counted.once(Shop.request("counted-4"), tx -> {
                    throw new IOException("never");
                }))
                .hasMessage("never");
        assertThatThrownBy(() -> counted.steps(Shop.request("counted-5"), steps -> {
                    throw new IOException("never");
                }))
                .hasMessage("never");
        assertThat(heard)
                .containsExactly(
                        "order.create executed",
                        "order.create replayed",
                        "order.create mismatch",
                        "order.create in_progress",
                        "order.create failed",
                        "order.create failed",
                        "order.create failed");
    }

    private static void insert(Connection tx, String key) throws IOException {
        try {
            Shop.insert(tx, key, "");
        } catch (SQLException e) {
            throw new IOException(e);
        }
    }

    /** A command that stands in its middle until it is told to finish. */
    private static final class Held implements AutoCloseable {
        private final CountDownLatch go = new CountDownLatch(1);
        private final CompletableFuture<Outcome> outcome;

        private Held(String key) throws InterruptedException {
            CountDownLatch inside = new CountDownLatch(1);
            outcome = CompletableFuture.supplyAsync(() -> {
                try {
                    return shop.idempotency.once(Shop.request(key), tx -> {
                        Shop.insert(tx, key, "");
                        inside.countDown();
                        assertThat(go.await(PATIENCE.toSeconds(), TimeUnit.SECONDS))
                                .isTrue();
                        return new Answer(201, Map.of(), "held".getBytes(StandardCharsets.UTF_8));
                    });
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            });
            assertThat(inside.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
        }

        private Outcome finish() throws Exception {
            go.countDown();
            return outcome.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        }

        @Override
        public void close() {
            go.countDown();
        }
    }
}
