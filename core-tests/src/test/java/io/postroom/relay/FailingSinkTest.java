package io.postroom.relay;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.message.Envelope;
import io.postroom.message.Message;
import io.postroom.retry.RetryPolicy;
import io.postroom.testkit.Messages;
import io.postroom.testkit.RecordingSink;
import io.postroom.testkit.TestDatabase;
import java.io.IOException;
import java.net.ConnectException;
import java.net.UnknownHostException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What a lane does when its sink does not take a message. One lane, so that all keys share it. */
class FailingSinkTest {
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private static TestDatabase database;

    private final RecordingSink sink = new RecordingSink();
    private final String name = "failing-" + UUID.randomUUID();
    private long begin;

    @BeforeAll
    static void create() {
        database = TestDatabase.create();
    }

    @AfterAll
    static void drop() {
        database.close();
    }

    /** Each test has a subscription of its own, which begins where the test does. */
    @BeforeEach
    void begin() {
        database.postroom().journal().stampAll();
        begin = database.postroom().journal().refreshHead().position();
    }

    @Test
    void aMessageThatFailsHoldsBackOnlyItsKey() throws Exception {
        sink.answer(about("bad"), Outcome.retry("not now"), 5);
        publish(Messages.sequence("bad", 3));
        publish(Messages.ofManyKeys("good", 50));
        publish(Messages.sequence("bad", 2));
        try (Relay relay = relay(sink, Order.KEY)) {
            relay.start();
            List<Message> accepted = sink.awaitAccepted(55, PATIENCE);
            assertThat(accepted.subList(0, 50))
                    .allMatch(message -> message.aggregateId().startsWith("good"));
            assertThat(versions("bad")).containsExactly(1L, 2L, 3L, 1L, 2L);
        }
        assertThat(sink.accepted()).as("nothing is repeated").hasSize(55);
    }

    @Test
    void attemptsAreCountedAndTheirWaitsGrow() throws Exception {
        Timed timed = new Timed(6);
        publish(List.of(Messages.order("slow")));
        try (Relay relay = relay(timed, Order.KEY, Duration.ofMillis(20), Duration.ofSeconds(10))) {
            relay.start();
            assertThat(timed.done.await(PATIENCE.toMillis(), TimeUnit.MILLISECONDS))
                    .isTrue();
        }
        assertThat(timed.attempts).containsExactly(1, 2, 3, 4, 5, 6);
        for (int i = 1; i < timed.nanos.size(); i++) {
            long waited = TimeUnit.NANOSECONDS.toMillis(timed.nanos.get(i) - timed.nanos.get(i - 1));
            long meant = 20L << (i - 1);
            assertThat(waited).as("wait before attempt %s", i + 1).isGreaterThanOrEqualTo(meant * 3 / 4);
        }
    }

    @Test
    void aSinkMaySayWhenToTryAgain() throws Exception {
        sink.answer(about("later"), Outcome.retry("busy", Duration.ofMillis(400)), 1);
        publish(List.of(Messages.order("later")));
        try (Relay relay = relay(sink, Order.KEY, Duration.ofMillis(1), Duration.ofSeconds(10))) {
            relay.start();
            sink.awaitAttempts(1, PATIENCE);
            long began = System.nanoTime();
            sink.awaitAttempts(2, PATIENCE);
            assertThat(Duration.ofNanos(System.nanoTime() - began)).isGreaterThan(Duration.ofMillis(350));
        }
    }

    @Test
    void anUnavailableSinkPausesTheLaneAndIsTriedAgain() throws Exception {
        sink.breakDown();
        publish(Messages.ofManyKeys("any", 200));
        try (Relay relay = relay(sink, Order.KEY)) {
            relay.start();
            int attempts = sink.awaitAttempts(3, PATIENCE).size();
            assertThat(attempts).as("probes, not a stream of messages").isLessThan(100);
            assertThat(sink.accepted()).isEmpty();
            sink.mend();
            sink.awaitAccepted(200, PATIENCE);
        }
        assertThat(sink.accepted().stream().map(Message::id)).hasSize(200).doesNotHaveDuplicates();
    }

    @Test
    void manyMessagesThatFindTheSinkUnavailableAtOnceCountAsOneFailure() throws Exception {
        // All of them are on their way when the sink goes away, as with a broker; waits would double for each.
        List<CompletableFuture<Outcome>> open = new ArrayList<>();
        CountDownLatch sent = new CountDownLatch(200);
        CountDownLatch accepted = new CountDownLatch(200);
        Sink broker = envelope -> {
            if (sent.getCount() == 0) {
                accepted.countDown();
                return CompletableFuture.completedFuture(Outcome.accepted());
            }
            CompletableFuture<Outcome> answer = new CompletableFuture<>();
            synchronized (open) {
                open.add(answer);
            }
            sent.countDown();
            return answer;
        };
        publish(Messages.ofManyKeys("any", 200));
        try (Relay relay = relay(broker, Order.KEY, Duration.ofMillis(50), Duration.ofMinutes(5))) {
            relay.start();
            assertThat(sent.await(PATIENCE.toMillis(), TimeUnit.MILLISECONDS)).isTrue();
            synchronized (open) {
                open.forEach(answer -> answer.complete(Outcome.unavailable("gone")));
            }
            assertThat(accepted.await(5, TimeUnit.SECONDS))
                    .as("%s of 200 are still missing", accepted.getCount())
                    .isTrue();
        }
    }

    static Stream<Throwable> everythingThatCanBeThrown() {
        return Stream.of(
                new IOException("checked"),
                new IllegalStateException("unchecked"),
                new AssertionError("assertion"),
                new StackOverflowError("deep"),
                new NoClassDefFoundError("missing"),
                new OutOfMemoryError("too large an array"),
                new Error("of its own kind"),
                new InterruptedException("interrupted"),
                new ConnectException("refused"),
                new UnknownHostException("tenant.example"),
                new SQLTransientConnectionException("no connection", "08001"),
                new IllegalStateException("wrapped", new ConnectException("refused")));
    }

    @ParameterizedTest
    @MethodSource("everythingThatCanBeThrown")
    void whateverAHandlerThrowsIsTriedAgainAndStopsNobodyElse(Throwable thrown) throws Exception {
        // It fails for as long as the others are not through: if it stopped them, it would fail for ever.
        Handler handler = envelope -> {
            if (envelope.message().aggregateId().equals("bad")
                    && sink.accepted().size() < 20) {
                FailingSinkTest.<RuntimeException>sneak(thrown);
            }
            accept(envelope);
        };
        publish(Messages.sequence("bad", 2));
        publish(Messages.ofManyKeys("good", 20));
        try (Relay relay = relay(handler.asSink(), Order.KEY)) {
            relay.start();
            sink.awaitAccepted(22, PATIENCE);
            assertThat(versions("bad")).containsExactly(1L, 2L);
        }
        assertThat(sink.accepted()).as("nobody else's messages are repeated").hasSize(22);
    }

    @Test
    void aCarelessSinkIsTriedAgain() throws Exception {
        Map<String, AtomicInteger> attempts = new ConcurrentHashMap<>();
        Sink careless = envelope -> {
            String key = envelope.message().aggregateId();
            if (attempts.computeIfAbsent(key, any -> new AtomicInteger()).getAndIncrement() < 2) {
                return switch (key) {
                    case "null-stage" -> nothing();
                    case "null-outcome" -> CompletableFuture.completedFuture(nothing());
                    case "failed-stage" -> CompletableFuture.failedFuture(new IOException("broken"));
                    default -> throw new IllegalStateException("thrown");
                };
            }
            return accept(envelope);
        };
        for (String key : List.of("null-stage", "null-outcome", "failed-stage", "thrown")) {
            publish(Messages.sequence(key, 2));
        }
        try (Relay relay = relay(careless, Order.KEY)) {
            relay.start();
            sink.awaitAccepted(8, PATIENCE);
        }
        assertThat(sink.accepted()).hasSize(8);
        for (String key : attempts.keySet()) {
            assertThat(versions(key)).as(key).containsExactly(1L, 2L);
        }
    }

    @Test
    void aSinkThatCannotFlushLosesNothing() throws Exception {
        Collecting collecting = new Collecting();
        publish(Messages.sequence("any", 3));
        publish(Messages.ofManyKeys("other", 5));
        try (Relay relay = relay(collecting, Order.KEY)) {
            relay.start();
            sink.awaitAccepted(8, PATIENCE);
            assertThat(versions("any")).containsExactly(1L, 2L, 3L);
            assertThat(collecting.failures).isEqualTo(3);
        }
    }

    @Test
    void aScheduledMessageIsNotDeliveredEarlyAndHoldsUpNobody() throws Exception {
        Instant due = now().plusMillis(1_200);
        publish(List.of(Message.about("order", "order-1")
                .event("OrderReminded")
                .availableAt(due)
                .payload("{}")
                .build()));
        publish(Messages.sequence("order-1", 3));
        publish(Messages.ofManyKeys("other", 5));
        List<Instant> reminded = new CopyOnWriteArrayList<>();
        Handler handler = envelope -> {
            if (envelope.message().eventType().equals("OrderReminded")) {
                reminded.add(now());
            }
            accept(envelope);
        };
        try (Relay relay = relay(handler.asSink(), Order.KEY)) {
            relay.start();
            sink.awaitAccepted(8, PATIENCE);
            assertThat(reminded).isEmpty();
            assertThat(versions("order-1")).as("its own key goes on").containsExactly(1L, 2L, 3L);
            sink.awaitAccepted(9, PATIENCE);
            assertThat(reminded)
                    .singleElement()
                    .satisfies(at -> assertThat(at).isAfterOrEqualTo(due).isBefore(due.plusSeconds(5)));
        }
        assertThat(database.queryLong("select position from postroom.lane where subscription = '" + name + "'"))
                .isEqualTo(begin + 9);
    }

    @Test
    void withoutOrderAMessageThatFailsHoldsBackNothing() throws Exception {
        sink.answer(message -> Long.valueOf(1).equals(message.aggregateVersion()), Outcome.retry("not now"), 3);
        publish(Messages.sequence("only", 10));
        try (Relay relay = relay(sink, Order.NONE)) {
            relay.start();
            sink.awaitAccepted(10, PATIENCE);
            assertThat(versions("only"))
                    .containsExactlyElementsOf(
                            Stream.concat(IntStream.rangeClosed(2, 10).mapToObj(Long::valueOf), Stream.of(1L))
                                    .toList());
        }
    }

    @Test
    void aMessageThatStillFailsAtTheEndIsDeliveredByTheNextRelay() throws Exception {
        sink.answer(about("bad"), Outcome.retry("not now"));
        publish(Messages.sequence("bad", 2));
        publish(Messages.ofManyKeys("good", 5));
        try (Relay relay = relay(sink, Order.KEY)) {
            relay.start();
            sink.awaitAccepted(5, PATIENCE);
            sink.awaitAttempts(7, PATIENCE);
        }
        database.execute("update postroom.delivery set due_at = now() where due_at is not null");
        RecordingSink next = new RecordingSink();
        try (Relay relay = relay(next, Order.KEY, Duration.ofMillis(10), Duration.ofMillis(100))) {
            relay.runOnce();
        }
        assertThat(next.accepted("bad").stream().map(Message::aggregateVersion)).containsExactly(1L, 2L);
    }

    @Test
    void aSinkThatNeverAnswersDoesNotKeepTheRelayFromClosing() throws Exception {
        sink.hang(about("stuck"));
        publish(Messages.ofManyKeys("good", 5));
        publish(List.of(Messages.order("stuck")));
        Relay relay = database.postroom()
                .relay()
                .stopGrace(Duration.ofMillis(300))
                .deliver(subscription(Order.KEY).build(), sink)
                .build();
        relay.start();
        sink.awaitAttempts(6, PATIENCE);
        Thread closing = new Thread(relay::close, "closing");
        closing.start();
        closing.join(PATIENCE.toMillis());
        assertThat(closing.isAlive()).isFalse();
        assertThat(Thread.getAllStackTraces().keySet().stream()
                        .filter(thread -> thread.getName().startsWith("postroom-lane-" + name)))
                .as("threads that go on after the relay was closed")
                .isEmpty();
        assertThat(database.queryLong(
                        "select count(*) from postroom.lane where owner is not null and subscription = '" + name + "'"))
                .as("lanes that others have to wait for")
                .isZero();
        RecordingSink next = new RecordingSink();
        try (Relay other = relay(next, Order.KEY, Duration.ofMillis(10), Duration.ofMillis(100))) {
            other.runOnce();
        }
        assertThat(next.accepted("stuck")).hasSize(1);
    }

    private Relay relay(Sink target, Order order) {
        return relay(target, order, Duration.ofMillis(20), Duration.ofMillis(200));
    }

    private Relay relay(Sink target, Order order, Duration first, Duration longest) {
        RetryPolicy patient = RetryPolicy.builder()
                .exponential(first)
                .cap(longest)
                .attemptsMax(1_000)
                .build();
        return database.postroom()
                .relay()
                .probe(first, longest)
                .deliver(subscription(order).retry(patient).build(), target)
                .build();
    }

    private Subscription.Builder subscription(Order order) {
        return Subscription.named(name).lanes(1).order(order).start(Start.after(begin));
    }

    private void publish(List<Message> messages) throws SQLException {
        try (Connection tx = database.begin()) {
            database.postroom().outbox().publishAll(tx, messages);
            tx.commit();
        }
    }

    /** By the database's clock, which decides what is due. */
    private static Instant now() throws SQLException {
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("select clock_timestamp()")) {
            row.next();
            return row.getObject(1, OffsetDateTime.class).toInstant();
        }
    }

    private CompletionStage<Outcome> accept(Envelope envelope) {
        return sink.send(envelope);
    }

    private List<Long> versions(String key) {
        return sink.accepted(key).stream()
                .map(Message::aggregateVersion)
                .filter(version -> version != null)
                .toList();
    }

    private static Predicate<Message> about(String key) {
        return message -> message.aggregateId().equals(key);
    }

    /** A null where none is allowed. */
    @SuppressWarnings("NullAway")
    private static <T> T nothing() {
        return null;
    }

    @SuppressWarnings("unchecked")
    private static <T extends Throwable> void sneak(Throwable thrown) throws T {
        throw (T) thrown;
    }

    /** Sends only when flushed, and cannot flush at first; what it had collected by then it forgets. */
    private final class Collecting implements Sink {
        private final Map<Envelope, CompletableFuture<Outcome>> collected = new LinkedHashMap<>();
        private int failures;

        @Override
        public CompletionStage<Outcome> send(Envelope envelope) {
            return collected.computeIfAbsent(envelope, any -> new CompletableFuture<>());
        }

        @Override
        public void flush() {
            Map<Envelope, CompletableFuture<Outcome>> batch = new LinkedHashMap<>(collected);
            collected.clear();
            if (failures < 3) {
                failures++;
                throw new IllegalStateException("no flush today");
            }
            batch.forEach((envelope, answer) -> {
                accept(envelope);
                answer.complete(Outcome.accepted());
            });
        }
    }

    /** Fails until an attempt, and remembers when each was made. */
    private static final class Timed implements Sink {
        private final int succeeds;
        private final List<Integer> attempts = new ArrayList<>();
        private final List<Long> nanos = new ArrayList<>();
        private final CountDownLatch done = new CountDownLatch(1);

        private Timed(int succeeds) {
            this.succeeds = succeeds;
        }

        @Override
        public CompletionStage<Outcome> send(Envelope envelope) {
            attempts.add(envelope.attempt());
            nanos.add(System.nanoTime());
            if (envelope.attempt() < succeeds) {
                return CompletableFuture.completedFuture(Outcome.retry("not yet"));
            }
            done.countDown();
            return CompletableFuture.completedFuture(Outcome.accepted());
        }
    }
}
