package io.postroom.fault;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.Postroom;
import io.postroom.message.Envelope;
import io.postroom.message.Message;
import io.postroom.relay.Outcome;
import io.postroom.relay.Relay;
import io.postroom.relay.Sink;
import io.postroom.relay.Subscription;
import io.postroom.testkit.Messages;
import io.postroom.testkit.RecordingSink;
import io.postroom.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Relays come and go as they do in a release: nobody dies, so nothing may be repeated. */
class JoinAndLeaveTest {
    private static final int KEYS = 40;
    private static final int LANES = 8;
    private static final Duration LEASE = Duration.ofSeconds(3);
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private final History history = new History();
    private final Counters counters = new Counters();
    private TestDatabase database;

    @BeforeEach
    void create() {
        database = TestDatabase.create();
    }

    @AfterEach
    void drop() {
        database.close();
    }

    @Test
    void relaysReachFairSharesAndRepeatNothing() throws Exception {
        Writers.createAccounts(database.dataSource(), KEYS);
        try (SlowSink sink = new SlowSink();
                Writers writers = new Writers(
                        database.dataSource(),
                        database.postroom(),
                        history,
                        KEYS,
                        System.nanoTime(),
                        0.03,
                        Writers.Style.PLAIN,
                        Writers.Style.BATCH);
                Relay first = relay("first", sink);
                Relay second = relay("second", sink);
                Relay third = relay("third", sink)) {
            writers.start(4);
            first.start();
            awaitShares(8);
            second.start();
            awaitShares(4, 4);
            third.start();
            awaitShares(2, 3, 3);
            leave(first);
            awaitShares(4, 4);
            leave(third);
            awaitShares(8);
            writers.stop();
            Deadline.await(
                    "everything is delivered",
                    PATIENCE,
                    () -> history.deliveredIds().size() == history.acknowledgedCount());
            leave(second);
            awaitShares();
            assertThat(sink.most).as("answers that were awaited at one time").isGreaterThan(1);
        }
        assertThat(history.violations(Truth.stored(database.dataSource()))).isEmpty();
        assertThat(history.duplicates()).isZero();
        assertThat(counters.takeovers).hasValue(0);
        assertThat(counters.lost).hasValue(0);
        assertThat(counters.released).hasValue(counters.acquired.get());
        assertThat(counters.released.get()).as("lanes that changed hands").isGreaterThan(LANES);
        assertThat(database.queryLong("select count(*) from postroom.relay")).isZero();
    }

    @Test
    void aLeavingRelayKeepsItsLeasesUntilTheLastAnswerIsSettled() throws Exception {
        RecordingSink slow = new RecordingSink().hang(message -> true);
        RecordingSink other = new RecordingSink();
        int messages = publish(20);
        try (Relay leaving = relay("leaving", slow);
                Relay staying = relay("staying", other)) {
            leaving.start();
            slow.awaitAttempts(messages, PATIENCE);
            Thread closing = new Thread(leaving::close, "closing");
            closing.start();
            staying.start();
            long renewedUntil = leasedUntil() + 2 * LEASE.toMillis();
            Deadline.await(
                    "leases are renewed while the relay waits for answers",
                    PATIENCE,
                    () -> leasedUntil() > renewedUntil);
            assertThat(closing.isAlive()).isTrue();
            assertThat(other.attempts()).isEmpty();
            slow.release();
            closing.join(PATIENCE.toMillis());
            assertThat(closing.isAlive()).isFalse();
            awaitShares(LANES);
            publish(20);
            other.awaitAccepted(20, PATIENCE);
            assertThat(other.accepted()).hasSize(20);
            assertThat(slow.accepted()).hasSize(messages);
        }
        assertThat(counters.takeovers).hasValue(0);
        assertThat(counters.lost).hasValue(0);
    }

    @Test
    void aLeavingRelayDeliversWhatItHasReadSoThatNothingIsRepeated() throws Exception {
        // Behind the first message of a key waits a second one, and after both of them another key's is through
        // already.
        RecordingSink slow = new RecordingSink().hang(message -> Long.valueOf(1).equals(message.aggregateVersion()));
        RecordingSink other = new RecordingSink();
        publish(Messages.sequence("order-1", 3));
        publish(List.of(Messages.order("order-2")));
        Subscription oneLane = Subscription.named("one-lane").lanes(1).build();
        try (Relay leaving = relay("leaving", oneLane, slow);
                Relay staying = relay("staying", oneLane, other)) {
            leaving.start();
            slow.awaitAttempts(2, PATIENCE);
            assertThat(slow.accepted()).extracting(Message::aggregateId).containsExactly("order-2");
            Thread closing = new Thread(leaving::close, "closing");
            closing.start();
            Deadline.await(
                    "the relay is leaving: its heartbeat goes on, its stamper has stopped",
                    PATIENCE,
                    () -> Thread.getAllStackTraces().keySet().stream()
                            .noneMatch(thread -> thread.getName().equals("postroom-stamp-leaving")));
            slow.release();
            closing.join(PATIENCE.toMillis());
            staying.start();
            publish(List.of(Messages.order("order-3")));
            other.awaitAccepted(1, PATIENCE);
            assertThat(other.accepted()).extracting(Message::aggregateId).containsExactly("order-3");
            assertThat(slow.accepted()).hasSize(4).doesNotHaveDuplicates();
        }
    }

    private static void leave(Relay relay) {
        relay.close();
    }

    private Relay relay(String name, Sink sink) {
        return relay(name, Subscription.named("all").lanes(LANES).build(), sink);
    }

    private Relay relay(String name, Subscription subscription, Sink sink) {
        return Postroom.builder(database.dataSource())
                .telemetry(counters)
                .build()
                .relay()
                .name(name)
                .lease(LEASE)
                .deliver(subscription, sink)
                .build();
    }

    private int publish(int messages) throws SQLException {
        publish(Messages.ofManyKeys("order", messages));
        return messages;
    }

    private void publish(List<Message> messages) throws SQLException {
        try (Connection tx = database.begin()) {
            database.postroom().outbox().publishAll(tx, messages);
            tx.commit();
        }
    }

    private long leasedUntil() {
        return database.queryLong("select (extract(epoch from min(leased_until)) * 1000)::bigint from postroom.lane");
    }

    private void awaitShares(int... shares) {
        List<Integer> expected = new ArrayList<>();
        for (int share : shares) {
            expected.add(share);
        }
        Deadline.await(
                () -> "shares are " + sharesOrEmpty() + ", expected " + expected,
                PATIENCE,
                () -> shares().equals(expected));
    }

    private List<Integer> sharesOrEmpty() {
        try {
            return shares();
        } catch (SQLException e) {
            return List.of();
        }
    }

    private List<Integer> shares() throws SQLException {
        List<Integer> shares = new ArrayList<>();
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(
                        "select count(*) from postroom.lane where owner is not null group by owner order by 1")) {
            while (row.next()) {
                shares.add(row.getInt(1));
            }
        }
        return shares;
    }

    /** Answers later and from another thread, as a broker does. */
    private final class SlowSink implements Sink {
        private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
        private int awaited;
        private int most;

        @Override
        public CompletionStage<Outcome> send(Envelope envelope) {
            synchronized (this) {
                most = Math.max(most, ++awaited);
            }
            CompletableFuture<Outcome> answer = new CompletableFuture<>();
            timer.schedule(
                    () -> {
                        history.delivered(History.Delivery.of("sink", envelope));
                        synchronized (this) {
                            awaited--;
                        }
                        answer.complete(Outcome.accepted());
                    },
                    ThreadLocalRandom.current().nextInt(1, 8),
                    TimeUnit.MILLISECONDS);
            return answer;
        }

        @Override
        public void close() {
            timer.shutdownNow();
        }
    }
}
