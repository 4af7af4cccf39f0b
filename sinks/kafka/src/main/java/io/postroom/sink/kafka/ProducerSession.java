package io.postroom.sink.kafka;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.Metric;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;

/**
 * One producer, from its making until it is spent or closed, and what it can do without blocking.
 *
 * <p>Safe for use by many threads. {@link #open} and {@link #close} block; {@link #send} does not where {@link #isReadyFor}
 * said so, but for the rare race of two lanes for the last of the buffer, which is bounded by {@code max.block.ms}.
 */
final class ProducerSession {
    private final Producer<byte[], byte[]> producer;
    private final Metric bufferAvailable;
    private final int batchBytes;
    private final long topicIdleNanosMax;
    private final Map<String, Long> openTopics = new ConcurrentHashMap<>();
    private final AtomicBoolean spent = new AtomicBoolean();

    /** Makes a producer; throws a KafkaException if, for instance, no broker's name can be resolved. */
    ProducerSession(Map<String, Object> settings) {
        ProducerConfig config = new ProducerConfig(settings);
        batchBytes = config.getInt(ProducerConfig.BATCH_SIZE_CONFIG);
        // The producer forgets topics that it did not see for this long; half of it is safely before.
        topicIdleNanosMax = Duration.ofMillis(config.getLong(ProducerConfig.METADATA_MAX_IDLE_CONFIG))
                        .toNanos()
                / 2;
        producer = new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer());
        bufferAvailable = producer.metrics().entrySet().stream()
                .filter(metric -> metric.getKey().name().equals("buffer-available-bytes"))
                .map(Map.Entry::getValue)
                .findFirst()
                .orElseThrow();
    }

    /** Whether {@link #send} would take the record without waiting for the broker. */
    boolean isReadyFor(ProducerRecord<byte[], byte[]> record) {
        Long lastUsed = openTopics.get(record.topic());
        return !spent.get()
                && lastUsed != null
                && System.nanoTime() - lastUsed < topicIdleNanosMax
                && (double) bufferAvailable.metricValue() > batchBytes + bytes(record);
    }

    /** Waits until the producer knows the topic; throws what it waited for in vain. */
    void open(String topic) {
        producer.partitionsFor(topic);
        openTopics.put(topic, System.nanoTime());
    }

    /** Hands the record to the producer; the answer is null or the error, and is given exactly once and not by a throw. */
    void send(ProducerRecord<byte[], byte[]> record, Consumer<@Nullable Exception> answer) {
        openTopics.replace(record.topic(), System.nanoTime());
        try {
            producer.send(record, (metadata, error) -> {
                if (error != null) {
                    // Who comes next finds out on the thread that may block whether the topic is still there.
                    openTopics.remove(record.topic());
                }
                answer.accept(error);
            });
        } catch (RuntimeException e) {
            // The producer throws what is not the broker's answer and then never calls back.
            openTopics.remove(record.topic());
            answer.accept(e);
        }
    }

    /** Marks this producer as one that can send no more; true if it was not marked before. */
    boolean spend() {
        return spent.compareAndSet(false, true);
    }

    boolean isSpent() {
        return spent.get();
    }

    /** Waits for requests that are under way, so that none of them can arrive after what a next producer sends. */
    void close(Duration timeout) {
        spent.set(true);
        producer.close(timeout);
    }

    private static long bytes(ProducerRecord<byte[], byte[]> record) {
        long bytes = record.key().length + record.value().length;
        for (Header header : record.headers()) {
            // A character may take three bytes in UTF-8, and lengths and framing a few more.
            bytes += 3L * header.key().length() + header.value().length + 10;
        }
        return bytes + 100;
    }
}
