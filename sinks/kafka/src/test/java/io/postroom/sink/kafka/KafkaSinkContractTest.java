package io.postroom.sink.kafka;

import io.postroom.relay.Sink;
import io.postroom.sink.kafka.testing.KafkaBroker;
import io.postroom.testkit.SinkContract;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;

class KafkaSinkContractTest extends SinkContract {
    private static final String PASSWORD = "open-sesame-8842";

    private static KafkaBroker broker;
    private KafkaSink sink;

    @BeforeAll
    static void startBroker() {
        broker = KafkaBroker.start();
        broker.createTopic("contract", 4, Map.of("max.message.bytes", "2097152"));
    }

    @AfterAll
    static void stopBroker() {
        broker.close();
    }

    @BeforeEach
    void open() {
        sink = KafkaSink.builder()
                .bootstrapServers(broker.bootstrapServers())
                .topic("contract")
                .deliveryTimeout(Duration.ofSeconds(2))
                .waitMax(Duration.ofSeconds(1))
                .property("ssl.truststore.password", PASSWORD)
                .build();
    }

    @AfterEach
    void close() {
        sink.close();
    }

    @Override
    protected Sink sink() {
        return sink;
    }

    @Override
    protected List<Received> received() {
        return broker.read("contract").stream()
                .map(KafkaSinkContractTest::received)
                .toList();
    }

    private static Received received(ConsumerRecord<byte[], byte[]> record) {
        Map<String, String> headers = new TreeMap<>();
        for (Header header : record.headers()) {
            headers.put(header.key(), new String(header.value(), StandardCharsets.UTF_8));
        }
        String key = new String(record.key(), StandardCharsets.UTF_8);
        return new Received(UUID.fromString(headers.get("ce_id")), key, record.value(), headers);
    }

    @Override
    protected void breakDestination() {
        broker.stop();
    }

    @Override
    protected void mendDestination() {
        broker.restart();
    }

    @Override
    protected Set<String> secrets() {
        return Set.of(PASSWORD);
    }
}
