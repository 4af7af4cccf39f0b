package io.postroom.sink.kafka;

import io.postroom.relay.Outcome;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
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

    /** What the producer has taken and not answered for, and when it last did. */
    private final AtomicInteger unanswered = new AtomicInteger();

    private volatile long progressNanos = System.nanoTime();
    private volatile @Nullable Outcome ending;

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
        Handover handover = new Handover(error -> {
            answered();
            answer.accept(error);
        });
        if (unanswered.get() == 0) {
            // Before the count: nobody must see something wait since the last answer, which may be long ago.
            progressNanos = System.nanoTime();
        }
        unanswered.incrementAndGet();
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
            answered();
            answer.accept(e);
        }
        boolean taken = handover.end();
        if (!taken) {
            unanswered.decrementAndGet();
        }
        return taken;
    }

    private void answered() {
        progressNanos = System.nanoTime();
        unanswered.decrementAndGet();
    }

    /** Whether there are records with the producer and none of them was answered for so long. */
    boolean isSilent(Duration limit) {
        return unanswered.get() > 0 && System.nanoTime() - progressNanos > limit.toNanos();
    }

    /** The answer to what the producer has when it is closed; null before. */
    @Nullable
    Outcome ending() {
        return ending;
    }

    /** Marks this producer as one that can send no more; true if it was not marked before. */
    boolean spend() {
        return spent.compareAndSet(false, true);
    }

    boolean isSpent() {
        return spent.get();
    }

    /**
     * Waits for requests that are under way, so that none of them can arrive after what a next producer sends. What has no answer by
     * then is answered with {@code left}.
     */
    void close(Duration timeout, Outcome left) {
        spent.set(true);
        ending = left;
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
