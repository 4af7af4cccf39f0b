package io.postroom.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postroom.Postroom;
import io.postroom.PostroomException;
import io.postroom.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Locks that a transaction holds. */
class HoldTest {
    private static final Duration SHORT = Duration.ofMillis(50);

    private static TestDatabase database;
    private static Locks locks;

    @BeforeAll
    static void create() {
        database = TestDatabase.create();
        locks = database.postroom().locks();
        database.execute("create table counter (n bigint not null)", "insert into counter values (0)");
    }

    @AfterAll
    static void drop() {
        database.close();
    }

    @Test
    void oneTransactionHasItUntilItEndsHoweverThatIs() throws SQLException {
        try (Connection first = database.begin();
                Connection second = database.begin()) {
            for (boolean commits : List.of(true, false)) {
                assertThat(locks.tryHold(first, "scan")).isTrue();
                assertThat(locks.tryHold(first, "scan")).as("again").isTrue();
                assertThat(locks.tryHold(second, "scan")).isFalse();
                assertThat(locks.tryHold(second, "scan2")).as("another name").isTrue();
                if (commits) {
                    first.commit();
                } else {
                    first.rollback();
                }
                assertThat(locks.tryHold(second, "scan")).isTrue();
                second.rollback();
            }
        }
    }

    @Test
    void whatWasHeldSinceASavepointEndsWithIt() throws SQLException {
        try (Connection first = database.begin();
                Connection second = database.begin()) {
            Savepoint before = first.setSavepoint();
            assertThat(locks.tryHold(first, "savepoint")).isTrue();
            first.rollback(before);
            assertThat(locks.tryHold(second, "savepoint")).isTrue();
            first.rollback();
            second.rollback();
        }
    }

    @Test
    void otherSchemasHaveOtherLocks() throws SQLException {
        Postroom other =
                Postroom.builder(database.dataSource()).schema("other_locks").build();
        other.migrations().migrate();
        try (Connection first = database.begin();
                Connection second = database.begin()) {
            assertThat(locks.tryHold(first, "schema")).isTrue();
            assertThat(other.locks().tryHold(second, "schema")).isTrue();
            first.rollback();
            second.rollback();
        }
    }

    @Test
    void worksInAReadOnlyTransactionToo() throws SQLException {
        try (Connection tx = database.begin()) {
            tx.setReadOnly(true);
            assertThat(locks.tryHold(tx, "report")).isTrue();
            locks.hold(tx, "report", SHORT);
            tx.rollback();
            tx.setReadOnly(false);
        }
    }

    @Test
    void waitsUntilTheHolderIsDone() throws Exception {
        try (Connection first = database.begin();
                Connection second = database.begin()) {
            locks.hold(first, "wait", SHORT);
            int pid = pid(second);
            CompletableFuture<Void> waiting =
                    CompletableFuture.runAsync(() -> locks.hold(second, "wait", Patience.LONG));
            Patience.await(
                    "it waits",
                    () -> database.queryLong("select count(*) from pg_stat_activity where pid = " + pid
                                    + " and wait_event = 'advisory'")
                            == 1);
            first.commit();
            waiting.get(Patience.LONG.toSeconds(), TimeUnit.SECONDS);
            assertThat(locks.tryHold(first, "wait")).isFalse();
            first.rollback();
            second.rollback();
        }
    }

    @Test
    void saysWhoHasItWhenTheWaitIsOverAndTheTransactionGoesOn() throws SQLException {
        try (Connection first = database.begin();
                Connection second = database.begin()) {
            locks.hold(first, "busy", SHORT);
            set(second, "set local lock_timeout = '7s'");
            assertThatThrownBy(() -> locks.hold(second, "busy", SHORT))
                    .isInstanceOfSatisfying(
                            LockBusyException.class, e -> assertThat(e.name()).isEqualTo("busy"))
                    .hasMessage("could not hold lock 'busy': the transaction of PostgreSQL process " + pid(first)
                            + " has it, waited 50 ms; try again later, or wait longer")
                    .extracting("code")
                    .isEqualTo("lock.busy");
            assertThat(show(second, "lock_timeout")).isEqualTo("7s");
            set(second, "update counter set n = n");
            first.rollback();
            locks.hold(second, "busy", SHORT);
            assertThat(show(second, "lock_timeout")).isEqualTo("7s");
            second.commit();
            assertThat(show(second, "lock_timeout")).as("after the transaction").isEqualTo("0");
            second.rollback();
        }
    }

    /** Reads, computes and writes: whoever is not alone would lose somebody's count. */
    @Test
    void manyWhoHoldOneAfterTheOtherLoseNothing() throws Exception {
        int threads = 6;
        int rounds = 50;
        List<CompletableFuture<Void>> all = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            all.add(CompletableFuture.runAsync(() -> {
                for (int round = 0; round < rounds; round++) {
                    database.postroom().database().transact(tx -> {
                        locks.hold(tx, "counter", Patience.LONG);
                        long n = number(tx, "select n from counter");
                        set(tx, "update counter set n = " + (n + 1));
                        return n;
                    });
                }
            }));
        }
        for (CompletableFuture<Void> each : all) {
            each.get(Patience.LONG.toSeconds(), TimeUnit.SECONDS);
        }
        assertThat(database.queryLong("select n from counter")).isEqualTo((long) threads * rounds);
    }

    @Test
    void sqlTakesTheSameLocks() throws SQLException {
        try (Connection first = database.begin();
                Connection second = database.begin()) {
            assertThat(number(first, "select postroom.try_hold('sql')::int")).isEqualTo(1);
            assertThat(locks.tryHold(second, "sql")).isFalse();
            assertThat(number(second, "select postroom.hold('sql', 50)::int")).isZero();
            first.rollback();
            assertThat(number(second, "select postroom.hold('sql', 50)::int")).isEqualTo(1);
            second.rollback();
        }
    }

    /** 32 bits are not enough: these two share a lock where hashtext makes the number. */
    @Test
    void namesThatShareANumberOf32BitsHaveLocksOfTheirOwn() throws SQLException {
        assertThat(database.queryLong(
                        "select count(distinct hashtext(n)) from unnest(array['order-116870', 'order-126592']) as n"))
                .isEqualTo(1);
        try (Connection first = database.begin();
                Connection second = database.begin()) {
            assertThat(locks.tryHold(first, "order-116870")).isTrue();
            assertThat(locks.tryHold(second, "order-126592")).isTrue();
            first.rollback();
            second.rollback();
        }
        assertThat(
                        database.queryLong(
                                "select count(distinct postroom.lock_key('tenant-' || n)) from generate_series(1, 200000) as n"))
                .isEqualTo(200_000);
    }

    static Stream<String> badNames() {
        return Stream.of("", "x".repeat(201), "a\nb", "a\u0000b", "a\u007fb", "a\u0085b", "a\ud800", "\udc00b");
    }

    @ParameterizedTest
    @MethodSource("badNames")
    void aBadNameIsRefusedBeforeAnythingIsSent(String name) throws SQLException {
        try (Connection tx = database.begin()) {
            for (Runnable each : List.<Runnable>of(
                    () -> locks.tryHold(tx, name),
                    () -> locks.hold(tx, name, SHORT),
                    () -> locks.tryLease(name, Duration.ofSeconds(1)),
                    () -> locks.oneNode(name, Duration.ofSeconds(1), lease -> {}))) {
                assertThatThrownBy(each::run)
                        .isInstanceOf(PostroomException.class)
                        .hasMessageContaining("1 to 200 without control characters")
                        .extracting("code")
                        .isEqualTo("lock.name-invalid");
            }
            assertThatCode(() -> locks.tryHold(tx, "fine")).doesNotThrowAnyException();
            tx.rollback();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"null", "''", "repeat('x', 201)", "E'a\\nb'", "E'a\\u0085b'"})
    void sqlRefusesABadNameToo(String name) {
        for (String call : List.of("try_hold(" + name + ")", "hold(" + name + ", 10)")) {
            assertThatThrownBy(() -> database.execute("select postroom." + call))
                    .hasMessageContaining("1 to 200 without control characters")
                    .hasMessageContaining("lock.name-invalid");
        }
    }

    @Test
    void aNameMayHave200CharactersOfAnyLanguage() throws SQLException {
        try (Connection tx = database.begin()) {
            for (String name : List.of("🔒".repeat(200), " padded ", "it's \"quoted\" %s {}", "锁")) {
                assertThat(locks.tryHold(tx, name)).as(name).isTrue();
            }
            assertThat(locks.tryHold(tx, "padded")).isTrue();
            tx.rollback();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"PT0S", "PT-1S", "PT0.0005S", "PT1H0.001S"})
    void aWaitBeyondItsLimitsIsRefused(Duration wait) throws SQLException {
        try (Connection tx = database.begin()) {
            assertThatThrownBy(() -> locks.hold(tx, "wait", wait))
                    .hasMessageContaining("wait is " + wait + ", the range is 1 ms to 1 h")
                    .extracting("code")
                    .isEqualTo("lock.wait-invalid");
            assertThatThrownBy(() -> set(tx, "select postroom.hold('wait', 0)")).hasMessageContaining("1 to 3600000");
            tx.rollback();
        }
    }

    @Test
    void aConnectionWithoutATransactionIsRefused() throws SQLException {
        try (Connection connection = database.dataSource().getConnection()) {
            assertThatThrownBy(() -> locks.tryHold(connection, "auto"))
                    .hasMessageContaining("could not hold lock 'auto': auto-commit is on")
                    .extracting("code")
                    .isEqualTo("lock.no-transaction");
            assertThatThrownBy(() -> locks.hold(connection, "auto", SHORT)).isInstanceOf(PostroomException.class);
        }
    }

    @Test
    void aTransactionThatHasFailedIsExplained() throws SQLException {
        try (Connection tx = database.begin()) {
            assertThatThrownBy(() -> set(tx, "select 1 / 0")).isInstanceOf(SQLException.class);
            assertThatThrownBy(() -> locks.tryHold(tx, "failed"))
                    .extracting("code")
                    .isEqualTo("lock.transaction-aborted");
            tx.rollback();
        }
    }

    private static int pid(Connection tx) throws SQLException {
        return (int) number(tx, "select pg_backend_pid()");
    }

    private static long number(Connection tx, String sql) throws SQLException {
        try (Statement statement = tx.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getLong(1);
        }
    }

    private static String show(Connection tx, String setting) throws SQLException {
        try (Statement statement = tx.createStatement();
                ResultSet row = statement.executeQuery("show " + setting)) {
            row.next();
            return row.getString(1);
        }
    }

    private static void set(Connection tx, String sql) throws SQLException {
        try (Statement statement = tx.createStatement()) {
            statement.execute(sql);
        }
    }
}
