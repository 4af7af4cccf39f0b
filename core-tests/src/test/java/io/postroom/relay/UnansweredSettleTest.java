package io.postroom.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postroom.Postroom;
import io.postroom.postgres.Database;
import io.postroom.postgres.DatabaseException;
import io.postroom.postgres.Schema;
import io.postroom.retry.Backoff;
import io.postroom.telemetry.Telemetry;
import io.postroom.testkit.CrashPoint;
import io.postroom.testkit.CrashingDataSource;
import io.postroom.testkit.TestDatabase;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A settle is committed and its answer lost; the next one does not reach the server. The lane is this relay's all the same, at the
 * first position, and whatever is written next finds it there.
 */
class UnansweredSettleTest {
    private static final Duration LEASE = Duration.ofMinutes(1);

    private TestDatabase database;
    private LaneStore store;

    @BeforeEach
    void settleTwiceWithoutAnAnswer() {
        database = TestDatabase.create();
        String settle = Schema.POSTROOM.sql(Relay.class, "settle.sql").text();
        store = store(new CrashingDataSource(database.dataSource())
                .committed(settle::equals, CrashPoint.act("answered", 1, UnansweredSettleTest::lose))
                .before(settle::equals, CrashPoint.act("sent", 2, UnansweredSettleTest::lose)));
        assertThatThrownBy(() -> store.settle(1)).isInstanceOf(DatabaseException.class);
        assertThatThrownBy(() -> store.settle(2)).isInstanceOf(DatabaseException.class);
        assertThat(position()).isEqualTo(1);
    }

    @AfterEach
    void drop() {
        database.close();
    }

    @Test
    void isFollowedByAnother() {
        store.settle(3);
        assertThat(position()).isEqualTo(3);
        assertThat(store.settled()).isEqualTo(3);
    }

    @Test
    void isFollowedByARecord() {
        LaneRecord record = new LaneRecord();
        record.accepted.add(3L);
        store.seal(record, 3);
        store.write();
        assertThat(position()).isEqualTo(3);
    }

    @Test
    void isFollowedByAnApply() {
        store.apply(new LaneRecord(), 3, LEASE, tx -> {});
        assertThat(position()).isEqualTo(3);
    }

    @Test
    void isNotOvertakenWhereNobodyLeftTheLane() {
        database.execute("update postroom.lane set position = 7");
        assertThatThrownBy(() -> store.settle(3)).isInstanceOf(LostLeaseException.class);
        assertThat(position()).isEqualTo(7);
    }

    private long position() {
        return database.queryLong("select position from postroom.lane");
    }

    private static void lose() {
        UnansweredSettleTest.<RuntimeException>sneak(new SQLException("the way is cut", "08006"));
    }

    @SuppressWarnings("unchecked")
    private static <T extends Throwable> void sneak(Throwable thrown) throws T {
        throw (T) thrown;
    }

    /** Of the one lane of a subscription, by a relay that does not run. */
    private LaneStore store(CrashingDataSource dataSource) {
        Subscription subscription = Subscription.named("unanswered").lanes(1).build();
        RelaySettings settings = new RelaySettings(
                "by-hand",
                LEASE,
                Duration.ofMillis(200),
                Duration.ofMillis(2),
                Duration.ofMillis(200),
                Duration.ofSeconds(1),
                1_000,
                1_048_576,
                new Backoff(Duration.ofMillis(10), Duration.ofMillis(10)));
        Postroom postroom = Postroom.builder(dataSource).build();
        Database own = postroom.database();
        UUID relayId = UUID.randomUUID();
        RelayTable table = new RelayTable(own.schema());
        Lane.Surroundings surroundings = new Lane.Surroundings(
                relayId,
                own,
                postroom.journal(),
                table,
                new DeliveryTable(own.schema()),
                settings,
                Telemetry.NONE,
                new Suspects());
        RelayTable.Taken taken = own.transact(tx -> {
            table.subscribe(tx, subscription, new Relay.Receiver(envelope -> Outcome.acceptedStage(), null), 0);
            table.openLanes(tx, subscription.name(), 1, 0);
            table.announce(tx, relayId, settings.name(), Set.of(subscription.name()), LEASE);
            return table.acquire(tx, subscription.name(), relayId, Set.of(), 1, LEASE)
                    .get(0);
        });
        return new LaneStore(subscription, taken, surroundings, false);
    }
}
