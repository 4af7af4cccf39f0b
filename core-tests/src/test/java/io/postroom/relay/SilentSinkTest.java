package io.postroom.relay;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.message.Envelope;
import io.postroom.message.Message;
import io.postroom.retry.RetryPolicy;
import io.postroom.testkit.Messages;
import io.postroom.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Who is to blame when no answer comes: the message, or its destination. Each message has one attempt. */
class SilentSinkTest {
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final Duration DEADLINE = Duration.ofMillis(500);

    private final Told sink = new Told();
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
    void theAnswerToAnEarlierMessageDoesNotProveTheDestinationWell() throws Exception {
        publish("earlier", "last");
        try (Relay relay = relay()) {
            relay.start();
            sink.awaitSent("last");
            sink.accept("earlier");
            await(() -> count("delivery where state = 'waiting' and attempts = 0 and error_class = 'timeout'") == 1);
            assertThat(count("dead_letter")).isZero();
            sink.acceptAll();
            await(() -> count("delivery") == 0);
        }
        assertThat(count("dead_letter")).isZero();
    }

    @Test
    void theAnswerToALaterMessageDoes() throws Exception {
        publish("last");
        try (Relay relay = relay()) {
            relay.start();
            sink.awaitSent("last");
            publish("later");
            sink.awaitSent("later");
            sink.accept("later");
            await(() -> count("dead_letter where aggregate_id = 'last' and error_class = 'timeout'") == 1);
        }
        assertThat(count("dead_letter")).isEqualTo(1);
    }

    /** Both answers are there when the lane looks. */
    @Test
    void theAnswerToALaterMessageDoesEvenIfAnEarlierOneIsAnsweredAfterIt() throws Exception {
        sink.when("trigger", () -> {
            sink.accept("later");
            sink.accept("earlier");
        });
        publish("earlier", "last", "later", "trigger");
        try (Relay relay = relay()) {
            relay.start();
            await(() -> count("dead_letter") + count("delivery where attempts = 0 and error_class = 'timeout'") == 2);
            assertThat(count("dead_letter where aggregate_id = 'last' and error_class = 'timeout'"))
                    .isEqualTo(1);
            assertThat(count("dead_letter"))
                    .as("nothing was answered after the trigger")
                    .isEqualTo(1);
        }
    }

    /** Gives no answer until it is told to, by key. */
    private static final class Told implements Sink {
        private final Map<String, CompletableFuture<Outcome>> answers = new ConcurrentHashMap<>();
        private final Map<String, Runnable> acts = new ConcurrentHashMap<>();
        private volatile boolean well;

        @Override
        public CompletionStage<Outcome> send(Envelope envelope) {
            if (well) {
                return Outcome.acceptedStage();
            }
            String key = envelope.message().aggregateId();
            CompletableFuture<Outcome> answer = new CompletableFuture<>();
            answers.put(key, answer);
            acts.getOrDefault(key, () -> {}).run();
            return answer;
        }

        void when(String sent, Runnable act) {
            acts.put(sent, act);
        }

        void awaitSent(String key) {
            await(() -> answers.containsKey(key));
        }

        void accept(String key) {
            answers.get(key).complete(Outcome.accepted());
        }

        void acceptAll() {
            well = true;
        }
    }

    private Relay relay() {
        return database.postroom()
                .relay()
                .lease(Duration.ofSeconds(2))
                .settleInterval(Duration.ZERO)
                .probe(Duration.ofMillis(200), Duration.ofMillis(200))
                .deliver(
                        Subscription.named("silent")
                                .lanes(1)
                                .retry(RetryPolicy.builder()
                                        .immediate(1)
                                        .attemptsMax(1)
                                        .build())
                                .deadline(DEADLINE)
                                .build(),
                        sink)
                .build();
    }

    private void publish(String... keys) throws SQLException {
        List<Message> messages = List.of(keys).stream().map(Messages::order).toList();
        try (Connection tx = database.begin()) {
            database.postroom().outbox().publishAll(tx, messages);
            tx.commit();
        }
    }

    private long count(String from) {
        return database.queryLong("select count(*) from postroom." + from);
    }

    private static void await(BooleanSupplier condition) {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).as("in time").isLessThan(deadline);
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
        }
    }
}
