package io.postroom.fault;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.postroom.Postroom;
import io.postroom.message.Envelope;
import io.postroom.message.Message;
import io.postroom.postgres.DatabaseException;
import io.postroom.relay.Relay;
import io.postroom.relay.Subscription;
import io.postroom.testkit.CutProxy;
import io.postroom.testkit.Messages;
import io.postroom.testkit.RecordingSink;
import io.postroom.testkit.TestDatabase;
import io.postroom.testkit.TestPostgres;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A primary dies for good while writers write and relays deliver, and its streaming standby is promoted. Everybody finds the new
 * primary by a URL that names both.
 *
 * <p>What an asynchronous standby can lose: every commit that it had not received, however long ago it was acknowledged, delivered and
 * settled. With these go their positions, which are given again to other messages, and a message that remains may be delivered again
 * at another position, if only its stamp was lost. Nothing else is lost, and relays say that the server was replaced.
 */
class PromotedStandbyTest {
    private static final String NAME = "failover";
    private static final int KEYS = 20;
    private static final int LANES = 4;
    private static final Duration LEASE = Duration.ofSeconds(3);
    private static final Duration PATIENCE = Duration.ofSeconds(90);
    private static final Writers.Style[] STYLES = {
        Writers.Style.PLAIN,
        Writers.Style.SQL,
        Writers.Style.EARLY_XID,
        Writers.Style.SAVEPOINT,
        Writers.Style.ROLLBACK,
        Writers.Style.BATCH
    };

    private final History history = new History();
    private final Counters counters = new Counters();
    private TestPostgres primary;
    private TestPostgres standby;

    @BeforeEach
    void start() throws SQLException {
        primary = TestPostgres.start();
        primary.execute("create database " + NAME);
        try (HikariDataSource pool = TestDatabase.pool(primary.url(NAME), 4)) {
            Postroom.on(pool).migrations().migrate();
            Writers.createAccounts(pool, KEYS);
        }
        standby = primary.standby();
    }

    @AfterEach
    void stop() {
        standby.close();
        primary.close();
    }

    @Test
    void thatIsAsynchronousLosesOnlyWhatItNeverGotAndTheRestIsDeliveredInOrder() throws Exception {
        try (HikariDataSource either = either();
                Writers writers = writers(either);
                CapturedLog log = new CapturedLog();
                Relay first = relay("first", either);
                Relay second = relay("second", either)) {
            first.start();
            second.start();
            writers.start(4);
            awaitProgress(300);
            Set<UUID> before = history.acknowledgedIds();
            awaitReceived();
            stopStreaming();
            // They are committed, acknowledged, delivered and settled, and nobody but the primary has them.
            awaitProgress(300);
            Set<UUID> received = ids(standby);
            fail();
            int delivered = history.deliveries().size();
            awaitProgress(300);
            writers.stop();
            Set<UUID> there = awaitAll();

            Set<UUID> lost = new HashSet<>(history.acknowledgedIds());
            lost.removeAll(there);
            assertThat(lost).as("what the standby never got").isNotEmpty().doesNotContainAnyElementsOf(before);
            assertThat(there).as("what the standby got").containsAll(received).containsAll(before);
            Set<UUID> invented = history.deliveredIds();
            invented.removeAll(there);
            assertThat(lost).as("delivered before, and gone").containsAll(acknowledged(invented));
            assertThat(history.deliveries().stream().skip(delivered).map(History.Delivery::id))
                    .as("delivered by the new primary")
                    .doesNotContainAnyElementsOf(lost);
            assertThat(violationsOf(there).stream()
                            .filter(line -> !line.startsWith("delivered at two positions"))
                            .toList())
                    .isEmpty();
            assertThat(counters.lost.get()).as("lanes that were given up").isPositive();
            assertThat(log.text()).contains("the server was replaced");
        }
    }

    @Test
    void thatIsSynchronousLosesNothingThatWasAcknowledged() throws Exception {
        primary.execute("alter system set synchronous_standby_names = '*'");
        primary.execute("select pg_reload_conf()");
        try (HikariDataSource either = either();
                Writers writers = writers(either);
                CapturedLog log = new CapturedLog();
                Relay first = relay("first", either);
                Relay second = relay("second", either)) {
            awaitStreams(1);
            first.start();
            second.start();
            writers.start(4);
            awaitProgress(300);
            fail();
            awaitProgress(300);
            writers.stop();
            Set<UUID> there = awaitAll();
            assertThat(there).containsAll(history.acknowledgedIds()).containsAll(history.deliveredIds());
            assertThat(violationsOf(there)).isEmpty();
            assertThat(log.text()).contains("the server was replaced");
        }
    }

    /** The lane is at the same position in both, and what it had delivered since is gone: other messages have those positions now. */
    @Test
    void deliversWhatHasThePositionOfMessagesThatAreLost() throws Exception {
        Duration settles = LEASE.multipliedBy(3);
        List<Message> lost = Messages.ofManyKeys("lost", 10);
        List<Message> later = Messages.ofManyKeys("later", 10);
        RecordingSink sink = new RecordingSink();
        try (CutProxy way = CutProxy.to(standby.port());
                HikariDataSource pool = either();
                HikariDataSource held = either(primary.port(), way.port());
                Relay relay = Postroom.on(held)
                        .relay()
                        .lease(settles)
                        .settleInterval(settles)
                        .deliver(Subscription.named("all").lanes(1).build(), sink)
                        .build()) {
            publish(pool, Messages.ofManyKeys("before", 10));
            relay.runOnce();
            awaitReceived();
            stopStreaming();
            relay.start();
            publish(pool, lost);
            sink.awaitAccepted(20, PATIENCE);
            // It comes to the new primary when others have been there.
            way.refuse();
            fail();
            Deadline.await("it takes writes", PATIENCE, () -> publish(pool, later));
            Postroom.on(pool).journal().stampAll();
            way.pass();
            assertThat(positions(later))
                    .as("positions that the lost messages had")
                    .containsExactlyInAnyOrderElementsOf(sink.attempts().stream()
                            .skip(10)
                            .map(Envelope::position)
                            .toList());
            sink.awaitAccepted(30, PATIENCE);
        }
        assertThat(sink.accepted().stream().skip(20)).containsExactlyInAnyOrderElementsOf(later);
    }

    /** The primary is gone at once and for good; its standby becomes one. */
    private void fail() throws InterruptedException {
        primary.kill();
        standby.promote();
    }

    private void stopStreaming() {
        standby.execute("alter system set primary_conninfo = ''");
        standby.execute("select pg_reload_conf()");
        awaitStreams(0);
    }

    /** Returns whether it could, so that it can be tried again. */
    private static boolean publish(HikariDataSource pool, List<Message> messages) {
        try (Connection tx = pool.getConnection()) {
            tx.setAutoCommit(false);
            Postroom.on(pool).outbox().publishAll(tx, messages);
            tx.commit();
            return true;
        } catch (SQLException | DatabaseException e) {
            return false;
        }
    }

    private List<Long> positions(List<Message> messages) throws SQLException {
        Set<UUID> ids = messages.stream().map(Message::id).collect(Collectors.toSet());
        try (HikariDataSource pool = TestDatabase.pool(standby.url(NAME), 2)) {
            return Truth.stored(pool).stream()
                    .filter(one -> ids.contains(one.id()))
                    .map(History.Stored::position)
                    .toList();
        }
    }

    private List<String> violationsOf(Set<UUID> there) throws SQLException {
        try (HikariDataSource now = TestDatabase.pool(standby.url(NAME), 2)) {
            return history.of(there).violations(Truth.stored(now));
        }
    }

    private Set<UUID> acknowledged(Set<UUID> ids) {
        Set<UUID> known = new HashSet<>(ids);
        known.retainAll(history.acknowledgedIds());
        return known;
    }

    private Set<UUID> ids(TestPostgres server) throws SQLException {
        try (HikariDataSource pool = TestDatabase.pool(server.url(NAME), 2)) {
            return Truth.stored(pool).stream().map(History.Stored::id).collect(Collectors.toSet());
        }
    }

    /** All that the new primary has is delivered; returns it. */
    private Set<UUID> awaitAll() throws SQLException {
        Set<UUID> there = ids(standby);
        Deadline.await(
                () -> "all that is there is delivered: "
                        + history.deliveredIds().size() + " of " + there.size(),
                PATIENCE,
                () -> history.deliveredIds().containsAll(there));
        return there;
    }

    private void awaitProgress(int more) {
        int goal = history.deliveredIds().size() + more;
        Deadline.await(
                () -> history.deliveredIds().size() + " delivered, " + goal + " expected",
                PATIENCE,
                () -> history.deliveredIds().size() >= goal);
    }

    /** The standby has received and replayed all that the primary has written up to now. */
    private void awaitReceived() {
        try (HikariDataSource there = TestDatabase.pool(standby.url(NAME), 1);
                HikariDataSource here = TestDatabase.pool(primary.url(NAME), 1)) {
            long written = number(here, "select pg_current_wal_lsn() - '0/0'::pg_lsn");
            Deadline.await(
                    "the standby has what the primary had written",
                    PATIENCE,
                    () -> number(there, "select pg_last_wal_replay_lsn() - '0/0'::pg_lsn") >= written);
        }
    }

    private void awaitStreams(int count) {
        try (HikariDataSource here = TestDatabase.pool(primary.url(NAME), 1)) {
            Deadline.await(
                    "so many stream from the primary: " + count,
                    PATIENCE,
                    () -> number(here, "select count(*) from pg_stat_replication where state = 'streaming'") == count);
        }
    }

    private static long number(HikariDataSource pool, String sql) {
        return Postroom.on(pool).database().run(tx -> {
            try (var statement = tx.createStatement();
                    var row = statement.executeQuery(sql)) {
                row.next();
                return row.getLong(1);
            }
        });
    }

    private Writers writers(HikariDataSource either) {
        return new Writers(either, Postroom.on(either), history, KEYS, System.nanoTime(), 0.01, STYLES);
    }

    private Relay relay(String relay, HikariDataSource either) {
        // Each with a journal of its own, as in a process of its own.
        return Postroom.builder(either)
                .telemetry(counters)
                .answerWithin(LEASE)
                .build()
                .relay()
                .name(relay)
                .lease(LEASE)
                .handle(
                        Subscription.named("all").lanes(LANES).build(),
                        envelope -> history.delivered(History.Delivery.of(relay, envelope)))
                .build();
    }

    /** Whichever of the two takes writes. */
    private HikariDataSource either() {
        return either(primary.port(), standby.port());
    }

    private static HikariDataSource either(int first, int second) {
        return TestDatabase.pool(
                "jdbc:postgresql://localhost:" + first + ",localhost:" + second + "/" + NAME
                        + "?user=postgres&targetServerType=primary&hostRecheckSeconds=1",
                30);
    }
}
