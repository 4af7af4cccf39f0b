package io.postroom.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postroom.Postroom;
import io.postroom.PostroomException;
import io.postroom.message.Envelope;
import io.postroom.message.Message;
import io.postroom.telemetry.Telemetry;
import io.postroom.testkit.Messages;
import io.postroom.testkit.RecordingSink;
import io.postroom.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

class RelayTest {
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private static TestDatabase database;
    private static Postroom postroom;

    private final RecordingSink sink = new RecordingSink();
    private final String name = "test-" + UUID.randomUUID();
    private long begin;

    @BeforeAll
    static void create() {
        database = TestDatabase.create();
        postroom = database.postroom();
    }

    @AfterAll
    static void drop() {
        database.close();
    }

    /** Each test has a subscription of its own, which begins where the test does. */
    @BeforeEach
    void begin() {
        postroom.journal().stampAll();
        begin = postroom.journal().refreshHead().position();
    }

    @Test
    void deliversWhatATransactionCommittedAndNothingElse() throws SQLException {
        List<Message> committed = Messages.ofManyKeys("committed", 10);
        publish(committed);
        try (Connection tx = database.begin()) {
            postroom.outbox().publishAll(tx, Messages.ofManyKeys("rolled-back", 10));
            tx.rollback();
        }
        try (Relay relay = relay(subscription().build())) {
            assertThat(relay.runOnce()).isEqualTo(10);
            assertThat(relay.runOnce()).as("a second round").isZero();
        }
        assertThat(sink.accepted().stream().map(Message::id))
                .containsExactlyInAnyOrderElementsOf(
                        committed.stream().map(Message::id).toList());
    }

    @Test
    void deliversAMessageAsItWasPublished() throws SQLException {
        Message message = Message.about("order", "order ü 1")
                .event("OrderPlaced")
                .eventVersion(3)
                .aggregateVersion(7)
                .tenantId("tenant-1")
                .header("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
                .header("note", "ünï \"quoted\"")
                .occurredAt(Instant.parse("2020-02-29T12:34:56.789012Z"))
                .availableAt(Instant.parse("2021-01-01T00:00:00.000001Z"))
                .payload(Messages.awkwardPayloads().get("escapes"))
                .build();
        publish(List.of(message));
        try (Relay relay = relay(subscription().build())) {
            relay.runOnce();
        }
        assertThat(sink.attempts()).containsExactly(new Envelope(begin + 1, message, 1));
    }

    @Test
    void goesOnWhereTheLastRelayStopped() throws SQLException {
        publish(Messages.sequence("order-1", 3));
        try (Relay relay = relay(subscription().build())) {
            relay.runOnce();
        }
        publish(Messages.sequence("order-1", 2));
        RecordingSink next = new RecordingSink();
        try (Relay relay =
                postroom.relay().deliver(subscription().build(), next).build()) {
            assertThat(relay.runOnce()).isEqualTo(2);
        }
        assertThat(next.attempts().stream().map(Envelope::position)).containsExactly(begin + 4, begin + 5);
    }

    @Test
    void runsOnItsOwnUntilClosedAndGivesEverythingBack() throws Exception {
        Relay relay = postroom.relay()
                .name("pod-7")
                .deliver(subscription().build(), sink)
                .build();
        relay.start();
        publish(Messages.ofManyKeys("order", 20));
        sink.awaitAccepted(20, PATIENCE);
        assertThat(database.queryLong("select count(*) from postroom.relay where name = 'pod-7' and id = '" + relay.id()
                        + "' and leased_until > clock_timestamp()"))
                .isEqualTo(1);
        assertThat(lanes("owner = '" + relay.id() + "'")).isEqualTo(4);
        assertThatThrownBy(relay::start).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(relay::runOnce).isInstanceOf(IllegalStateException.class);
        relay.close();
        relay.close();
        assertThat(lanes("owner is null and position = " + (begin + 20))).isEqualTo(4);
        assertThat(database.queryLong("select count(*) from postroom.relay where name = 'pod-7'"))
                .isZero();
        assertThatThrownBy(relay::start).isInstanceOf(IllegalStateException.class);
        assertThat(sink.closed()).as("the sink belongs to whoever made it").isFalse();
    }

    @Test
    void goesOnOnItsOwnWithTheLanesItTookWhenItWasStepped() throws Exception {
        publish(Messages.ofManyKeys("stepped", 20));
        try (Relay relay = relay(subscription().build())) {
            assertThat(relay.runOnce()).isEqualTo(20);
            assertThat(lanes("owner = '" + relay.id() + "'")).isEqualTo(4);
            relay.start();
            publish(Messages.ofManyKeys("on its own", 20));
            sink.awaitAccepted(40, PATIENCE);
        }
        assertThat(sink.attempts()).hasSize(40);
        assertThat(lanes("owner is null and position = " + (begin + 40))).isEqualTo(4);
    }

    @Test
    void deliversSoonAfterANudgeHoweverSeldomItPolls() throws Exception {
        try (Relay relay = postroom.relay()
                .poll(Duration.ofSeconds(30), Duration.ofSeconds(30))
                .deliver(subscription().build(), sink)
                .build()) {
            relay.start();
            database.execute("select postroom.publish('order', 'order-1', 'OrderPlaced', '{}')");
            relay.nudge();
            sink.awaitAccepted(1, Duration.ofSeconds(10));
        }
    }

    @Test
    void hearsFromTheRelayThatStamped() throws Exception {
        // The first looks often, the second hardly ever; lanes are shared, so each gets some of the keys.
        try (Relay often = Postroom.on(database.dataSource())
                        .relay()
                        .lease(Duration.ofMillis(600))
                        .deliver(subscription().lanes(2).build(), sink)
                        .build();
                Relay seldom = Postroom.on(database.dataSource())
                        .relay()
                        .lease(Duration.ofMillis(600))
                        .poll(Duration.ofSeconds(50), Duration.ofSeconds(50))
                        .deliver(subscription().lanes(2).build(), sink)
                        .build()) {
            often.start();
            seldom.start();
            awaitCount(1, "select count(*) from postroom.lane where owner = '" + seldom.id() + "'");
            awaitCount(
                    2,
                    "select count(*) from pg_stat_activity where datname = current_database() and query like 'listen%'");
            publish(Messages.ofManyKeys("order", 20));
            sink.awaitAccepted(20, Duration.ofSeconds(15));
        }
    }

    @Test
    void subscriptionsDoNotWaitForEachOther() throws Exception {
        RecordingSink broken = new RecordingSink().breakDown();
        publish(Messages.ofManyKeys("order", 10));
        try (Relay relay = postroom.relay()
                .deliver(subscription().build(), sink)
                .deliver(
                        Subscription.named(name + "-broken")
                                .lanes(2)
                                .start(Start.after(begin))
                                .build(),
                        broken)
                .build()) {
            relay.start();
            sink.awaitAccepted(10, PATIENCE);
            broken.awaitAttempts(1, PATIENCE);
            assertThat(broken.accepted()).isEmpty();
            broken.mend();
            broken.awaitAccepted(10, PATIENCE);
        }
        assertThat(sink.accepted()).hasSize(10);
    }

    @Test
    void saysHowFarBehindASubscriptionIs() throws SQLException {
        publish(Messages.ofManyKeys("order", 7));
        try (Relay relay = relay(subscription().build())) {
            sink.breakDown();
            relay.runOnce();
            assertThat(relay.lag()).singleElement().satisfies(lag -> {
                assertThat(lag.subscription()).isEqualTo(name);
                assertThat(lag.messages()).isEqualTo(7);
                assertThat(lag.age()).isBetween(Duration.ZERO, Duration.ofMinutes(1));
            });
        }
        sink.mend();
        try (Relay relay = relay(subscription().build())) {
            relay.runOnce();
            assertThat(relay.lag()).singleElement().satisfies(lag -> {
                assertThat(lag.messages()).isZero();
                assertThat(lag.age()).isZero();
            });
        }
    }

    @Test
    void tellsTelemetryWhatReallyHappened() throws Exception {
        Told told = new Told();
        Postroom own = Postroom.builder(database.dataSource()).telemetry(told).build();
        try (Connection tx = database.begin()) {
            own.outbox().publishAll(tx, Messages.ofManyKeys("order", 30));
            own.outbox().publish(tx, Messages.order("failing"));
            tx.commit();
        }
        sink.answer(message -> message.aggregateId().equals("failing"), Outcome.retry("not now"), 2);
        try (Relay relay = own.relay()
                .probe(Duration.ofMillis(5), Duration.ofMillis(5))
                .deliver(subscription().build(), sink)
                .build()) {
            relay.start();
            sink.awaitAccepted(31, PATIENCE);
        }
        assertThat(told.published).hasValue(31);
        assertThat(told.stamped).hasValue(31);
        assertThat(told.delivered).hasValue(31);
        assertThat(told.failures).containsExactly("OrderConfirmed retry", "OrderConfirmed retry");
        assertThat(told.acquired).hasValue(4);
        assertThat(told.released).hasValue(4);
        assertThat(told.settledTo).hasValue(begin + 31);
    }

    @Test
    void tellsTelemetryOfLagOfDestinationsThatTakeNothingAndOfWhatIsGivenUp() throws Exception {
        Told told = new Told();
        Postroom own = Postroom.builder(database.dataSource()).telemetry(told).build();
        publish(Messages.ofManyKeys("order", 10));
        publish(List.of(Messages.order("refused")));
        sink.answer(message -> message.aggregateId().equals("refused"), Outcome.rejected("not a customer"));
        sink.breakDown();
        try (Relay relay = own.relay()
                .lease(Duration.ofMillis(1_500))
                .probe(Duration.ofMillis(5), Duration.ofMillis(20))
                .deliver(subscription().build(), sink)
                .build()) {
            relay.start();
            await(() -> told.lags.contains(11L) && !told.circuits.isEmpty());
            sink.mend();
            sink.answer(message -> message.aggregateId().equals("refused"), Outcome.rejected("not a customer"));
            sink.awaitAccepted(10, PATIENCE);
            await(() -> told.lags.get(told.lags.size() - 1) == 0 && told.circuits.contains(false));
        }
        assertThat(told.circuits.get(0)).as("first it takes nothing").isTrue();
        assertThat(told.circuits).last().isEqualTo(false);
        assertThat(told.buried).containsExactly(name + " rejected");
        assertThat(told.oldest).hasPositiveValue();
    }

    @Nested
    class StartPositions {
        @Test
        void beginWithTheOldestMessage() throws SQLException {
            publish(Messages.ofManyKeys("order", 2));
            try (Relay relay = relay(Subscription.named(name).build())) {
                assertThat(relay.runOnce()).isEqualTo(begin + 2);
            }
        }

        @Test
        void beginNowWithWhatIsCommittedFromNowOn() throws SQLException {
            publish(Messages.ofManyKeys("before", 5));
            try (Relay relay = relay(Subscription.named(name).start(Start.now()).build())) {
                assertThat(relay.runOnce()).isZero();
                publish(Messages.ofManyKeys("after", 3));
                assertThat(relay.runOnce()).isEqualTo(3);
            }
        }

        @Test
        void beginNowWithATransactionThatIsOpenNow() throws SQLException {
            try (Connection open = database.begin()) {
                postroom.outbox().publish(open, Messages.order("open"));
                try (Relay relay =
                        relay(Subscription.named(name).start(Start.now()).build())) {
                    assertThat(relay.runOnce()).isZero();
                    open.commit();
                    assertThat(relay.runOnce()).isEqualTo(1);
                }
            }
        }

        @Test
        void beginAfterAPosition() throws SQLException {
            publish(Messages.ofManyKeys("order", 10));
            postroom.journal().stampAll();
            try (Relay relay =
                    relay(Subscription.named(name).start(Start.after(begin + 4)).build())) {
                relay.runOnce();
            }
            assertThat(sink.attempts().stream().map(Envelope::position).sorted())
                    .containsExactly(begin + 5, begin + 6, begin + 7, begin + 8, begin + 9, begin + 10);
        }

        @Test
        void beginSinceATime() throws SQLException {
            publish(Messages.ofManyKeys("before", 5));
            postroom.journal().stampAll();
            Instant time = Instant.EPOCH.plus(
                    database.queryLong("select (extract(epoch from clock_timestamp()) * 1000000)::bigint"),
                    ChronoUnit.MICROS);
            publish(Messages.ofManyKeys("since", 3));
            try (Relay relay =
                    relay(Subscription.named(name).start(Start.since(time)).build())) {
                relay.runOnce();
            }
            assertThat(sink.accepted())
                    .hasSize(3)
                    .allMatch(message -> message.aggregateId().startsWith("since"));
        }

        @Test
        void areForgottenOnceTheSubscriptionExists() throws SQLException {
            publish(Messages.ofManyKeys("order", 3));
            try (Relay relay = relay(subscription().build())) {
                relay.runOnce();
            }
            try (Relay relay =
                    relay(Subscription.named(name).start(Start.beginning()).build())) {
                assertThat(relay.runOnce()).isZero();
            }
        }

        @Test
        void mustNotLieBeyondTheEnd() {
            try (Relay relay = relay(
                    Subscription.named(name).start(Start.after(begin + 1_000)).build())) {
                assertThatThrownBy(relay::runOnce)
                        .isInstanceOf(PostroomException.class)
                        .hasMessageContaining("begin after position " + (begin + 1_000))
                        .hasMessageContaining("ends at " + begin)
                        .extracting("code")
                        .isEqualTo("subscription.start-beyond-end");
            }
            assertThat(lanes("true")).isZero();
        }
    }

    @Nested
    class Filters {
        @BeforeEach
        void publishAllKinds() throws SQLException {
            List<Message> all = new ArrayList<>();
            for (String tenant : new String[] {"red", "blue", null}) {
                for (String type : List.of("order", "invoice")) {
                    for (String event : List.of("Placed", "Paid")) {
                        all.add(Message.about(type, tenant + type)
                                .event(event)
                                .tenantId(tenant)
                                .payload("{}")
                                .build());
                    }
                }
            }
            publish(all);
        }

        @Test
        void byAggregateType() {
            assertThat(delivered(subscription().aggregateTypes("order")))
                    .hasSize(6)
                    .allMatch(message -> message.aggregateType().equals("order"));
        }

        @Test
        void byEventType() {
            assertThat(delivered(subscription().eventTypes("Paid")))
                    .hasSize(6)
                    .allMatch(message -> message.eventType().equals("Paid"));
        }

        @Test
        void byTenant() {
            assertThat(delivered(subscription().tenants("red")))
                    .hasSize(4)
                    .allMatch(message -> "red".equals(message.tenantId()));
        }

        @Test
        void byAllOfThem() {
            assertThat(delivered(subscription()
                            .aggregateTypes("order", "shipment")
                            .eventTypes("Placed")
                            .tenants("red", "blue")))
                    .hasSize(2);
        }

        @Test
        void moveOnOverWhatTheyLeaveOut() {
            assertThat(delivered(subscription().eventTypes("Never"))).isEmpty();
            assertThat(lanes("position = " + (begin + 12))).isEqualTo(4);
        }

        @Test
        void mayChangeWithARelease() throws SQLException {
            delivered(subscription().tenants("red"));
            publishAllKinds();
            sink.forget();
            assertThat(delivered(subscription().tenants("blue")))
                    .as("from where it was")
                    .hasSize(4)
                    .allMatch(message -> "blue".equals(message.tenantId()));
            assertThat(database.queryLong("select count(*) from postroom.subscription where name = '" + name
                            + "' and tenants = '{blue}'"))
                    .isEqualTo(1);
        }

        private List<Message> delivered(Subscription.Builder subscription) {
            try (Relay relay = relay(subscription.build())) {
                relay.runOnce();
            }
            return sink.accepted();
        }
    }

    @Nested
    class Mistakes {
        @Test
        void theNumberOfLanesStaysWhatItWasWhenItWasMade() {
            try (Relay relay = relay(subscription().lanes(4).build())) {
                relay.runOnce();
            }
            try (Relay relay = relay(subscription().lanes(8).build())) {
                relay.runOnce();
            }
            assertThat(lanes("true")).isEqualTo(4);
        }

        @Test
        void anotherOrderIsRefusedAndChangesNothing() {
            try (Relay relay =
                    relay(subscription().order(Order.KEY).tenants("red").build())) {
                relay.runOnce();
            }
            try (Relay relay =
                    relay(subscription().order(Order.NONE).tenants("blue").build())) {
                assertThatThrownBy(relay::start)
                        .isInstanceOf(PostroomException.class)
                        .hasMessageContaining("order none")
                        .extracting("code")
                        .isEqualTo("subscription.differs");
            }
            assertThat(database.queryLong("select count(*) from postroom.subscription where name = '" + name
                            + "' and tenants = '{red}'"))
                    .as("the filter of the relay that serves it")
                    .isEqualTo(1);
        }

        @Test
        void aRelayReportsAllItsProblemsAtOnce() {
            Relay.Builder builder = postroom.relay()
                    .name(" ")
                    .lease(Duration.ofMillis(1))
                    .settleInterval(Duration.ofDays(1))
                    .poll(Duration.ZERO, Duration.ofHours(1))
                    .stopGrace(Duration.ofDays(1))
                    .probe(Duration.ZERO, Duration.ofSeconds(1))
                    .batch(0, 1);
            assertThatThrownBy(builder::build)
                    .isInstanceOf(PostroomException.class)
                    .hasMessageContaining("there is no subscription")
                    .hasMessageContaining("name is ' '")
                    .hasMessageContaining("lease is PT0.001S, the range is 100 ms to 1 h")
                    .hasMessageContaining("settle interval")
                    .hasMessageContaining("poll min")
                    .hasMessageContaining("poll max")
                    .hasMessageContaining("stop grace")
                    .hasMessageContaining("first probe")
                    .hasMessageContaining("0 messages")
                    .hasMessageContaining("1 bytes")
                    .extracting("code")
                    .isEqualTo("relay.invalid");
        }

        @Test
        void aSubscriptionServedTwiceIsRefused() {
            Subscription subscription = subscription().build();
            assertThatThrownBy(() -> postroom.relay()
                            .deliver(subscription, sink)
                            .deliver(subscription, sink)
                            .build())
                    .hasMessageContaining("subscription " + name + " is there twice");
        }

        @Test
        void aSubscriptionReportsAllItsProblemsAtOnce() {
            assertThatThrownBy(() -> Subscription.named("Not A Name").lanes(0).build())
                    .isInstanceOf(PostroomException.class)
                    .hasMessageContaining("name is 'Not A Name'")
                    .hasMessageContaining("lanes is 0, the range is 1 to 256")
                    .extracting("code")
                    .isEqualTo("subscription.invalid");
        }
    }

    private Subscription.Builder subscription() {
        return Subscription.named(name).start(Start.after(begin));
    }

    private Relay relay(Subscription subscription) {
        return postroom.relay().deliver(subscription, sink).build();
    }

    private static void publish(List<Message> messages) throws SQLException {
        try (Connection tx = database.begin()) {
            postroom.outbox().publishAll(tx, messages);
            tx.commit();
        }
    }

    private long lanes(String condition) {
        return database.queryLong(
                "select count(*) from postroom.lane where subscription = '" + name + "' and " + condition);
    }

    private static void await(BooleanSupplier condition) {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime() - deadline).as("in time").isNegative();
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
        }
    }

    private static void awaitCount(long expected, String sql) {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        for (long count = database.queryLong(sql); count != expected; count = database.queryLong(sql)) {
            assertThat(System.nanoTime() - deadline)
                    .as("%s: still %s", sql, count)
                    .isNegative();
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
        }
    }

    /** Remembers what a relay tells. */
    private static final class Told implements Telemetry {
        private final AtomicLong published = new AtomicLong();
        private final AtomicLong stamped = new AtomicLong();
        private final AtomicLong delivered = new AtomicLong();
        private final AtomicLong acquired = new AtomicLong();
        private final AtomicLong released = new AtomicLong();
        private final AtomicLong settledTo = new AtomicLong();
        private final AtomicLong oldest = new AtomicLong();
        private final List<String> failures = new ArrayList<>();
        private final List<Long> lags = new CopyOnWriteArrayList<>();
        private final List<Boolean> circuits = new CopyOnWriteArrayList<>();
        private final List<String> buried = new CopyOnWriteArrayList<>();

        @Override
        public void lag(String subscription, long messages, Duration age) {
            lags.add(messages);
            oldest.accumulateAndGet(age.toNanos(), Math::max);
        }

        @Override
        public void circuit(String subscription, boolean open) {
            circuits.add(open);
        }

        @Override
        public void buried(String subscription, String cause) {
            buried.add(subscription + " " + cause);
        }

        @Override
        public void published(int messages) {
            published.addAndGet(messages);
        }

        @Override
        public void stamped(long messages, Duration took) {
            stamped.addAndGet(messages);
        }

        @Override
        public void delivered(String subscription, long messages) {
            delivered.addAndGet(messages);
        }

        @Override
        public void failed(Failure failure) {
            synchronized (failures) {
                failures.add(failure.eventType() + " " + failure.reason());
            }
        }

        @Override
        public void settled(String subscription, int lane, long position) {
            settledTo.accumulateAndGet(position, Math::max);
        }

        @Override
        public void laneAcquired(String subscription, int lane, boolean takeover) {
            acquired.incrementAndGet();
        }

        @Override
        public void laneReleased(String subscription, int lane, boolean lost) {
            released.incrementAndGet();
        }
    }
}
