package io.postroom.sink.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.sink.kafka.testing.KafkaBroker;
import java.util.Map;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Test;

class KafkaBrokerTest {

    @Test
    void keepsItsAddressAndItsRecordsOverARestart() throws Exception {
        try (KafkaBroker broker = KafkaBroker.start()) {
            String address = broker.bootstrapServers();
            broker.createTopic("orders", 2);
            try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(
                    Map.of("bootstrap.servers", address), new ByteArraySerializer(), new ByteArraySerializer())) {
                producer.send(new ProducerRecord<>("orders", new byte[] {1}, new byte[] {2}))
                        .get();

                broker.stop();
                broker.restart();

                producer.send(new ProducerRecord<>("orders", new byte[] {1}, new byte[] {3}))
                        .get();
            }
            assertThat(broker.bootstrapServers()).isEqualTo(address);
            assertThat(broker.read("orders"))
                    .extracting(record -> record.value()[0])
                    .containsExactly((byte) 2, (byte) 3);
        }
    }
}
