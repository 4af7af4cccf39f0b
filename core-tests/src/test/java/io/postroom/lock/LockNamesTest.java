package io.postroom.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.postroom.Postroom;
import io.postroom.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Two names with one number: nobody can wait for such a pair, so that the table is told of one. */
class LockNamesTest {
    private static TestDatabase database;

    @BeforeAll
    static void create() {
        database = TestDatabase.create();
    }

    @AfterAll
    static void drop() {
        database.close();
    }

    private static LockNames names() {
        return new LockNames(
                database.postroom().database(),
                new HoldTable(database.postroom().database().schema()));
    }

    @Test
    void thatOneProcessUsesAreTold() {
        LockNames names = names();
        names.used("a", 1);
        names.used("a", 1);
        assertThat(names.suspicion(1)).isEmpty();
        names.used("b", 1);
        assertThat(names.suspicion(1))
                .contains("locks 'b' and 'a' share the number 1")
                .contains("rename one");
        assertThat(names.suspicion(2)).isEmpty();
    }

    @Test
    void thatTwoProcessesUseAreTold() throws Exception {
        LockNames first = names();
        LockNames second = names();
        first.used("here", 7);
        Patience.await("it is noted", () -> noted("key = 7 and name = 'here'") == 1);
        second.used("there", 7);
        Patience.await("it is told", () -> second.suspicion(7).contains("locks 'there' and 'here' share"));
        assertThat(noted("key = 7 and name = 'here'")).as("the first stays").isEqualTo(1);
    }

    @Test
    void areNamedByWhoeverWaitedForNothing() throws Exception {
        Locks locks = database.postroom().locks();
        database.execute("insert into postroom.lock_name values (postroom.lock_key('mine'), 'yours')");
        try (Connection holder = database.begin();
                Connection other = database.begin()) {
            assertThat(locks.tryHold(holder, "mine"))
                    .as("it works all the same")
                    .isTrue();
            Patience.await("it is told", () -> {
                try {
                    locks.hold(other, "mine", Duration.ofMillis(1));
                    return false;
                } catch (LockBusyException e) {
                    return e.getMessage().contains("locks 'mine' and 'yours' share the number");
                }
            });
            holder.rollback();
            other.rollback();
        }
    }

    /** Whoever takes a lock has a connection already. If it needed a second one, a pool of callers would wait for itself. */
    @Test
    void areLookedForWithoutASecondConnectionOfTheCallers() throws SQLException {
        try (HikariDataSource one = TestDatabase.pool(database.url(), 1);
                Connection tx = one.getConnection()) {
            tx.setAutoCommit(false);
            assertThat(Postroom.on(one).locks().tryHold(tx, "the only connection"))
                    .isTrue();
            tx.rollback();
        }
    }

    @Test
    void areRememberedUpToALimit() throws Exception {
        LockNames names = names();
        for (int i = 0; i < LockNames.NAMES_MAX + 5; i++) {
            names.used("many-" + i, 1_000_000 + i);
        }
        Patience.await("they are noted", () -> noted("key >= 1000000") == LockNames.NAMES_MAX);
        names.used("other", 1_000_000 + LockNames.NAMES_MAX);
        assertThat(names.suspicion(1_000_000 + LockNames.NAMES_MAX))
                .as("beyond the limit nothing is told")
                .isEmpty();
    }

    @Test
    void areForgottenAMonthAfterTheirLastUse() throws Exception {
        database.execute(
                "insert into postroom.lock_name values (-1, 'old', clock_timestamp() - interval '31 days'),"
                        + " (-2, 'used', clock_timestamp() - interval '31 days'), (-3, 'young', clock_timestamp() - interval '29 days')");
        names().used("used", -2);
        Patience.await(
                "it is noted anew", () -> noted("key = -2 and noted_at > clock_timestamp() - interval '1 day'") == 1);
        database.postroom().maintenance().runOnce();
        assertThat(noted("key = -1")).isZero();
        assertThat(noted("key in (-2, -3)")).isEqualTo(2);
        for (String batch : new String[] {"null", "0", "100001"}) {
            assertThatThrownBy(() -> database.execute("select postroom.purge_locks(" + batch + ")"))
                    .hasMessageContaining("the range is 1 to 100000");
        }
    }

    /** By a process that has run for a month. */
    @Test
    void areNotedAnewWhileTheyAreUsed() throws Exception {
        LockNames names = new LockNames(
                database.postroom().database(),
                new HoldTable(database.postroom().database().schema()),
                Duration.ZERO);
        names.used("lasting", -9);
        Patience.await("it is noted", () -> noted("key = -9") == 1);
        database.execute(
                "update postroom.lock_name set noted_at = clock_timestamp() - interval '29 days' where key = -9");
        names.used("lasting", -9);
        Patience.await(
                "it is noted anew", () -> noted("key = -9 and noted_at > clock_timestamp() - interval '1 day'") == 1);
    }

    private static long noted(String condition) {
        return database.queryLong("select count(*) from postroom.lock_name where " + condition);
    }
}
