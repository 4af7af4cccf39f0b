package io.postroom.idempotency;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postroom.postgres.Database;
import io.postroom.postgres.DatabaseException;
import io.postroom.postgres.Schema;
import io.postroom.telemetry.Telemetry;
import io.postroom.testkit.CutProxy;
import io.postroom.testkit.TestPostgres;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.postgresql.ds.PGSimpleDataSource;

/** A server that vanishes closes no connection: nobody waits for its answer to our statements for longer than for any single one. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class VanishedServerTest {
    private static final Duration ANSWER_WITHIN = Duration.ofMillis(500);

    private Shop shop;
    private CutProxy proxy;
    private Idempotency far;
    private final AtomicBoolean vanish = new AtomicBoolean();

    @BeforeEach
    void open() {
        shop = new Shop();
        proxy = CutProxy.to(TestPostgres.shared().port());
        PGSimpleDataSource connections = new Vanishing();
        connections.setUrl(proxy.url(shop.database.url()));
        far = new Idempotency(new Database(connections, Schema.POSTROOM, ANSWER_WITHIN), Telemetry.NONE);
    }

    @AfterEach
    void close() {
        proxy.close();
        shop.close();
    }

    /** The next connection goes silent before its first statement. */
    private final class Vanishing extends PGSimpleDataSource {
        private static final long serialVersionUID = 1L;

        @Override
        public Connection getConnection() throws SQLException {
            Connection connection = super.getConnection();
            if (vanish.getAndSet(false)) {
                proxy.strand();
            }
            return connection;
        }
    }

    @Test
    void beforeTheClaimHoldsUpNoRequest() throws SQLException {
        vanish.set(true);
        assertThatThrownBy(() -> far.once(Shop.request("claim"), Shop.place("claim")))
                .isInstanceOf(DatabaseException.class);
        assertThat(far.once(Shop.request("claim"), Shop.place("claim"))).isInstanceOf(Outcome.Executed.class);
        vanish.set(true);
        assertThatThrownBy(() -> far.steps(Shop.request("steps"), steps -> Answer.of(200, "never")))
                .isInstanceOf(DatabaseException.class);
        assertThat(shop.placed("claim")).isEqualTo(1);
    }

    @Test
    void beforeTheAnswerIsStoredHoldsUpNoRequest() throws SQLException {
        Outcome outcome = far.once(Shop.request("store"), tx -> {
            Shop.insert(tx, "store", "");
            proxy.strand();
            return Answer.of(200, "");
        });
        assertThat(outcome).as("what is left of its session still has the key").isInstanceOf(Outcome.Running.class);
        assertThatThrownBy(() -> far.steps(Shop.request("step"), steps -> {
                    steps.step("one", tx -> {
                        proxy.strand();
                        return "";
                    });
                    return Answer.of(200, "never");
                }))
                .isInstanceOf(DatabaseException.class);
        assertThat(shop.placed("store")).isZero();
    }

    @Test
    void aCommandMayTakeLongerThanAStatementOfOurs() throws SQLException {
        assertThat(far.once(Shop.request("slow"), tx -> {
                    sleep(tx);
                    return Answer.of(200, "");
                }))
                .isInstanceOf(Outcome.Executed.class);
        assertThat(far.steps(Shop.request("slow-steps"), steps -> {
                    steps.step("one", tx -> {
                        sleep(tx);
                        return "";
                    });
                    return steps.answer(tx -> {
                        sleep(tx);
                        return Answer.of(200, "");
                    });
                }))
                .isInstanceOf(Outcome.Executed.class);
    }

    private static void sleep(Connection tx) throws SQLException {
        try (Statement statement = tx.createStatement()) {
            statement.execute("select pg_sleep(1.2)");
        }
    }
}
