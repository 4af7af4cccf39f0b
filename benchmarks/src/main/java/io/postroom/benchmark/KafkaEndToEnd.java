package io.postroom.benchmark;

import io.postroom.Postroom;
import io.postroom.relay.Relay;
import io.postroom.relay.Subscription;
import io.postroom.sink.kafka.KafkaSink;
import io.postroom.sink.kafka.testing.KafkaBroker;
import io.postroom.telemetry.Telemetry;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** From a backlog in PostgreSQL to a real broker's acknowledgement, beside the producer alone. */
final class KafkaEndToEnd {
    private KafkaEndToEnd() {}

    static void run(Report report, BenchDatabase database, int messages) throws Exception {
        String section = "Kafka";
        AtomicLong delivered = new AtomicLong();
        Telemetry counting = new Telemetry() {
            @Override
            public void delivered(String subscription, long count) {
                delivered.addAndGet(count);
            }
        };
        Postroom postroom = database.postroom(counting);
        try (KafkaBroker broker = KafkaBroker.start()) {
            broker.createTopic("raw", 4);
            broker.createTopic("events.order", 4);
            produce(broker, messages / 4);
            double raw = produce(broker, messages);
            report.figure(section, "the producer alone, acks from all, idempotent", raw, "messages/s");
            double ours = 0;
            for (int round = 0; round < 2; round++) {
                database.execute(Sample.backlog(messages));
                ours = relay(postroom, broker, messages, delivered);
            }
            report.figure(section, "Postroom: stamp, send, wait for the acknowledgement, settle", ours, "messages/s");
            report.note(
                    section,
                    String.format(
                            java.util.Locale.ROOT,
                            "End to end is %.2f of the producer alone; broker, relay and"
                                    + " PostgreSQL share this machine's cores.",
                            ours / raw));
        }
    }

    private static double relay(Postroom postroom, KafkaBroker broker, long messages, AtomicLong delivered)
            throws InterruptedException {
        delivered.set(0);
        long began = System.nanoTime();
        try (KafkaSink sink = KafkaSink.builder()
                        .bootstrapServers(broker.bootstrapServers())
                        .topic("events.{aggregateType}")
                        .node("bench")
                        .build();
                Relay relay = postroom.relay()
                        .deliver(Subscription.named("kafka").build(), sink)
                        .build()) {
            relay.start();
            long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(5);
            while (delivered.get() < messages) {
                if (System.nanoTime() > deadline) {
                    throw new IllegalStateException(
                            "only " + delivered + " of " + messages + " messages were acknowledged");
                }
                TimeUnit.MILLISECONDS.sleep(2);
            }
            return messages / Drain.seconds(began);
        }
    }

    private static double produce(KafkaBroker broker, int messages) throws InterruptedException {
        Map<String, Object> settings =
                Map.of("bootstrap.servers", broker.bootstrapServers(), "acks", "all", "enable.idempotence", "true");
        CountDownLatch acknowledged = new CountDownLatch(messages);
        long began = System.nanoTime();
        try (KafkaProducer<byte[], byte[]> producer =
                new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer())) {
            for (int n = 0; n < messages; n++) {
                byte[] key = ("o-" + n % Sample.KEYS).getBytes(StandardCharsets.UTF_8);
                byte[] value = Sample.payload(n).getBytes(StandardCharsets.UTF_8);
                producer.send(new ProducerRecord<>("raw", key, value), (metadata, e) -> acknowledged.countDown());
            }
            producer.flush();
            acknowledged.await();
        }
        return messages / Drain.seconds(began);
    }
}
