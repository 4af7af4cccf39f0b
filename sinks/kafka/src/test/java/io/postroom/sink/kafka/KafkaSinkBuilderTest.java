package io.postroom.sink.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postroom.relay.Sink;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class KafkaSinkBuilderTest {

    @Test
    void reportsEveryProblemAtOnce() {
        KafkaSink.Builder builder = KafkaSink.builder()
                .topic("events.{nope}")
                .node("relay 1")
                .source("not a uri")
                .compression("rar")
                .deliveryTimeout(Duration.ZERO)
                .waitMax(Duration.ofSeconds(-1))
                .property("acks", "1");
        assertThatThrownBy(builder::build)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("could not build Kafka sink: ")
                .hasMessageContaining("{nope}, which is not a placeholder")
                .hasMessageContaining("bootstrapServers is empty")
                .hasMessageContaining("node is 'relay 1'")
                .hasMessageContaining("source is not a URI reference")
                .hasMessageContaining("compression is rar")
                .hasMessageContaining("deliveryTimeout is PT0S")
                .hasMessageContaining("waitMax is PT-1S")
                .hasMessageContaining("property acks cannot be set: the sink sets all");
    }

    @ParameterizedTest
    @CsvSource({
        "acks, all, an accepted message can be lost",
        "enable.idempotence, true, a retry can change the order",
        "max.in.flight.requests.per.connection, 1, keeps the order",
        "retries, 0, use deliveryTimeout",
        "key.serializer, x.Y, byte for byte",
        "value.serializer, x.Y, byte for byte",
        "partitioner.class, x.Y, one partition",
        "partitioner.ignore.keys, true, one partition",
        "transactional.id, x, no Kafka transaction",
        "bootstrap.servers, x:1, use bootstrapServers",
        "client.id, x, use node",
        "compression.type, lz4, use compression",
        "delivery.timeout.ms, 1, use deliveryTimeout",
        "max.block.ms, 1, use waitMax",
    })
    void refusesPropertiesThatCarryAGuarantee(String name, String value, String why) {
        assertThatThrownBy(() -> valid().property(name, value).build())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("property " + name + " cannot be set: ")
                .hasMessageContaining(why);
    }

    /** Kafka itself would only warn, and send in the clear. */
    @Test
    void refusesAPropertyThatKafkaDoesNotKnow() {
        assertThatThrownBy(
                        () -> valid().property("security.protcol", "SASL_SSL").build())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("property security.protcol is not a setting of Kafka's producer");
    }

    @ParameterizedTest
    @CsvSource({
        "linger.ms, soon, Invalid value soon for configuration linger.ms",
        "request.timeout.ms, 120001, 'deliveryTimeout is 120000 ms, less than linger.ms 0 and request.timeout.ms 120001'",
        "security.protocol, carrier-pigeon, carrier-pigeon",
    })
    void reportsWhatTheProducerWouldRefuse(String name, String value, String problem) {
        assertThatThrownBy(() -> valid().property(name, value).build())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(problem);
    }

    @Test
    void connectsToNothingAndNamesNoSecret() {
        try (KafkaSink sink =
                valid().property("ssl.key.password", "open-sesame").build()) {
            assertThat(sink).hasToString("Kafka sink for events.{aggregateType} at 127.0.0.1:1");
        }
    }

    @Test
    void isBuiltAsTheReadmeShows() throws Exception {
        Sink sink = KafkaSink.builder()
                .bootstrapServers("kafka-1:9092,kafka-2:9092")
                .topic("events.{aggregateType}")
                .node("relay-1")
                .source("/shop/orders")
                .compression("zstd")
                .property("security.protocol", "SASL_SSL")
                .build();
        sink.close();

        String readme = Files.readString(Path.of("README.md"));
        String shown = readme.substring(readme.indexOf("```java") + 7);
        String here = Files.readString(Path.of("src/test/java/io/postroom/sink/kafka/KafkaSinkBuilderTest.java"));
        assertThat(here.replaceAll("\\s+", ""))
                .contains(shown.substring(0, shown.indexOf("```")).replaceAll("\\s+", ""));
    }

    private static KafkaSink.Builder valid() {
        return KafkaSink.builder().bootstrapServers("127.0.0.1:1").topic("events.{aggregateType}");
    }
}
