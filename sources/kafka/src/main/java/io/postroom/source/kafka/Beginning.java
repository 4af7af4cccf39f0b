package io.postroom.source.kafka;

import io.postroom.PostroomException;
import io.postroom.source.Progress;
import io.postroom.source.Reception;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where a source begins in partitions that it is given. What the database knows counts, whatever the group was told: it is kept with the
 * effects, and goes back with them. Of a partition that the database does not know, an offset that somebody has set for the group is where
 * it begins; else it begins at the beginning, but not before what its inbox remembers, for that would take effect once more. For one thread.
 *
 * @param topicIds by name: a topic that was deleted and made anew is another one
 */
record Beginning(KafkaConsumer<byte[], byte[]> consumer, Reception reception, Map<String, UUID> topicIds) {
    private static final Logger LOG = LoggerFactory.getLogger(Beginning.class);
    private static final Duration ANSWER = Duration.ofSeconds(30);

    /** What is told to Kafka with each offset: whose it is. */
    String signature() {
        return Brokers.signature(reception.consumer());
    }

    /** Puts the consumer where it begins in partitions that it was given. */
    Map<TopicPartition, Progress> begin(Set<TopicPartition> partitions) {
        Map<TopicPartition, OffsetAndMetadata> told = consumer.committed(partitions, ANSWER);
        Map<String, Progress> kept = reception.progress();
        Map<TopicPartition, Progress> begun = new HashMap<>();
        Set<TopicPartition> added = new HashSet<>();
        Set<TopicPartition> unknown = new HashSet<>();
        List<Progress> fresh = new ArrayList<>();
        for (TopicPartition partition : partitions) {
            @Nullable OffsetAndMetadata group = told.get(partition);
            requireOwn(partition, group);
            Progress known = kept.get(Partitions.name(partition));
            if (known != null && isOf(known, partition)) {
                compare(partition, known, group);
                begun.put(partition, known);
            } else if (group != null && !group.metadata().equals(signature())) {
                fresh.add(at(partition, group.offset(), group.offset(), epoch(group)));
            } else if (kept.values().stream().anyMatch(other -> isOf(other, partition))) {
                added.add(partition);
            } else {
                unknown.add(partition);
            }
        }
        // What is kept is complete: of a partition that is missing there nothing has taken effect.
        consumer.beginningOffsets(added, ANSWER)
                .forEach((partition, offset) -> fresh.add(at(partition, offset, offset, null)));
        places(unknown).forEach((partition, offset) -> fresh.add(at(partition, offset, offset, null)));
        return go(fresh, begun);
    }

    /** Puts the consumer where it goes on though Kafka has deleted what lies there, or lost it with a broker. */
    Map<TopicPartition, Progress> goOn(OffsetOutOfRangeException e) {
        Map<TopicPartition, Long> offsets = e.offsetOutOfRangePartitions();
        Map<TopicPartition, Long> beginnings = consumer.beginningOffsets(offsets.keySet(), ANSWER);
        Map<TopicPartition, Long> next = new HashMap<>();
        Set<TopicPartition> lost = new HashSet<>();
        offsets.forEach((partition, offset) -> {
            long beginning = beginnings.get(partition);
            if (offset < beginning) {
                LOG.error(
                        "source {} has lost messages: Kafka has deleted {} records of {} that it had not read; it goes on with what is"
                                + " left. Keep the topic longer than the source may be behind",
                        reception.consumer(),
                        beginning - offset,
                        partition);
                next.put(partition, beginning);
                return;
            }
            LOG.error(
                    "source {} had read {} up to {}, and Kafka has less, or something else there: it has lost records. What is there is"
                            + " read again, and what took effect is known",
                    reception.consumer(),
                    partition,
                    offset);
            // Not only from where Kafka says that the histories part: in a topic that was made anew that is its end.
            lost.add(partition);
        });
        next.putAll(places(lost));
        Map<String, Progress> kept = reception.progress();
        List<Progress> fresh = new ArrayList<>();
        next.forEach((partition, offset) -> {
            Progress known = kept.get(Partitions.name(partition));
            // What lies before the place where it began was another's to apply, and was.
            long began = known != null && isOf(known, partition) ? known.began() : 0;
            fresh.add(at(partition, began, Math.max(began, offset), null));
        });
        return go(fresh, new HashMap<>());
    }

    private Map<TopicPartition, Progress> go(List<Progress> fresh, Map<TopicPartition, Progress> begun) {
        if (!fresh.isEmpty()) {
            reception.beginAt(fresh);
            fresh.forEach(each -> begun.put(Partitions.of(each.partition()), each));
        }
        // With the count of leaders: the consumer finds out by it when records before were lost and others written in
        // their place.
        begun.forEach((partition, each) -> consumer.seek(partition, offset(each.next(), epoch(each))));
        return begun;
    }

    private OffsetAndMetadata offset(long offset, Optional<Integer> epoch) {
        return new OffsetAndMetadata(offset, epoch, signature());
    }

    private Progress at(TopicPartition partition, long began, long next, @Nullable Long epoch) {
        return new Progress(Partitions.name(partition), topicIds.get(partition.topic()), began, next, epoch);
    }

    private static @Nullable Long epoch(OffsetAndMetadata offset) {
        return offset.leaderEpoch().map(Integer::longValue).orElse(null);
    }

    private static Optional<Integer> epoch(Progress progress) {
        Long epoch = progress.epoch();
        return epoch == null ? Optional.empty() : Optional.of(epoch.intValue());
    }

    /** Whether it tells of the topic that there is now. */
    private boolean isOf(Progress progress, TopicPartition partition) {
        UUID id = progress.topicId();
        return Partitions.of(progress.partition()).topic().equals(partition.topic())
                && (id == null || id.equals(topicIds.get(partition.topic())));
    }

    private void requireOwn(TopicPartition partition, @Nullable OffsetAndMetadata group) {
        if (group != null && Brokers.isOther(group, reception.consumer())) {
            throw new PostroomException(
                    "source.group-taken",
                    "could not receive from " + partition + " for consumer " + reception.consumer()
                            + ": its group is that of " + group.metadata()
                            + ", and each would get a part of the messages only; give each consumer a group of its own");
        }
    }

    private void compare(TopicPartition partition, Progress known, @Nullable OffsetAndMetadata group) {
        if (group != null && group.offset() > known.next()) {
            LOG.warn(
                    "group of source {} was told offset {} of {} and the database knows of {}: it was restored, or a standby took over, or"
                            + " somebody has set the group's offset, which is left aside; what lies between is read again, and what took"
                            + " effect is known",
                    reception.consumer(),
                    group.offset(),
                    partition,
                    known.next());
        }
    }

    /** Not before what the inbox remembers. */
    private Map<TopicPartition, Long> places(Collection<TopicPartition> partitions) {
        if (partitions.isEmpty()) {
            return Map.of();
        }
        Map<TopicPartition, Long> beginnings = consumer.beginningOffsets(partitions, ANSWER);
        Instant remembered = reception.rememberedSince().orElse(null);
        if (remembered == null) {
            LOG.info("group of source {} begins at the beginning, {}", reception.consumer(), beginnings);
            return beginnings;
        }
        // The ends first: what comes meanwhile lies behind them.
        Map<TopicPartition, Long> ends = consumer.endOffsets(partitions, ANSWER);
        Map<TopicPartition, Long> times = new HashMap<>();
        partitions.forEach(partition -> times.put(partition, remembered.toEpochMilli()));
        Map<TopicPartition, OffsetAndTimestamp> found = consumer.offsetsForTimes(times, ANSWER);
        Map<TopicPartition, Long> offsets = new HashMap<>();
        for (TopicPartition partition : partitions) {
            OffsetAndTimestamp first = found.get(partition);
            long offset = first == null ? ends.get(partition) : first.offset();
            offsets.put(partition, offset);
            long left = offset - beginnings.get(partition);
            if (left > 0) {
                LOG.error(
                        "nobody knows how far source {} was in {}. It begins at {}: its inbox remembers since {}, and the {} records"
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
        return offsets;
    }
}
