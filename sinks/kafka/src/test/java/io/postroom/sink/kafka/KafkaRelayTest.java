package io.postroom.sink.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.message.Message;
import io.postroom.relay.Relay;
import io.postroom.relay.Subscription;
import io.postroom.retry.RetryPolicy;
import io.postroom.sink.kafka.testing.KafkaBroker;
import io.postroom.testkit.TestDatabase;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.Test;

/** From a transaction in PostgreSQL to a topic, with the broker restarted in the middle. */
class KafkaRelayTest {
    private static final int KEYS = 20;
    private static final int ROUNDS = 30;

    @Test
    void everyCommittedMessageReachesTheTopicInTheOrderOfItsKey() throws Exception {
        try (TestDatabase database = TestDatabase.create();
                KafkaBroker broker = KafkaBroker.start()) {
            broker.createTopic("events.order", 3);
            try (KafkaSink sink = KafkaSink.builder()
                            .bootstrapServers(broker.bootstrapServers())
                            .topic("events.{aggregateType}")
                            .node("test")
                            .build();
                    Relay relay = database.postroom()
                            .relay()
                            .deliver(Subscription.named("kafka").lanes(3).build(), sink)
                            .probe(Duration.ofMillis(50), Duration.ofMillis(500))
                            .build()) {
                relay.start();
                for (int round = 1; round <= ROUNDS; round++) {
                    publish(database, round);
                    if (round == ROUNDS / 2) {
                        broker.stop();
                    }
                    if (round == ROUNDS * 2 / 3) {
                        broker.restart();
                    }
                }
                awaitDelivered(database);
            }
            assertThatTopicIsComplete(broker.read("events.order"));
        }
    }

    @Test
    void aBrokerThatIsAwayForAWhileBuriesNothingAndGetsAllWhenItIsBack() throws Exception {
        try (TestDatabase database = TestDatabase.create();
                KafkaBroker broker = KafkaBroker.start()) {
            broker.createTopic("events.order", 3);
            // Were an outage counted, the first failure would be the last.
            RetryPolicy once = RetryPolicy.builder().attemptsMax(1).build();
            try (KafkaSink sink = KafkaSink.builder()
                            .bootstrapServers(broker.bootstrapServers())
                            .topic("events.{aggregateType}")
                            .deliveryTimeout(Duration.ofMillis(600))
                            .waitMax(Duration.ofMillis(300))
                            .property("request.timeout.ms", "500")
                            .build();
                    Relay relay = database.postroom()
                            .relay()
                            .deliver(Subscription.named("kafka").retry(once).build(), sink)
                            .probe(Duration.ofMillis(20), Duration.ofMillis(100))
                            .build()) {
                relay.start();
                publish(database, 1);
                broker.stop();
                for (int round = 2; round <= ROUNDS; round++) {
                    publish(database, round);
                }
                await(() -> count(database, "circuit where failures >= 5 and error_class like 'kafka.%'") == 1);
                assertThat(count(database, "dead_letter")).isZero();
                assertThat(count(database, "attempt")).isZero();
                broker.restart();
                awaitDelivered(database);
                await(() -> count(database, "circuit") == 0);
            }
            assertThat(count(database, "dead_letter")).isZero();
            assertThat(count(database, "delivery")).isZero();
            assertThatTopicIsComplete(broker.read("events.order"));
        }
    }

    private static long count(TestDatabase database, String what) {
        return database.queryLong("select count(*) from postroom." + what);
    }

    /** One transaction that also rolls something back: a message that must never be seen. */
    private static void publish(TestDatabase database, int version) throws Exception {
        try (Connection tx = database.begin()) {
            database.postroom().outbox().publish(tx, message("ghost", version));
            tx.rollback();
        }
        try (Connection tx = database.begin()) {
            for (int key = 0; key < KEYS; key++) {
                database.postroom().outbox().publish(tx, message("order-" + key, version));
            }
            tx.commit();
        }
    }

    private static Message message(String id, int version) {
        return Message.about("order", id)
                .event("OrderChanged")
                .aggregateVersion(version)
                .payload("{\"version\":" + version + "}")
                .build();
    }

    private static void awaitDelivered(TestDatabase database) {
        await(() -> database.queryLong("select min(position) from postroom.lane") >= (long) KEYS * ROUNDS
                && count(database, "delivery") == 0);
    }

    private static void await(BooleanSupplier done) {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (!done.getAsBoolean()) {
            assertThat(System.nanoTime()).as("in time").isLessThan(deadline);
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
        }
    }

    /** Nothing lost, nothing invented, and the first delivery of each message in the order of its key. */
    private static void assertThatTopicIsComplete(List<ConsumerRecord<byte[], byte[]>> records) {
        Map<String, Set<String>> firsts = new LinkedHashMap<>();
        for (ConsumerRecord<byte[], byte[]> record : records) {
            firsts.computeIfAbsent(text(record.key()), key -> new LinkedHashSet<>())
                    .add(text(record.value()));
        }
        List<String> versions = new ArrayList<>();
        for (int version = 1; version <= ROUNDS; version++) {
            versions.add("{\"version\":" + version + "}");
        }
        assertThat(firsts).hasSize(KEYS).doesNotContainKey("ghost");
        firsts.forEach((key, seen) -> assertThat(seen).as(key).containsExactlyElementsOf(versions));
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
