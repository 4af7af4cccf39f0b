package io.postroom.idempotency;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.postroom.Postroom;
import io.postroom.audit.AuditEntry;
import io.postroom.audit.AuditFilter;
import io.postroom.postgres.DatabaseException;
import io.postroom.postgres.Grants;
import io.postroom.postgres.Schema;
import io.postroom.testkit.TestDatabase;
import java.io.IOException;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Keys in the hands of operators. */
class IdempotencyKeysTest {
    private static final IdempotencyKeys.Act ACT = new IdempotencyKeys.Act("anna", "the worker is gone");

    private Shop shop;
    private IdempotencyKeys keys;

    @BeforeEach
    void open() {
        shop = new Shop();
        keys = shop.database.postroom().idempotencyKeys();
    }

    @AfterEach
    void close() {
        shop.close();
    }

    /** Begun, one step done, and somebody holds it for an hour. */
    private KeyDetails stuck(String key) {
        assertThatThrownBy(() -> shop.idempotency.steps(Shop.request(key), steps -> {
                    steps.step("reserve", tx -> "r");
                    throw new IOException("gone");
                }))
                .isInstanceOf(IOException.class);
        shop.database.execute(
                "update postroom.idempotency_key set leased_until = now() + interval '1 hour' where key = '" + key
                        + "'");
        return keys.find(Shop.key(key)).orElseThrow();
    }

    private Outcome ask(String key) {
        return shop.idempotency.steps(Shop.request(key), steps -> Answer.of(200, steps.step("reserve", tx -> "again")));
    }

    /** It has no row before it ends. */
    @Test
    void findTheSessionWhoseCommandHasAKey() throws SQLException {
        Request request = new Request(new IdempotencyKey("t1", Shop.SCOPE, "held"), Shop.hash(""));
        shop.idempotency.once(request, tx -> {
            long pid = tx.unwrap(org.postgresql.PGConnection.class).getBackendPID();
            assertThat(keys.find(request.key())).isEmpty();
            assertThat(keys.holder(request.key())).hasValueSatisfying(holder -> {
                assertThat((long) holder.pid()).isEqualTo(pid);
                assertThat(holder.since()).isNotNull();
                assertThat(holder.toString()).contains("to end it: select pg_terminate_backend(" + pid + ")");
            });
            assertThat(keys.holder(Shop.key("held"))).as("of another tenant").isEmpty();
            return Answer.of(200, "");
        });
        assertThat(keys.holder(request.key())).isEmpty();
    }

    @Test
    void showWhereAKeyIs() throws SQLException {
        shop.place(Shop.request("done"));
        KeyDetails done = keys.find(Shop.key("done")).orElseThrow();
        assertThat(done.state()).isEqualTo(KeyState.COMPLETED);
        assertThat(done.status()).isEqualTo(201);
        assertThat(done.hash()).isEqualTo("230d8358dc8e8890b4c58deeb62912ee2f20357ae92a5cc861b98e68fe31acb5");
        assertThat(done.completedAt()).isAfterOrEqualTo(done.createdAt());
        KeyDetails stuck = stuck("stuck");
        assertThat(stuck.state()).isEqualTo(KeyState.RUNNING);
        assertThat(stuck.leased()).isTrue();
        assertThat(stuck.steps()).isEqualTo(1);
        assertThat(stuck.step()).isEqualTo("reserve");
        assertThat(keys.find(Shop.key("unknown"))).isEmpty();
    }

    @Test
    void aReleasedKeyGoesOnAtOnceWhereItWas() {
        KeyDetails stuck = stuck("released");
        assertThat(ask("released")).isInstanceOf(Outcome.Running.class);
        keys.release(stuck, ACT);
        assertThat(ask("released")).isEqualTo(new Outcome.Executed(Answer.of(200, "r"), true));
        AuditEntry entry = shop.database
                .postroom()
                .audit()
                .list(AuditFilter.ofSubject("idempotency key order.create released"), null, 10)
                .get(0);
        assertThat(entry.action()).isEqualTo("idempotency release");
        assertThat(entry.actor()).isEqualTo("anna");
        assertThat(entry.details())
                .contains("\"steps\": 1")
                .contains("\"forget\": false")
                .contains("\"leased\": true");
    }

    @Test
    void aForgottenKeyBeginsAnew() throws SQLException {
        keys.forget(stuck("forgotten"), ACT);
        assertThat(ask("forgotten")).isEqualTo(new Outcome.Executed(Answer.of(200, "again"), true));
        shop.place(Shop.request("answered"));
        keys.forget(keys.find(Shop.key("answered")).orElseThrow(), ACT);
        assertThat(shop.place(Shop.request("answered"))).isInstanceOf(Outcome.Executed.class);
    }

    @Test
    void whatHasChangedSinceItWasShownIsLeftAlone() throws SQLException {
        KeyDetails stuck = stuck("changed");
        keys.release(stuck, ACT);
        for (KeyDetails old : List.of(stuck)) {
            assertThatThrownBy(() -> keys.release(old, ACT)).extracting("code").isEqualTo("idempotency.key-changed");
            assertThatThrownBy(() -> keys.forget(old, ACT)).extracting("code").isEqualTo("idempotency.key-changed");
        }
        shop.place(Shop.request("answered"));
        assertThatThrownBy(() -> keys.release(keys.find(Shop.key("answered")).orElseThrow(), ACT))
                .hasMessageContaining("it is completed")
                .extracting("code")
                .isEqualTo("idempotency.not-running");
        assertThat(shop.database.queryLong("select count(*) from postroom.audit"))
                .isEqualTo(1);
    }

    /** The answer that was looked at has expired, and another was stored since. */
    @Test
    void anAnswerThatIsNotTheOneThatWasSeenIsNotForgotten() throws SQLException {
        shop.place(Shop.request("again"));
        KeyDetails seen = keys.find(Shop.key("again")).orElseThrow();
        shop.database.execute("update postroom.idempotency_key set expires_at = now()");
        assertThat(shop.place(Shop.request("again"))).isInstanceOf(Outcome.Executed.class);
        assertThatThrownBy(() -> keys.forget(seen, ACT)).extracting("code").isEqualTo("idempotency.key-changed");
        keys.forget(keys.find(Shop.key("again")).orElseThrow(), ACT);
        assertThat(keys.find(Shop.key("again"))).isEmpty();
    }

    @Test
    void anActNeedsSomebodyAndAReason() {
        KeyDetails stuck = stuck("reason");
        assertThatThrownBy(() -> keys.release(stuck, new IdempotencyKeys.Act("anna", " ")))
                .hasMessageContaining("reason is empty")
                .extracting("code")
                .isEqualTo("audit.invalid");
        assertThat(keys.find(Shop.key("reason"))).contains(stuck);
    }

    @Test
    void pagesWithoutGapOrRepetition() throws SQLException {
        for (int i = 0; i < 12; i++) {
            String tenant = "t" + i % 3;
            shop.idempotency.once(
                    new Request(new IdempotencyKey(tenant, "order.create", "k" + i), Shop.hash("")),
                    tx -> Answer.of(tenant.equals("t0") ? 404 : 200, ""));
        }
        stuck("stuck");
        KeyFilter all = new KeyFilter(null, null, null);
        List<String> seen = new ArrayList<>();
        List<KeyDetails> page = keys.list(all, null, 5);
        while (!page.isEmpty()) {
            page.forEach(key -> seen.add(key.key().toString()));
            page = keys.list(all, page.get(page.size() - 1).key(), 5);
        }
        assertThat(seen).hasSize(13).doesNotHaveDuplicates();
        assertThat(keys.list(KeyFilter.RUNNING, null, 10))
                .extracting(key -> key.key().key())
                .containsExactly("stuck");
        assertThat(keys.list(new KeyFilter("t0", null, KeyState.FAILED), null, 10))
                .hasSize(4);
        assertThat(keys.list(new KeyFilter("t1", "order.create", null), null, 10))
                .hasSize(4);
        assertThat(keys.list(new KeyFilter(null, "order.cancel", null), null, 10))
                .isEmpty();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1001})
    void refusesPagesBeyondTheLimit(int limit) {
        assertThatThrownBy(() -> keys.list(KeyFilter.RUNNING, null, limit))
                .hasMessageContaining("the range is 1 to 1000");
    }

    /** An application does everything; people see and release, but never what was answered. */
    @Test
    void everyRoleDoesWhatItMay() throws SQLException {
        Grants grants = Grants.of(new Schema(shop.database.name()));
        shop.database.execute(grants.print(Schema.POSTROOM), "grant insert on placed to " + grants.writer());
        try (HikariDataSource writers = as(grants.writer());
                HikariDataSource operators = as(grants.operator());
                HikariDataSource readers = as(grants.reader())) {
            Idempotency writer = Postroom.on(writers).idempotency();
            assertThat(writer.once(Shop.request("w"), Shop.place("w"))).isInstanceOf(Outcome.Executed.class);
            shop.database.execute("update postroom.idempotency_key set expires_at = now()");
            assertThat(writer.once(Shop.request("w"), Shop.place("w"))).isInstanceOf(Outcome.Executed.class);
            assertThat(writer.steps(Shop.request("s"), steps -> Answer.of(200, steps.step("one", tx -> "1"))))
                    .isInstanceOf(Outcome.Executed.class);
            KeyDetails stuck = stuck("stuck");
            assertThat(Postroom.on(readers).idempotencyKeys().list(KeyFilter.RUNNING, null, 10))
                    .containsExactly(stuck);
            IdempotencyKeys operator = Postroom.on(operators).idempotencyKeys();
            assertThatThrownBy(() -> Postroom.on(readers).idempotencyKeys().release(stuck, ACT))
                    .isInstanceOf(DatabaseException.class);
            operator.release(stuck, ACT);
            operator.forget(operator.find(Shop.key("w")).orElseThrow(), ACT);
            for (HikariDataSource people : List.of(operators, readers)) {
                for (String column : List.of("response", "headers", "recovery")) {
                    assertThatThrownBy(() -> people.getConnection()
                                    .createStatement()
                                    .execute("select " + column + " from postroom.idempotency_key"))
                            .hasMessageContaining("permission denied");
                }
            }
        } finally {
            for (String role : grants.roles()) {
                shop.database.execute(
                        "reassign owned by " + role + " to current_user", "drop owned by " + role, "drop role " + role);
            }
        }
    }

    private HikariDataSource as(String role) {
        String url = shop.database.url();
        return TestDatabase.pool(url + (url.contains("?") ? "&" : "?") + "options=-c%20role=" + role, 4);
    }
}
