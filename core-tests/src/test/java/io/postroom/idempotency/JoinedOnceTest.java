package io.postroom.idempotency;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A command in the caller's transaction. */
class JoinedOnceTest {
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
    void isDoneAndAnsweredIfAndOnlyIfTheCallerCommits() throws SQLException {
        try (Connection tx = shop.database.begin()) {
            assertThat(shop.idempotency.once(tx, Shop.request("rolled-back"), Shop.place("rolled-back")))
                    .isInstanceOf(Outcome.Executed.class);
            tx.rollback();
            assertThat(shop.keys("key = 'rolled-back'")).isZero();
            Outcome first = shop.idempotency.once(tx, Shop.request("committed"), Shop.place("committed"));
            assertThat(shop.place(Shop.request("committed"))).isInstanceOf(Outcome.Running.class);
            tx.commit();
            assertThat(shop.place(Shop.request("committed")).answer()).isEqualTo(first.answer());
            assertThat(shop.idempotency.once(tx, Shop.request("committed"), Shop.place("committed")))
                    .isEqualTo(new Outcome.Replayed(first.answer().orElseThrow()));
            tx.commit();
        }
        assertThat(shop.placed("committed")).isEqualTo(1);
    }

    @Test
    void twiceInOneTransactionIsOnce() throws SQLException {
        try (Connection tx = shop.database.begin()) {
            Outcome first = shop.idempotency.once(tx, Shop.request("twice"), Shop.place("twice"));
            Outcome second = shop.idempotency.once(tx, Shop.request("twice"), Shop.place("twice"));
            assertThat(second).isEqualTo(new Outcome.Replayed(first.answer().orElseThrow()));
            tx.commit();
        }
        assertThat(shop.placed("twice")).isEqualTo(1);
    }

    /** T32: the failure's answer stays, its effects do not, and what the caller did before is not touched. */
    @Test
    void aStoredFailureLeavesItsAnswerAndNothingElse() throws SQLException {
        try (Connection tx = shop.database.begin()) {
            Shop.insert(tx, "before", "");
            shop.idempotency.once(tx, Shop.request("refused"), command -> {
                Shop.insert(command, "refused", "");
                return Answer.of(409, "sold out");
            });
            tx.commit();
        }
        assertThat(shop.placed("before")).isEqualTo(1);
        assertThat(shop.placed("refused")).isZero();
        assertThat(shop.place(Shop.request("refused"))).isEqualTo(new Outcome.Replayed(Answer.of(409, "sold out")));
    }

    @Test
    void aFailureThatIsNotStoredLeavesNothing() throws SQLException {
        try (Connection tx = shop.database.begin()) {
            Outcome outcome = shop.idempotency.once(tx, Shop.request("down"), command -> {
                Shop.insert(command, "down", "");
                return Answer.of(503, "later");
            });
            assertThat(outcome).isEqualTo(new Outcome.Executed(Answer.of(503, "later"), false));
            tx.commit();
        }
        assertThat(shop.placed("down")).isZero();
        assertThat(shop.keys("key = 'down'")).isZero();
    }

    @Test
    void whatThrowsIsUndoneAndTheCallerMayGoOn() throws SQLException {
        try (Connection tx = shop.database.begin()) {
            Shop.insert(tx, "goes-on", "");
            assertThatThrownBy(() -> shop.idempotency.once(tx, Shop.request("throws"), command -> {
                        try (Statement statement = command.createStatement()) {
                            statement.execute("select 1 / 0");
                        } catch (SQLException e) {
                            throw new IOException(e);
                        }
                        return Answer.of(200, "");
                    }))
                    .isInstanceOf(IOException.class);
            tx.commit();
        }
        assertThat(shop.placed("goes-on")).isEqualTo(1);
        assertThat(shop.keys("key = 'throws'")).isZero();
    }

    @Test
    void aKeyThatAppearsMeanwhileIsAnsweredAndTheCommandUndone() throws SQLException {
        try (Connection tx = shop.database.begin()) {
            Outcome outcome = shop.idempotency.once(tx, Shop.request("appears"), command -> {
                Shop.insert(command, "appears", "");
                answeredByAnother("appears");
                return Answer.of(200, "mine");
            });
            assertThat(outcome).isEqualTo(new Outcome.Replayed(Answer.of(200, "theirs")));
            tx.commit();
        }
        assertThat(shop.placed("appears")).isZero();
    }

    /** T37: its snapshot does not show the answer that another has committed since. It must not happen twice. */
    @ParameterizedTest
    @ValueSource(ints = {Connection.TRANSACTION_REPEATABLE_READ, Connection.TRANSACTION_SERIALIZABLE})
    void aTransactionThatBeganTooEarlyToSeeTheAnswerIsToldSo(int isolation) throws SQLException {
        String key = "early-" + isolation;
        try (Connection tx = shop.database.begin();
                Statement statement = tx.createStatement()) {
            tx.setTransactionIsolation(isolation);
            statement.execute("select 1");
            shop.place(Shop.request(key));
            assertThatThrownBy(() -> shop.idempotency.once(tx, Shop.request(key), Shop.place(key)))
                    .extracting("code")
                    .isEqualTo("idempotency.snapshot-too-old");
            tx.rollback();
            assertThat(shop.idempotency.once(tx, Shop.request(key), Shop.place(key)))
                    .isInstanceOf(Outcome.Replayed.class);
            tx.rollback();
            tx.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
        }
        assertThat(shop.placed(key)).isEqualTo(1);
    }

    @Test
    void refusesAConnectionWithoutATransaction() throws SQLException {
        try (Connection tx = shop.database.dataSource().getConnection()) {
            assertThatThrownBy(() -> shop.idempotency.once(tx, Shop.request("auto"), Shop.place("auto")))
                    .hasMessageContaining("auto-commit is on")
                    .extracting("code")
                    .isEqualTo("idempotency.no-transaction");
        }
        assertThat(shop.placed("auto")).isZero();
    }

    @Test
    void saysThatTheTransactionWasAbortedBefore() throws SQLException {
        try (Connection tx = shop.database.begin();
                Statement statement = tx.createStatement()) {
            assertThatThrownBy(() -> statement.execute("select 1 / 0")).isInstanceOf(SQLException.class);
            assertThatThrownBy(() -> shop.idempotency.once(tx, Shop.request("aborted"), Shop.place("aborted")))
                    .extracting("code")
                    .isEqualTo("idempotency.transaction-aborted");
            tx.rollback();
        }
    }

    private static void answeredByAnother(String key) {
        shop.database.execute(
                "insert into postroom.idempotency_key (tenant_id, scope, key, request_hash, state, status_code,"
                        + " response, completed_at, expires_at) values ('', 'order.create', '" + key
                        + "', sha256('body'), 'completed', 200, 'theirs', now(), now() + interval '1 hour')");
    }
}
