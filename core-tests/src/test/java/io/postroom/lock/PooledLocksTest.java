package io.postroom.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.zaxxer.hikari.HikariDataSource;
import io.postroom.Postroom;
import io.postroom.postgres.Schema;
import io.postroom.testkit.PgBouncer;
import io.postroom.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Behind a real PgBouncer that pools transactions: two sessions of the server for all. */
class PooledLocksTest {
    private static final int SESSIONS = 2;
    private static final int CLIENTS = 6;

    private static TestDatabase database;
    private static PgBouncer bouncer;
    private static HikariDataSource pool;
    private static Postroom postroom;
    private static Locks locks;

    @BeforeAll
    static void start() throws InterruptedException {
        assumeTrue(PgBouncer.isInstalled(), "pgbouncer is not installed: apt-get install pgbouncer");
        database = TestDatabase.create();
        database.execute("create table counter (n bigint not null)", "insert into counter values (0)");
        bouncer = PgBouncer.start(database.url(), SESSIONS);
        pool = TestDatabase.pool(bouncer.url(database.url()), CLIENTS + 2);
        postroom = Postroom.on(pool);
        locks = postroom.locks();
    }

    @AfterAll
    static void stop() {
        if (bouncer != null) {
            pool.close();
            bouncer.close();
            database.close();
        }
    }

    @Test
    void clientsShareSessions() throws SQLException {
        List<Connection> clients = new ArrayList<>();
        try {
            for (int i = 0; i < CLIENTS; i++) {
                clients.add(pool.getConnection());
                try (Statement statement = clients.get(i).createStatement()) {
                    statement.execute("select 1");
                }
            }
            assertThat(database.queryLong("select count(*) from pg_stat_activity where datname = current_database()"
                            + " and client_port > 0 and pid <> pg_backend_pid() and backend_type = 'client backend'"))
                    .as("sessions of the server, with this test's own")
                    .isLessThan(CLIENTS);
        } finally {
            for (Connection each : clients) {
                each.close();
            }
        }
    }

    @Test
    void aLockIsHeldByOneTransactionAtATimeAndNeverLeftBehind() throws Exception {
        List<CompletableFuture<Void>> all = new ArrayList<>();
        for (int i = 0; i < CLIENTS; i++) {
            all.add(CompletableFuture.runAsync(() -> {
                for (int round = 0; round < 25; round++) {
                    postroom.database().transact(tx -> {
                        locks.hold(tx, "counter", Patience.LONG);
                        long n = number(tx, "select n from counter");
                        number(tx, "update counter set n = " + (n + 1) + " returning n");
                        return n;
                    });
                }
            }));
        }
        for (CompletableFuture<Void> each : all) {
            each.get(Patience.LONG.toSeconds(), TimeUnit.SECONDS);
        }
        assertThat(database.queryLong("select n from counter")).isEqualTo(25L * CLIENTS);
        assertThat(database.queryLong("select count(*) from pg_locks where locktype = 'advisory' and database ="
                        + " (select oid from pg_database where datname = current_database())"))
                .isZero();
        try (Connection tx = database.begin()) {
            assertThat(locks.tryHold(tx, "counter")).isTrue();
            tx.rollback();
        }
    }

    @Test
    void aLeaseIsTakenRenewedMadeSureOfAndGivenBack() throws Exception {
        Duration terms = Duration.ofSeconds(15);
        try (Lease lease = locks.tryLease("pooled", terms).orElseThrow();
                Connection tx = pool.getConnection()) {
            tx.setAutoCommit(false);
            LeaseTable table = new LeaseTable(Schema.POSTROOM);
            // More often than the driver waits before it prepares a statement.
            for (int i = 0; i < 20; i++) {
                assertThat(locks.tryLease("pooled", terms)).isEmpty();
                assertThat(postroom.database()
                                .run(any -> table.renew(any, lease.held(), terms))
                                .renewed())
                        .isTrue();
                lease.requireHeld(tx);
                tx.commit();
            }
            lease.requireHeld(tx);
            String end =
                    "select (extract(epoch from leased_until) * 1000)::bigint from postroom.lease where name = 'pooled'";
            long before = database.queryLong(end);
            Patience.await("it is renewed by itself", () -> database.queryLong(end) > before);
            assertThat(lease.isHeld()).isTrue();
            tx.commit();
        }
        try (Lease next = locks.tryLease("pooled", terms).orElseThrow()) {
            assertThat(next.isHeld()).isTrue();
        }
    }

    @Test
    void whatIsSetForATransactionEndsWithIt() throws SQLException {
        try (Lease lease = locks.tryLease("settings", Duration.ofMinutes(1)).orElseThrow();
                Connection one = pool.getConnection();
                Connection two = pool.getConnection()) {
            one.setAutoCommit(false);
            two.setAutoCommit(false);
            locks.hold(one, "settings", Duration.ofSeconds(5));
            lease.requireHeld(one);
            lease.requireHeld(two);
            one.commit();
            two.commit();
            // Both at once, so that each has a session of its own.
            for (Connection each : List.of(one, two)) {
                assertThat(number(
                                each,
                                "select count(*) from pg_settings where name in ('lock_timeout',"
                                        + " 'idle_in_transaction_session_timeout') and setting = '0'"))
                        .isEqualTo(2);
            }
            one.rollback();
            two.rollback();
        }
    }

    @Test
    void oneNodeOfTwoRunsItsWorkAndTheOtherTakesOver() throws Exception {
        OneNode.Work work = lease -> new CountDownLatch(1).await();
        try (OneNode first = locks.oneNode("node", Duration.ofMinutes(1), work);
                OneNode second = new Locks(postroom.database()).oneNode("node", Duration.ofMinutes(1), work)) {
            Patience.await("one runs", () -> first.isRunning() || second.isRunning());
            OneNode running = first.isRunning() ? first : second;
            OneNode waiting = running == first ? second : first;
            assertThat(waiting.isRunning()).isFalse();
            running.close();
            Patience.await("the other runs", waiting::isRunning);
        }
    }

    private static long number(Connection tx, String sql) throws SQLException {
        try (Statement statement = tx.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getLong(1);
        }
    }
}
