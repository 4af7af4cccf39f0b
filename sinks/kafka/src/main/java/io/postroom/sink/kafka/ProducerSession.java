package io.postroom.sink.kafka;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;

/**
 * One producer, from its making until it is spent or closed.
 *
 * <p>It runs with {@code max.block.ms} 0 and so refuses at once what it would otherwise wait for. Only making and closing it
 * take time. Safe for use by many threads.
 */
final class ProducerSession {
    private final Producer<byte[], byte[]> producer;
    private final AtomicBoolean spent = new AtomicBoolean();

    /** Makes a producer; throws a KafkaException if, for instance, no broker's name can be resolved. */
    ProducerSession(Map<String, Object> settings) {
        producer = new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer());
    }

    /** Null if the producer knows the topic; otherwise it begins to ask the broker, and the cause says what it heard so far. */
    @Nullable
    TimeoutException ask(String topic) {
        try {
            producer.partitionsFor(topic);
            return null;
        } catch (TimeoutException e) {
            return e;
        }
    }

    /**
     * Hands the record to the producer, or returns false: it does not know the topic or has no room, and there will be no
     * answer. The answer is null or an error and may come before this method returns. Nothing is thrown.
     */
    boolean offer(ProducerRecord<byte[], byte[]> record, Consumer<@Nullable Exception> answer) {
        Handover handover = new Handover(answer);
        try {
            // A copy: the producer locks the headers of what it takes, even if it has no room for it.
            producer.send(
                    new ProducerRecord<>(
                            record.topic(),
                            null,
                            null,
                            record.key(),
                            record.value(),
                            new RecordHeaders(record.headers())),
                    (metadata, error) -> handover.complete(error));
        } catch (RuntimeException e) {
            // The producer throws what is not the broker's answer and then never calls back.
            answer.accept(e);
        }
        return handover.end();
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

    /** Tells a timeout inside the call of send, which means a full buffer or an unknown topic, from one of the delivery. */
    private static final class Handover {
        private final Consumer<@Nullable Exception> answer;
        private final Thread caller = Thread.currentThread();

        /** Both are used by the caller's thread only. */
        private boolean sending = true;

        private boolean refused;

        Handover(Consumer<@Nullable Exception> answer) {
            this.answer = answer;
        }

        void complete(@Nullable Exception error) {
            if (error instanceof TimeoutException && Thread.currentThread() == caller && sending) {
                refused = true;
            } else {
                answer.accept(error);
            }
        }

        boolean end() {
            sending = false;
            return !refused;
        }
    }
}
