package io.postroom.sink.webhook;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.message.Message;
import io.postroom.relay.Relay;
import io.postroom.relay.Subscription;
import io.postroom.retry.Reaction;
import io.postroom.retry.RetryPolicy;
import io.postroom.subscription.Act;
import io.postroom.testkit.Messages;
import io.postroom.testkit.TestDatabase;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** From a transaction to an endpoint that fails in one way or another. */
@Timeout(120)
class WebhookRelayTest {
    private static final Duration SHORT = Duration.ofMillis(200);
    private static final RetryPolicy THREE_AT_ONCE =
            RetryPolicy.builder().immediate(3).attemptsMax(3).build();

    private final CountDownLatch well = new CountDownLatch(1);
    private TestDatabase database;
    private Receiver receiver;

    @BeforeEach
    void open() throws Exception {
        database = TestDatabase.create();
        receiver = new Receiver();
    }

    @AfterEach
    void close() {
        well.countDown();
        receiver.close();
        database.close();
    }

    @Test
    void anEndpointThatHangsForAllBuriesNothingAndGetsAllWhenItIsWell() throws Exception {
        receiver.answer(request -> {
            well.await();
            return Receiver.Answer.of(204);
        });
        List<Message> messages = Messages.ofManyKeys("hanging", 50);
        publish(messages);
        try (WebhookSink sink = sink();
                Relay relay = relay(sink, THREE_AT_ONCE)) {
            relay.start();
            // Far more than the attempts of the policy, had each of them counted.
            await(() -> count("circuit where failures >= 10") == 1);
            assertThat(count("circuit where error_class in ('timeout', 'busy')"))
                    .isEqualTo(1);
            assertThat(count("dead_letter")).isZero();
            assertThat(count("attempt")).isZero();
            well.countDown();
            awaitSettled();
        }
        assertThat(count("dead_letter")).isZero();
        assertThat(ids()).hasSize(messages.size());
    }

    @Test
    void anEndpointThatCutsEveryConnectionBuriesNothingAndGetsAllWhenItIsWell() throws Exception {
        receiver.breakDown();
        List<Message> messages = Messages.ofManyKeys("cut", 50);
        publish(messages);
        try (WebhookSink sink = sink();
                Relay relay = relay(sink, THREE_AT_ONCE)) {
            // As a proxy does that has nothing behind it.
            try (ScriptedServer proxy =
                    new ScriptedServer("127.0.0.1", receiver.port(), ScriptedServer.Connection::readRequest)) {
                relay.start();
                await(() -> count("circuit where failures >= 10 and error_class = 'connection-lost'") == 1);
                assertThat(proxy.connections()).isGreaterThanOrEqualTo(10);
            }
            assertThat(count("dead_letter")).isZero();
            receiver.mend();
            awaitSettled();
        }
        assertThat(count("dead_letter")).isZero();
        assertThat(ids()).hasSize(messages.size());
    }

    @Test
    void aMessageThatTheEndpointHangsOnIsBuriedWhileOthersGoOn() throws Exception {
        receiver.answer(request -> {
            if (body(request).contains("stuck")) {
                well.await();
            }
            return Receiver.Answer.of(204);
        });
        Message stuck = Messages.order("one", "{\"is\":\"stuck\"}");
        publish(List.of(stuck, Messages.order("one")));
        try (WebhookSink sink = sink();
                Relay relay = relay(sink, THREE_AT_ONCE)) {
            relay.start();
            int[] others = {0};
            await(() -> {
                publish(List.of(Messages.order("other-" + others[0]++)));
                return count("dead_letter where error_class = 'timeout' and cause = 'exhausted'" + " and message_id = '"
                                + stuck.id() + "'")
                        == 1;
            });
            awaitSettled();
            assertThat(ids()).as("the others, and the next one of its key").hasSize(others[0] + 1);
        }
        assertThat(count("dead_letter")).isEqualTo(1);
    }

    /** What is about us and not about a message, by itself or because the policy says so. */
    @ParameterizedTest
    @CsvSource({"401,", "407,", "404, http.404", "403, http.403"})
    void aRefusalThatIsAboutUsBuriesNothingAndAllGoesWhenItIsMended(int status, @Nullable String unavailable)
            throws Exception {
        receiver.answer(Receiver.Answer.of(status));
        RetryPolicy.Builder policy = RetryPolicy.builder().immediate(3).attemptsMax(3);
        if (unavailable != null) {
            policy.on(unavailable, Reaction.unavailable());
        }
        List<Message> messages = Messages.ofManyKeys("refused", 50);
        publish(messages);
        try (WebhookSink sink = sink();
                Relay relay = relay(sink, policy.build())) {
            relay.start();
            // Far more than the attempts of the policy, had each of them counted.
            await(() -> count("circuit where failures >= 10 and error_class = 'http." + status + "'") == 1);
            assertThat(count("dead_letter")).isZero();
            assertThat(count("attempt")).isZero();
            receiver.answer(Receiver.Answer.of(204));
            awaitSettled();
        }
        assertThat(count("dead_letter")).isZero();
        assertThat(ids()).hasSize(messages.size());
    }

    @Test
    void anEndpointThatIsGoneIsLeftAloneOverARestartUntilSomebodyResumes() throws Exception {
        receiver.answer(Receiver.Answer.of(410));
        List<Message> messages = Messages.ofManyKeys("gone", 50);
        publish(messages);
        try (WebhookSink sink = sink();
                Relay relay = relay(sink, THREE_AT_ONCE)) {
            relay.start();
            await(() -> count("subscription where paused_by like 'relay %' and pause_reason like 'http.410: %'") == 1);
            await(() -> count("lane where owner is not null") == 0);
        }
        int told = receiver.requests().size();
        receiver.answer(Receiver.Answer.of(204));
        try (WebhookSink sink = sink();
                Relay relay = relay(sink, THREE_AT_ONCE)) {
            for (int beat = 0; beat < 3; beat++) {
                relay.runOnce();
            }
        }
        assertThat(receiver.requests()).as("nothing since the answer").hasSize(told);
        database.postroom().subscriptions().resume("webhook", new Act("tester", "it is there again"));
        try (WebhookSink sink = sink();
                Relay relay = relay(sink, THREE_AT_ONCE)) {
            relay.start();
            awaitSettled();
        }
        assertThat(ids()).hasSize(messages.size());
        assertThat(count("attempt")).isZero();
        assertThat(count("dead_letter")).isZero();
    }

    @Test
    void aPolicyReactsToTheStatusOfAnAnswer() throws Exception {
        receiver.answer(request -> Receiver.Answer.of(body(request).contains("lost") ? 404 : 204));
        publish(List.of(Messages.order("one", "{\"is\":\"lost\"}"), Messages.order("one")));
        RetryPolicy policy = RetryPolicy.builder()
                .linear(Duration.ofHours(1))
                .on("http.404", Reaction.reject())
                .build();
        try (WebhookSink sink = sink();
                Relay relay = relay(sink, policy)) {
            relay.start();
            awaitSettled();
        }
        assertThat(count("dead_letter where error_class = 'http.404' and attempts = 1"))
                .isEqualTo(1);
    }

    private WebhookSink sink() {
        return Sending.local(receiver.url("/")).attemptTimeout(SHORT).build();
    }

    private Relay relay(WebhookSink sink, RetryPolicy policy) {
        return database.postroom()
                .relay()
                .probe(Duration.ofMillis(5), Duration.ofMillis(20))
                .deliver(Subscription.named("webhook").lanes(1).retry(policy).build(), sink)
                .build();
    }

    private void publish(List<Message> messages) {
        try (Connection tx = database.begin()) {
            database.postroom().outbox().publishAll(tx, messages);
            tx.commit();
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Everything is accepted or buried. */
    private void awaitSettled() {
        // Positions have no gaps: what was published a moment ago and is not stamped yet counts, too.
        await(() ->
                count("lane where position = (select count(*) from postroom.outbox)") == 1 && count("delivery") == 0);
    }

    private Set<String> ids() {
        return receiver.requests().stream()
                .map(request -> request.header("webhook-id"))
                .collect(Collectors.toSet());
    }

    private static String body(Receiver.Request request) {
        return new String(request.body(), StandardCharsets.UTF_8);
    }

    private long count(String what) {
        return database.queryLong("select count(*) from postroom." + what);
    }

    private static void await(BooleanSupplier done) {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (!done.getAsBoolean()) {
            assertThat(System.nanoTime()).as("in time").isLessThan(deadline);
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
        }
    }
}
