package io.postroom.server.relay;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.message.Message;
import io.postroom.server.Program;
import io.postroom.sink.kafka.testing.KafkaBroker;
import io.postroom.testkit.Messages;
import io.postroom.testkit.TestDatabase;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code postroom relay} as a process of its own, between a real PostgreSQL and a real Kafka. */
class RelayToKafkaTest {
    private static final Duration DEADLINE = Duration.ofSeconds(60);

    @TempDir
    private Path folder;

    @Test
    void producesEachMessageOnceInTheOrderOfItsKeyOverTwoRuns() throws Exception {
        try (TestDatabase database = TestDatabase.create();
                KafkaBroker broker = KafkaBroker.start()) {
            broker.createTopic("shop.order", 3);
            Path file = Files.writeString(folder.resolve("relay.yaml"), """
                    url: ${DATABASE_URL}
                    relay: {name: test, settle-interval: 50ms}
                    subscriptions:
                      kafka:
                        lanes: 2
                        kafka: {bootstrap-servers: "%s", topic: "shop.{aggregateType}"}
                    """.formatted(broker.bootstrapServers()));

            List<Message> first = Messages.sequence("o-1", 30);
            List<Message> second = Messages.sequence("o-2", 30);
            relay(file, database, broker, first, second);
            assertThat(ids(broker, "o-1")).isEqualTo(ids(first));
            assertThat(ids(broker, "o-2")).isEqualTo(ids(second));
            assertThat(broker.read("shop.order"))
                    .allSatisfy(record -> assertThat(text(record.value())).matches("\\{\"n\":\\d+}"));

            List<Message> third = Messages.sequence("o-3", 10);
            relay(file, database, broker, third);
            assertThat(ids(broker, "o-3")).isEqualTo(ids(third));
            assertThat(broker.read("shop.order"))
                    .as("nothing was produced again")
                    .hasSize(70);
        }
    }

    /** One run: publishes while it runs, waits until everything is in Kafka, ends it as an operator does. */
    @SafeVarargs
    private static void relay(Path file, TestDatabase database, KafkaBroker broker, List<Message>... messages)
            throws Exception {
        int before = broker.read("shop.order").size();
        int published = 0;
        Map<String, String> environment = Map.of("DATABASE_URL", database.url());
        try (Program relay = Program.start(environment, "relay", "--verbose", "--config", file.toString())) {
            for (List<Message> some : messages) {
                publish(database, some);
                published += some.size();
            }
            long deadline = System.nanoTime() + DEADLINE.toNanos();
            while (broker.read("shop.order").size() < before + published) {
                assertThat(System.nanoTime()).as(relay.said()).isLessThan(deadline);
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(50));
            }
            relay.terminate();
            assertThat(relay.awaitExit(Duration.ofSeconds(30))).isZero();
            assertThat(relay.said()).as("the sink was closed").contains("Closing the Kafka producer");
        }
        assertThat(database.queryLong("select count(*) from postroom.lane where owner is not null"))
                .isZero();
    }

    private static void publish(TestDatabase database, List<Message> messages) throws SQLException {
        try (Connection tx = database.begin()) {
            database.postroom().outbox().publishAll(tx, messages);
            tx.commit();
        }
    }

    /** The ids that Kafka holds under a key, in its order. */
    private static List<String> ids(KafkaBroker broker, String key) {
        return broker.read("shop.order").stream()
                .filter(record -> text(record.key()).equals(key))
                .map(RelayToKafkaTest::id)
                .toList();
    }

    private static List<String> ids(List<Message> messages) {
        return messages.stream().map(message -> message.id().toString()).toList();
    }

    private static String id(ConsumerRecord<byte[], byte[]> record) {
        return text(record.headers().lastHeader("ce_id").value());
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
