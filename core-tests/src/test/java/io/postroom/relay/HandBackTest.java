package io.postroom.relay;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.message.Envelope;
import io.postroom.message.Message;
import io.postroom.retry.RetryPolicy;
import io.postroom.testkit.Messages;
import io.postroom.testkit.RecordingSink;
import io.postroom.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a lane hands back during an outage goes on in the order of its key, whoever takes it and however slowly. */
class HandBackTest {
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final RetryPolicy IN_AN_HOUR = RetryPolicy.builder()
            .linear(Duration.ofHours(1))
            .jitter(0)
            .attemptsMax(3)
            .build();

    private final RecordingSink sink = new RecordingSink();
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
    void theNextRelaySendsTheFirstOfAKeyFirst() throws Exception {
        handBackThree();
        runOnce(sink);
        assertThat(versions("key")).containsExactly(1L, 2L, 3L);
        assertThat(sink.attempts()).allMatch(each -> each.attempt() == 2);
        assertThat(count("delivery")).isZero();
    }

    @Test
    void theNextRelaySendsTheFirstOfAKeyFirstAsAProbeToo() throws Exception {
        handBackThree();
        probeAmongThem();
        assertThat(versions("key")).containsExactly(1L, 2L, 3L);
        assertThat(sink.attempts().stream()
                        .filter(each -> each.message().aggregateId().equals("key"))
                        .findFirst())
                .hasValueSatisfying(
                        first -> assertThat(first.message().aggregateVersion()).isEqualTo(1));
    }

    /** Released together, and never tried: whichever is the probe, the others of its key wait for it. */
    @Test
    void aProbeInVainDoesNotLetTheNextOfItsKeyOvertakeIt() throws Exception {
        sink.answer(about("key"), Outcome.retry("not now"), 1);
        publish(Messages.sequence("key", 4));
        runOnce(sink);
        database.execute("update postroom.delivery set state = 'waiting', due_at = now(), attempts = 0");
        sink.forget();
        probeAmongThem();
        assertThat(versions("key")).containsExactly(1L, 2L, 3L, 4L);
    }

    /** Of a lane that was taken over: one is on its way, two are lined up behind it, and the destination goes away. */
    private void handBackThree() throws Exception {
        runOnce(sink);
        database.execute(
                "update postroom.lane set owner = gen_random_uuid(), leased_until = now() - interval '1 second'");
        publish(Messages.sequence("key", 3));
        Waiting waiting = new Waiting();
        try (Relay relay = relay(waiting, Duration.ofMinutes(1))) {
            relay.start();
            assertThat(waiting.sent.await(PATIENCE.toSeconds(), TimeUnit.SECONDS))
                    .isTrue();
            assertThat(count("delivery where state = 'sending'")).isEqualTo(3);
            waiting.answer.complete(Outcome.unavailable("gone"));
            await(() -> count("circuit") == 1);
        }
        assertThat(count("delivery where state = 'waiting' and attempts = 1 and crashes = 0"))
                .isEqualTo(3);
    }

    /** While the circuit is open one is claimed at a time, and for long in vain. */
    private void probeAmongThem() throws Exception {
        database.execute("update postroom.delivery set due_at = due_at + interval '1 hour'");
        sink.answer(about("other"), Outcome.retry("not now"), 1);
        publish(List.of(Messages.order("other")));
        runOnce(sink);
        database.execute(
                "update postroom.delivery set due_at = now() where attempts = 1 and position = (select max(position) from postroom.delivery)");
        sink.forget();
        sink.breakDown();
        try (Relay relay = relay(sink, Duration.ofMillis(1))) {
            relay.start();
            await(() -> count("circuit") == 1);
            database.execute("update postroom.delivery set due_at = due_at - interval '1 hour' where due_at > now()");
            await(() -> sink.attempts().stream().filter(each -> isOfKey(each)).count() > 20);
            sink.mend();
            await(() -> count("delivery") == 0);
        }
    }

    private static boolean isOfKey(Envelope envelope) {
        return envelope.message().aggregateId().equals("key");
    }

    /** Answers when it is told to. */
    private static final class Waiting implements Sink {
        final CompletableFuture<Outcome> answer = new CompletableFuture<>();
        final CountDownLatch sent = new CountDownLatch(1);

        @Override
        public CompletionStage<Outcome> send(Envelope envelope) {
            sent.countDown();
            return answer;
        }
    }

    private void runOnce(Sink to) {
        try (Relay relay = relay(to, Duration.ofMinutes(1))) {
            relay.runOnce();
        }
    }

    private Relay relay(Sink to, Duration probe) {
        return database.postroom()
                .relay()
                .lease(Duration.ofMillis(600))
                .probe(probe, probe)
                .deliver(
                        Subscription.named("hand-back")
                                .lanes(1)
                                .retry(IN_AN_HOUR)
                                .build(),
                        to)
                .build();
    }

    private void publish(List<Message> messages) throws SQLException {
        try (Connection tx = database.begin()) {
            database.postroom().outbox().publishAll(tx, messages);
            tx.commit();
        }
        database.postroom().journal().stampAll();
    }

    private List<Long> versions(String key) {
        return sink.accepted(key).stream().map(Message::aggregateVersion).toList();
    }

    private long count(String from) {
        return database.queryLong("select count(*) from postroom." + from);
    }

    private static java.util.function.Predicate<Message> about(String key) {
        return message -> message.aggregateId().equals(key);
    }

    private static void await(BooleanSupplier condition) {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).as("in time").isLessThan(deadline);
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
        }
    }
}
