package io.postroom.source.kafka;

import io.postroom.PostroomException;
import io.postroom.source.Mark;
import io.postroom.source.NotServedException;
import io.postroom.source.Progress;
import io.postroom.source.Reception;
import io.postroom.source.WentBackException;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.CommitFailedException;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.NoOffsetForPartitionException;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.RebalanceInProgressException;
import org.apache.kafka.common.errors.WakeupException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One membership in the group: polls, lets each partition's thread handle its records, and tells Kafka what is handled. A partition that
 * has records in hand is paused, so the consumer polls on however long they take. For one thread, but for {@link #stop}.
 */
final class GroupSession implements AutoCloseable, ConsumerRebalanceListener {
    private static final Logger LOG = LoggerFactory.getLogger(GroupSession.class);
    private static final Duration POLL = Duration.ofMillis(200);
    private static final Duration ANSWER = Duration.ofSeconds(5);
    private static final long COMMIT_NANOS = 100_000_000;

    private final KafkaConsumer<byte[], byte[]> consumer;
    private final List<String> topics;
    private final Reception reception;
    private final RecordReader reader;
    private final Duration grace;
    private final Beginning beginning;
    /** Changed by one thread, and looked at by another. */
    private final Map<TopicPartition, PartitionWork> works = new ConcurrentHashMap<>();

    /** Given to us, and not begun yet: they are paused. */
    private final Set<TopicPartition> fresh = new HashSet<>();

    private final AtomicReference<@Nullable Throwable> over = new AtomicReference<>();
    private final AtomicBoolean polling = new AtomicBoolean();
    private volatile boolean stopped;
    private long committedNanos = System.nanoTime();
    /** Whether Kafka could not be told the last time. */
    private boolean silent;

    /** @param topics with their ids */
    GroupSession(
            Map<String, Object> settings,
            Map<String, UUID> topics,
            Reception reception,
            RecordReader reader,
            Duration grace) {
        this.consumer = new KafkaConsumer<>(settings);
        this.beginning = new Beginning(consumer, reception, topics);
        this.topics = List.copyOf(topics.keySet());
        this.reception = reception;
        this.reader = reader;
        this.grace = grace;
    }

    /** Ends when it is stopped, or when somebody else serves the subscription. Throws if a partition failed. */
    void run() {
        consumer.subscribe(topics, this);
        while (!stopped) {
            ConsumerRecords<byte[], byte[]> records = poll();
            for (TopicPartition partition : records.partitions()) {
                give(partition, records);
            }
            records.nextOffsets().forEach((partition, next) -> {
                PartitionWork work = works.get(partition);
                if (work != null && !records.partitions().contains(partition)) {
                    // The end of a transaction, or one that was undone: there is nothing to handle, and it is to be
                    // told.
                    work.reached(next.offset());
                }
            });
            begin();
            settle();
            reception.watch();
            Throwable end = over.get();
            if (end instanceof NotServedException) {
                LOG.info("{}", end.getMessage());
                return;
            }
            if (end instanceof WentBackException) {
                LOG.error("{}", end.getMessage());
                return;
            }
            if (end != null) {
                throw new IllegalStateException("a partition of source " + reception.consumer() + " failed", end);
            }
        }
    }

    void stop() {
        stopped = true;
        consumer.wakeup();
    }

    private ConsumerRecords<byte[], byte[]> poll() {
        try {
            return pollOrBegin();
        } catch (WakeupException e) {
            // Something is handled, or it is over.
            return ConsumerRecords.empty();
        }
    }

    private ConsumerRecords<byte[], byte[]> pollOrBegin() {
        try {
            return pollOnce();
        } catch (NoOffsetForPartitionException e) {
            fresh.addAll(e.partitions());
        } catch (OffsetOutOfRangeException e) {
            // What has not begun is put where it belongs in a moment.
            if (works.keySet().containsAll(e.offsetOutOfRangePartitions().keySet())) {
                open(beginning.goOn(e), Set.of());
            }
        }
        return ConsumerRecords.empty();
    }

    /** Not while Kafka tells us of them: what is asked of it then may be interrupted by those who wake the poll. */
    private void begin() {
        if (fresh.isEmpty()) {
            return;
        }
        try {
            Map<TopicPartition, Progress> begun = beginning.begin(Set.copyOf(fresh));
            open(begun, reception.hold(names(begun.keySet())));
            fresh.clear();
        } catch (WakeupException e) {
            // Once more, unless it is over.
            LOG.debug("source {} was woken while it began", reception.consumer());
        }
    }

    /** @param deserted those that whoever had them before did not leave in peace */
    private void open(Map<TopicPartition, Progress> begun, Set<String> deserted) {
        leave(begun.keySet(), Duration.ZERO);
        begun.forEach((partition, progress) -> {
            int suspects = deserted.contains(progress.partition()) ? reception.batchMax() : 0;
            works.put(partition, new PartitionWork(partition, progress, suspects, reception, reader, this::wake, over));
        });
    }

    private static List<String> names(Collection<TopicPartition> partitions) {
        return partitions.stream().map(Partitions::name).toList();
    }

    /** Whoever has them next need not suspect their messages. What cannot be noted is suspected, which does no harm. */
    private void release(Collection<TopicPartition> partitions) {
        List<TopicPartition> over = partitions.stream()
                .filter(each -> works.containsKey(each) && works.get(each).isOver())
                .toList();
        try {
            if (!over.isEmpty()) {
                reception.release(names(over));
            }
        } catch (PostroomException e) {
            LOG.debug("source {} could not note that it left {}: {}", reception.consumer(), over, e.getMessage());
        }
    }

    /** Requires that the database still knows of what took effect here. For any thread. */
    void requireNotBack() {
        Map<String, Long> expected = new HashMap<>();
        works.forEach((partition, work) -> expected.put(Partitions.name(partition), work.kept()));
        try {
            reception.requireNotBack(expected);
        } catch (WentBackException e) {
            over.compareAndSet(null, e);
            wake();
        }
    }

    private ConsumerRecords<byte[], byte[]> pollOnce() {
        polling.set(true);
        try {
            return consumer.poll(POLL);
        } finally {
            polling.set(false);
        }
    }

    private void give(TopicPartition partition, ConsumerRecords<byte[], byte[]> records) {
        List<ConsumerRecord<byte[], byte[]>> batch = records.records(partition);
        OffsetAndMetadata next = records.nextOffsets().get(partition);
        long end = next == null ? batch.get(batch.size() - 1).offset() + 1 : next.offset();
        works.get(partition).give(batch, end);
        consumer.pause(List.of(partition));
    }

    /** Does not wait for the poll's end when something was handled. */
    private void wake() {
        if (polling.get()) {
            consumer.wakeup();
        }
    }

    /** Tells Kafka what is handled, not too often, and takes records for partitions that have none. */
    private void settle() {
        List<TopicPartition> idle = works.entrySet().stream()
                .filter(each -> each.getValue().isIdle())
                .map(Map.Entry::getKey)
                .filter(consumer.paused()::contains)
                .toList();
        consumer.resume(idle);
        if (System.nanoTime() - committedNanos > COMMIT_NANOS) {
            commit(works.keySet());
            committedNanos = System.nanoTime();
        }
    }

    private void commit(Collection<TopicPartition> partitions) {
        Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
        for (TopicPartition partition : partitions) {
            PartitionWork work = works.get(partition);
            long offset = work == null || !pass(work) ? -1 : work.toCommit();
            if (offset >= 0) {
                offsets.put(partition, new OffsetAndMetadata(offset, work.epoch(), beginning.signature()));
            }
        }
        if (offsets.isEmpty()) {
            return;
        }
        for (int tries = 0; tries < 2; tries++) {
            try {
                consumer.commitSync(offsets, ANSWER);
                offsets.forEach((partition, offset) -> works.get(partition).committed(offset.offset()));
                if (silent) {
                    silent = false;
                    LOG.info("source {} can tell Kafka again how far it is", reception.consumer());
                }
                return;
            } catch (WakeupException e) {
                // Meant for the poll; once more.
            } catch (CommitFailedException | RebalanceInProgressException e) {
                // Others have them: what is not told comes again, and is known.
                LOG.debug("source {} could not commit {}: {}", reception.consumer(), offsets, e.getMessage());
                return;
            } catch (AuthorizationException | InterruptException e) {
                throw e;
            } catch (KafkaException e) {
                if (!silent) {
                    silent = true;
                    LOG.warn(
                            "source {} cannot tell Kafka how far it is: {}; what is not told comes again, and is known",
                            reception.consumer(),
                            e.getMessage());
                }
                return;
            }
        }
    }

    /** Lets the database know first of offsets that hold nothing for us. Returns whether Kafka may be told. */
    private boolean pass(PartitionWork work) {
        Mark mark = work.passed();
        if (mark == null) {
            return true;
        }
        try {
            work.kept(reception.pass(mark));
            return true;
        } catch (WentBackException e) {
            over.compareAndSet(null, e);
        } catch (PostroomException e) {
            LOG.debug("source {} could not note {}: {}", reception.consumer(), mark, e.getMessage());
        }
        return false;
    }

    @Override
    public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
        LOG.info("source {} has {}", reception.consumer(), partitions);
        consumer.pause(partitions);
        fresh.addAll(partitions);
    }

    /** What is open is finished, or given up after a while; then Kafka is told, and others may have the partitions. */
    @Override
    public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
        leave(partitions, grace);
        commit(partitions);
        release(partitions);
        drop(partitions);
    }

    /** Others have them already. What is open here may still be committed, and meets theirs at the inbox. */
    @Override
    public void onPartitionsLost(Collection<TopicPartition> partitions) {
        LOG.warn("source {} has lost {}: it did not reach its group in time", reception.consumer(), partitions);
        leave(partitions, Duration.ZERO);
        drop(partitions);
    }

    private void drop(Collection<TopicPartition> partitions) {
        works.keySet().removeAll(partitions);
        fresh.removeAll(partitions);
    }

    private void leave(Collection<TopicPartition> partitions, Duration patience) {
        List<PartitionWork> left =
                partitions.stream().filter(works::containsKey).map(works::get).toList();
        left.forEach(PartitionWork::abandon);
        long deadline = System.nanoTime() + patience.toNanos();
        try {
            for (PartitionWork work : left) {
                work.join(Duration.ofNanos(Math.max(0, deadline - System.nanoTime())));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        leave(List.copyOf(works.keySet()), grace);
        try {
            commit(List.copyOf(works.keySet()));
            release(List.copyOf(works.keySet()));
        } finally {
            works.clear();
            consumer.close(CloseOptions.timeout(ANSWER));
        }
    }
}
