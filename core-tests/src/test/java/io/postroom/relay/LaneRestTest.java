package io.postroom.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postroom.message.Message;
import io.postroom.postgres.Database;
import io.postroom.retry.Backoff;
import io.postroom.retry.RetryPolicy;
import io.postroom.telemetry.Telemetry;
import io.postroom.testkit.Messages;
import io.postroom.testkit.RecordingSink;
import io.postroom.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** How long a lane sleeps when there is nothing it can do: it must not spin. Lanes are stepped by hand, so nothing is timed. */
class LaneRestTest {
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    /** Whatever a lane waits for in these tests is seconds away. */
    private static final long A_WHILE = Duration.ofMillis(10).toNanos();

    private static final Duration LEASE = Duration.ofMinutes(3);
    private static final Duration SETTLE_INTERVAL = Duration.ofMinutes(1);
    private static final RetryPolicy AT_ONCE =
            RetryPolicy.builder().immediate(1_000).attemptsMax(1_000).build();

    private static TestDatabase database;

    private final RecordingSink sink = new RecordingSink();
    private final String name = "rest-" + UUID.randomUUID();
    private long begin;

    @BeforeAll
    static void create() {
        database = TestDatabase.create();
    }

    @AfterAll
    static void drop() {
        database.close();
    }

    @BeforeEach
    void begin() {
        database.postroom().journal().stampAll();
        begin = database.postroom().journal().refreshHead().position();
    }

    @Test
    void whileAProbeIsOnItsWayAllLanesRest() throws Exception {
        sink.breakDown();
        publish(Messages.ofManyKeys("any", 50));
        List<Lane> lanes = lanes(2, Duration.ofMillis(1));
        Lane prober = lanes.get(0);
        Lane waiter = lanes.get(1);
        lanes.forEach(lane -> lane.step(false));
        sink.mend().hang(message -> true);
        int attempts = sink.attempts().size();
        stepUntil(() -> sink.attempts().size() > attempts, prober);
        assertThat(prober.inFlight()).as("the probe").isEqualTo(1);
        for (Lane lane : lanes) {
            // Somebody says that there may be deliveries to look for: not now.
            lane.look();
            lane.step(false);
            assertThat(lane.restNanos()).isGreaterThan(A_WHILE);
        }
        sink.mend().release();
        prober.step(false);
        assertThat(waiter.restNanos()).as("when the probe went through").isZero();
        stepUntil(() -> sink.accepted().size() == 50, prober, waiter);
    }

    @Test
    void withAsManyClaimedDeliveriesInFlightAsThereMayBeALaneRests() throws Exception {
        int many = RelaySettings.CLAIM_MAX / 2 + 50;
        publish(Messages.ofManyKeys("any", many));
        Lane lane = lanes(1, Duration.ofSeconds(10)).get(0);
        sink.answer(message -> true, Outcome.retry("not now"), many);
        lane.step(false);
        assertThat(sink.attempts()).hasSize(many);
        sink.hang(message -> true);
        stepUntil(() -> lane.inFlight() == many, lane);
        lane.look();
        lane.step(false);
        assertThat(lane.restNanos()).isGreaterThan(A_WHILE);
        sink.mend().release();
        lane.step(false);
        assertThat(sink.accepted()).hasSize(many);
    }

    @Test
    void anIdleLaneRestsUntilItsNextSettle() throws Exception {
        publish(Messages.ofManyKeys("any", 5));
        Lane lane = lanes(1, Duration.ofSeconds(10)).get(0);
        lane.step(false);
        lane.step(false);
        assertThat(sink.accepted()).hasSize(5);
        assertThat(lane.settled()).as("not settled yet").isEqualTo(begin);
        assertThat(lane.restNanos()).isBetween(A_WHILE, SETTLE_INTERVAL.toNanos());
        lane.settle();
        assertThat(lane.settled()).isEqualTo(begin + 5);
    }

    /** It was moved to a broker between the look at the subscription and the taking of the lane. */
    @Test
    void aLaneThatWasTakenWhenABrokerServesAlreadyDeliversNothing() throws Exception {
        publish(Messages.ofManyKeys("any", 5));
        Lane lane = lanes(1, Duration.ofSeconds(10)).get(0);
        database.execute("update postroom.subscription set served_by = 'kafka' where name = '" + name + "'");
        assertThatThrownBy(() -> lane.step(false)).isInstanceOf(LostLeaseException.class);
        assertThat(sink.attempts()).isEmpty();
    }

    private static void stepUntil(BooleanSupplier condition, Lane... lanes) {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).as("in time").isLessThan(deadline);
            for (Lane lane : lanes) {
                lane.step(false);
            }
        }
    }

    /** All lanes of a subscription, by a relay that does not run. */
    private List<Lane> lanes(int count, Duration probe) {
        database.postroom().journal().stampAll();
        Subscription subscription =
                Subscription.named(name).lanes(count).retry(AT_ONCE).build();
        Backoff backoff = new Backoff(probe, probe);
        RelaySettings settings = new RelaySettings(
                "by-hand",
                LEASE,
                SETTLE_INTERVAL,
                Duration.ofMillis(2),
                Duration.ofMillis(200),
                Duration.ofSeconds(1),
                1_000,
                1_048_576,
                backoff);
        Database own = database.postroom().database();
        UUID relayId = UUID.randomUUID();
        RelayTable table = new RelayTable(own.schema());
        Lane.Surroundings surroundings = new Lane.Surroundings(
                relayId,
                own,
                database.postroom().journal(),
                table,
                new DeliveryTable(own.schema()),
                settings,
                Telemetry.NONE,
                new Suspects());
        Relay.Target target =
                new Relay.Target(subscription, new Relay.Receiver(sink, null), new Circuit(name, backoff, () -> {}));
        List<RelayTable.Taken> taken = own.transact(tx -> {
            table.subscribe(tx, subscription, target.receiver(), begin);
            table.openLanes(tx, name, count, begin);
            table.announce(tx, relayId, settings.name(), Set.of(name), LEASE);
            return table.acquire(tx, name, relayId, Set.of(), count, LEASE);
        });
        assertThat(taken).hasSize(count);
        long trusted = System.nanoTime() + settings.selfTrustNanos();
        return taken.stream()
                .map(each -> new Lane(target, each, trusted, surroundings))
                .toList();
    }

    private void publish(List<Message> messages) throws SQLException {
        try (Connection tx = database.begin()) {
            database.postroom().outbox().publishAll(tx, messages);
            tx.commit();
        }
    }
}
