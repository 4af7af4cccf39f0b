package io.postroom.source.kafka;

import io.postroom.source.Reception;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.common.TopicPartition;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where a group begins in partitions of which Kafka does not know how far it was: at the beginning, but not before what its inbox
 * remembers, for that would take effect once more. For one thread.
 */
record Beginning(KafkaConsumer<byte[], byte[]> consumer, Reception reception) {
    private static final Logger LOG = LoggerFactory.getLogger(Beginning.class);
    private static final Duration ANSWER = Duration.ofSeconds(30);

    /** Partitions for which the group has no offset: they are new, or Kafka has forgotten it. */
    void seek(Collection<TopicPartition> partitions) {
        Map<TopicPartition, Long> beginnings = consumer.beginningOffsets(partitions, ANSWER);
        Instant remembered = reception.rememberedSince().orElse(null);
        if (remembered == null) {
            LOG.info("group of source {} begins at the beginning, {}", reception.consumer(), beginnings);
            begin(beginnings);
            return;
        }
        Map<TopicPartition, Long> times = new HashMap<>();
        partitions.forEach(partition -> times.put(partition, remembered.toEpochMilli()));
        Map<TopicPartition, OffsetAndTimestamp> found = consumer.offsetsForTimes(times, ANSWER);
        Map<TopicPartition, Long> ends = consumer.endOffsets(partitions, ANSWER);
        Map<TopicPartition, Long> offsets = new HashMap<>();
        for (TopicPartition partition : partitions) {
            OffsetAndTimestamp first = found.get(partition);
            long offset = first == null ? ends.get(partition) : first.offset();
            offsets.put(partition, offset);
            long left = offset - beginnings.get(partition);
            if (left > 0) {
                LOG.error(
                        "group of source {} has no offset in {} any more. It begins at {}: its inbox remembers since {}, and the {} records"
                                + " before may have taken effect; if some have not, bring them by hand",
                        reception.consumer(),
                        partition,
                        offset,
                        remembered,
                        left);
            } else {
                LOG.info("group of source {} begins at the beginning of {}", reception.consumer(), partition);
            }
        }
        begin(offsets);
    }

    /** Offsets that Kafka does not have: it has deleted what lies there, or lost it with a broker. */
    void seekOutOfRange(Map<TopicPartition, Long> offsets) {
        Map<TopicPartition, Long> beginnings = consumer.beginningOffsets(offsets.keySet(), ANSWER);
        Map<TopicPartition, Long> deleted = new HashMap<>();
        offsets.forEach((partition, offset) -> {
            long beginning = beginnings.get(partition);
            if (offset < beginning) {
                LOG.error(
                        "source {} has lost messages: Kafka has deleted {} records of {} that it had not read; it goes on with what is"
                                + " left. Keep the topic longer than the source may be behind",
                        reception.consumer(),
                        beginning - offset,
                        partition);
                deleted.put(partition, beginning);
            } else {
                LOG.error(
                        "source {} had read {} up to {}, and Kafka has less: it has lost records. What is there is read again, and what"
                                + " took effect is known",
                        reception.consumer(),
                        partition,
                        offset);
            }
        });
        begin(deleted);
        Collection<TopicPartition> lost = offsets.keySet().stream()
                .filter(partition -> !deleted.containsKey(partition))
                .toList();
        if (!lost.isEmpty()) {
            seek(lost);
        }
    }

    /** And tells Kafka so: whoever begins next in a partition in which nothing comes knows it then. */
    private void begin(Map<TopicPartition, Long> offsets) {
        Map<TopicPartition, OffsetAndMetadata> all = new HashMap<>();
        offsets.forEach((partition, offset) -> {
            consumer.seek(partition, offset);
            all.put(partition, new OffsetAndMetadata(offset));
        });
        if (!all.isEmpty()) {
            consumer.commitSync(all, ANSWER);
        }
    }
}
