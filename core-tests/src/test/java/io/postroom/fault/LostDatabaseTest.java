package io.postroom.fault;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.postroom.Postroom;
import io.postroom.message.Message;
import io.postroom.relay.Relay;
import io.postroom.relay.Subscription;
import io.postroom.testkit.CutProxy;
import io.postroom.testkit.TestDatabase;
import io.postroom.testkit.TestPostgres;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** PostgreSQL dies and comes back, or the way to it breaks, while writers write and relays deliver. */
class LostDatabaseTest {
    private static final int KEYS = 20;
    private static final int KILLS = Boolean.getBoolean("postroom.long") ? 20 : 2;
    private static final Duration LEASE = Duration.ofSeconds(3);
    private static final Duration PATIENCE = Duration.ofSeconds(90);
    private static final Writers.Style[] STYLES = {
        Writers.Style.PLAIN, Writers.Style.SQL, Writers.Style.SAVEPOINT, Writers.Style.ROLLBACK, Writers.Style.BATCH
    };

    private static TestPostgres server;

    @BeforeAll
    static void start() {
        server = TestPostgres.start();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @Test
    void relaysGoOnByThemselvesWhenPostgresWasKilledAndStarted() throws Exception {
        History history = new History();
        try (TestDatabase database = migrated(server);
                Writers writers = writers(database, database.dataSource(), history);
                CapturedLog log = new CapturedLog();
                Relay first = relay("first", database.dataSource(), history);
                Relay second = relay("second", database.dataSource(), history)) {
            first.start();
            second.start();
            writers.start(4);
            for (int kill = 0; kill < KILLS; kill++) {
                awaitProgress(history, 100);
                server.kill();
                server.restart();
            }
            awaitProgress(history, 100);
            writers.stop();
            awaitAll(database, history);
            assertThat(history.violations(Truth.stored(database.dataSource()))).isEmpty();
            assertThat(writers.errors()).as("transactions that the kill broke").hasSizeGreaterThanOrEqualTo(KILLS);
            assertThat(log.text()).contains("cannot renew its leases").contains("PostgreSQL cannot be reached");
        }
    }

    @Test
    void nothingIsDeliveredThatAKillTakesBack() throws Exception {
        // Commits are acknowledged long before they are on disk: what a user risks who turns synchronous commit off.
        Map<String, String> hasty = Map.of("synchronous_commit", "off", "wal_writer_delay", "10s");
        History history = new History();
        try (TestPostgres forgetful = TestPostgres.start(hasty);
                TestDatabase database = migrated(forgetful);
                Writers writers = writers(database, database.dataSource(), history);
                Relay relay = relay("relay", database.dataSource(), history)) {
            relay.start();
            database.execute("checkpoint");
            writers.start(4);
            awaitProgress(history, 200);
            forgetful.kill();
            forgetful.restart();
            awaitProgress(history, 200);
            writers.stop();
            Deadline.await(
                    "all that is there is delivered",
                    PATIENCE,
                    () -> history.deliveredIds().containsAll(ids(Truth.stored(database.dataSource()))));
            List<String> violations = history.violations(Truth.stored(database.dataSource())).stream()
                    .filter(line -> !line.startsWith("acknowledged but not stored"))
                    .toList();
            assertThat(violations).isEmpty();
            assertThat(writers.errors()).as("transactions that the kill broke").isNotEmpty();
        }
    }

    @Test
    void relaysGoOnByThemselvesWhenConnectionsBreakHangOrAreRefused() throws Exception {
        History history = new History();
        try (TestDatabase database = migrated(server);
                CutProxy proxy = CutProxy.to(server.port());
                HikariDataSource broken = TestDatabase.pool(proxy.url(database.url()), 20);
                Writers writers = writers(database, database.dataSource(), history);
                Relay first = relay("first", broken, history);
                Relay second = relay("second", broken, history)) {
            first.start();
            second.start();
            writers.start(4);
            for (int i = 0; i < 10; i++) {
                awaitProgress(history, 20);
                proxy.cut();
            }
            assertThat(proxy.connectionsCut()).isGreaterThan(10);

            proxy.refuse();
            proxy.cut();
            long refusedAt = history.deliveredIds().size();
            awaitWritten(history, 100);
            proxy.pass();
            awaitProgress(history, 100);
            assertThat(history.deliveredIds().size()).isGreaterThan((int) refusedAt);

            proxy.blackhole();
            awaitWritten(history, 100);
            proxy.pass();
            awaitProgress(history, 100);

            writers.stop();
            awaitAll(database, history);
            assertThat(history.violations(Truth.stored(database.dataSource()))).isEmpty();
        }
    }

    @Test
    void relaysLeaveConnectionsThatNobodyAnswersAnyMore() throws Exception {
        History history = new History();
        try (TestDatabase database = migrated(server);
                CutProxy proxy = CutProxy.to(server.port());
                // A connection may go silent while it is being opened: the pool must not wait for it.
                HikariDataSource silent = TestDatabase.pool(proxy.url(database.url()) + "&loginTimeout=3", 20);
                Writers writers = writers(database, database.dataSource(), history);
                Relay relay = relay("relay", silent, history)) {
            // It asks each of its connections whether it lives, one after the other.
            silent.setValidationTimeout(1_000);
            relay.start();
            writers.start(2);
            awaitProgress(history, 50);
            assertThat(proxy.strand())
                    .as("connections that went silent for good")
                    .isPositive();
            awaitWritten(history, 50);
            writers.stop();
            awaitAll(database, history);
            assertThat(history.violations(Truth.stored(database.dataSource()))).isEmpty();
        }
    }

    @Test
    void aCommitWhoseAnswerWasLostIsDeliveredAndOneThatWasNeverSentIsNot() throws Exception {
        History history = new History();
        try (TestDatabase database = migrated(server);
                CutProxy proxy = CutProxy.to(server.port());
                Relay relay = relay("relay", database.dataSource(), history)) {
            proxy.cutAfterNextCommit();
            UUID committed = commitInVain(database, proxy);
            proxy.cutBeforeNextCommit();
            UUID forgotten = commitInVain(database, proxy);
            history.unknown(List.of(committed, forgotten));
            assertThat(proxy.commitsCut()).isEqualTo(2);
            relay.runOnce();
            assertThat(history.deliveredIds()).containsExactly(committed);
            assertThat(ids(Truth.stored(database.dataSource()))).containsExactly(committed);
        }
    }

    private static UUID commitInVain(TestDatabase database, CutProxy proxy) throws SQLException {
        try (Connection tx = DriverManager.getConnection(proxy.url(database.url()))) {
            tx.setAutoCommit(false);
            Message message = Message.about("account", "account-0")
                    .event("Counted")
                    .aggregateVersion(1)
                    .payload("{}")
                    .build();
            database.postroom().outbox().publish(tx, message);
            assertThatThrownBy(tx::commit).isInstanceOf(SQLException.class);
            return message.id();
        }
    }

    private static TestDatabase migrated(TestPostgres server) throws SQLException {
        TestDatabase database = TestDatabase.empty(server);
        database.postroom().migrations().migrate();
        Writers.createAccounts(database.dataSource(), KEYS);
        return database;
    }

    private static Writers writers(TestDatabase database, DataSource dataSource, History history) {
        return new Writers(dataSource, database.postroom(), history, KEYS, System.nanoTime(), 0.01, STYLES);
    }

    private static Relay relay(String name, DataSource dataSource, History history) {
        // Each with a journal of its own, as in a process of its own.
        return Postroom.builder(dataSource)
                .answerWithin(LEASE)
                .build()
                .relay()
                .name(name)
                .lease(LEASE)
                .handle(
                        Subscription.named("all").lanes(4).build(),
                        envelope -> history.delivered(History.Delivery.of(name, envelope)))
                .build();
    }

    /** Waits until so many more messages have been delivered. */
    private static void awaitProgress(History history, int more) {
        int goal = history.deliveredIds().size() + more;
        Deadline.await(
                () -> history.deliveredIds().size() + " delivered, " + goal + " expected",
                PATIENCE,
                () -> history.deliveredIds().size() >= goal);
    }

    /** Waits until so many more messages have been committed. */
    private static void awaitWritten(History history, int more) {
        int goal = history.acknowledgedCount() + more;
        Deadline.await("writers go on", PATIENCE, () -> history.acknowledgedCount() >= goal);
    }

    private static void awaitAll(TestDatabase database, History history) throws SQLException {
        List<UUID> all = ids(Truth.stored(database.dataSource()));
        Deadline.await(
                () -> history.deliveredIds().size() + " of " + all.size() + " delivered",
                PATIENCE,
                () -> history.deliveredIds().containsAll(all));
    }

    private static List<UUID> ids(List<History.Stored> stored) {
        return stored.stream().map(History.Stored::id).toList();
    }
}
