package io.postroom.relay;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.Postroom;
import io.postroom.message.Envelope;
import io.postroom.message.Message;
import io.postroom.testkit.Messages;
import io.postroom.testkit.RecordingSink;
import io.postroom.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A lane that works slowly, waits long, or finds that the database has gone back. */
class LaneTest {
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private TestDatabase database;
    private Postroom postroom;

    @BeforeEach
    void create() {
        database = TestDatabase.create();
        postroom = database.postroom();
    }

    @AfterEach
    void drop() {
        database.close();
    }

    @Test
    void aSlowHandlerIsSettledMeanwhileAndHandlesNothingAfterTheClose() throws Exception {
        publish(Messages.ofManyKeys("slow", 500));
        AtomicInteger handled = new AtomicInteger();
        CountDownLatch many = new CountDownLatch(40);
        Relay relay = relay(envelope -> {
                    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
                    handled.incrementAndGet();
                    many.countDown();
                })
                .settleInterval(Duration.ofMillis(50))
                .build();
        try (relay) {
            relay.start();
            assertThat(many.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
            assertThat(settled())
                    .as("settled while the batch is still worked off")
                    .isPositive();
        }
        int atClose = handled.get();
        assertThat(settled()).isEqualTo(atClose);
        assertThat(database.queryLong("select count(*) from postroom.lane where owner is not null"))
                .isZero();
        List<Long> rest = new ArrayList<>();
        try (Relay next = relay(envelope -> rest.add(envelope.position())).build()) {
            next.runOnce();
        }
        assertThat(handled).as("after the close").hasValue(atClose);
        assertThat(rest).hasSize(500 - atClose).startsWith(atClose + 1L);
    }

    @Test
    void aMessageForTheEndOfTimeStopsNobody() throws Exception {
        publish(List.of(Message.about("order", "far")
                .event("Reminder")
                .payload("{}")
                .availableAt(Instant.parse("9999-12-31T00:00:00Z"))
                .build()));
        publish(Messages.ofManyKeys("near", 10));
        RecordingSink sink = new RecordingSink();
        try (Relay relay = postroom.relay().deliver(subscription(), sink).build()) {
            relay.start();
            assertThat(sink.awaitAccepted(10, PATIENCE))
                    .allMatch(message -> message.aggregateId().startsWith("near"));
        }
    }

    @Test
    void aMessageTriedAgainIsFlushedToo() throws Exception {
        publish(List.of(Messages.order("once")));
        Collecting sink = new Collecting();
        try (Relay relay = postroom.relay()
                .deliver(subscription(), sink)
                .probe(Duration.ofMillis(20), Duration.ofMillis(20))
                .build()) {
            relay.start();
            assertThat(sink.accepted.await(PATIENCE.toSeconds(), TimeUnit.SECONDS))
                    .isTrue();
        }
        assertThat(settled()).isEqualTo(1);
    }

    @Test
    void anInterruptThatAHandlerLeavesBehindDoesNotEndTheLane() throws Exception {
        AtomicInteger handled = new AtomicInteger();
        try (Relay relay = relay(envelope -> {
                    Thread.currentThread().interrupt();
                    handled.incrementAndGet();
                })
                .build()) {
            relay.start();
            for (int n = 1; n <= 5; n++) {
                publish(List.of(Messages.order("any")));
                int expected = n;
                await(() -> handled.get() == expected);
            }
        }
        assertThat(database.queryLong("select max(fence) from postroom.lane"))
                .as("taken once")
                .isEqualTo(1);
    }

    /** As after a failover that lost commits, or a volume that was rolled back under a living relay. */
    @Test
    void aLaneThatTheDatabaseMovedBackIsTakenAnew() throws Exception {
        publish(Messages.ofManyKeys("before", 20));
        List<Envelope> seen = new CopyOnWriteArrayList<>();
        try (Relay relay = relay(seen::add)
                .lease(Duration.ofSeconds(2))
                .settleInterval(Duration.ZERO)
                .build()) {
            relay.start();
            await(() -> settled() == 20);
            database.execute("""
                    begin;
                    -- Nobody stamps meanwhile, from a tick that is no longer there.
                    select pg_advisory_xact_lock(hashtextextended('"postroom".stamp', 0));
                    delete from postroom.outbox where seq in (select seq from postroom.journal where position > 10);
                    delete from postroom.journal where position > 10;
                    update postroom.tick set position = 10 where position > 10;
                    update postroom.lane set position = 10;
                    commit
                    """);
            publish(Messages.ofManyKeys("after", 5));
            await(() -> seen.stream()
                            .filter(envelope -> envelope.message().aggregateId().startsWith("after"))
                            .map(envelope -> envelope.message().id())
                            .distinct()
                            .count()
                    == 5);
            await(() -> settled() == 15);
        }
        assertThat(seen)
                .filteredOn(envelope -> envelope.message().aggregateId().startsWith("after"))
                .extracting(Envelope::position)
                .contains(11L, 12L, 13L, 14L, 15L);
    }

    @Test
    void aRoundByHandNoticesThatItsLaneWasTaken() throws SQLException {
        publish(Messages.ofManyKeys("mine", 3));
        List<Long> seen = new ArrayList<>();
        try (Relay relay = relay(envelope -> seen.add(envelope.position())).build()) {
            assertThat(relay.runOnce()).isEqualTo(3);
            database.execute("update postroom.lane set owner = gen_random_uuid(), fence = fence + 1");
            publish(Messages.ofManyKeys("theirs", 2));
            assertThat(relay.runOnce()).as("while another relay has the lane").isZero();
            database.execute("update postroom.lane set owner = null, leased_until = null");
            assertThat(relay.runOnce()).as("once it is free again").isEqualTo(2);
        }
        assertThat(seen).containsExactly(1L, 2L, 3L, 4L, 5L);
    }

    /** Answers only when it is flushed: not yet the first time, accepted the second. */
    private static final class Collecting implements Sink {
        final CountDownLatch accepted = new CountDownLatch(1);
        private final List<CompletableFuture<Outcome>> collected = new ArrayList<>();
        private int flushes;

        @Override
        public synchronized CompletionStage<Outcome> send(Envelope envelope) {
            CompletableFuture<Outcome> answer = new CompletableFuture<>();
            collected.add(answer);
            return answer;
        }

        @Override
        public synchronized void flush() {
            flushes++;
            boolean first = flushes == 1;
            collected.forEach(answer -> answer.complete(first ? Outcome.retry("not yet") : Outcome.accepted()));
            collected.clear();
            if (!first) {
                accepted.countDown();
            }
        }
    }

    private static Subscription subscription() {
        return Subscription.named("lane-test").lanes(1).build();
    }

    private Relay.Builder relay(Handler handler) {
        return postroom.relay().handle(subscription(), handler);
    }

    private long settled() {
        return database.queryLong("select min(position) from postroom.lane");
    }

    private void publish(List<Message> messages) throws SQLException {
        try (Connection tx = database.begin()) {
            postroom.outbox().publishAll(tx, messages);
            tx.commit();
        }
    }

    private static void await(java.util.function.BooleanSupplier condition) {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).as("in time").isLessThan(deadline);
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
        }
    }
}
