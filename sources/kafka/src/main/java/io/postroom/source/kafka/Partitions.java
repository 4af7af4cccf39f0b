package io.postroom.source.kafka;

import org.apache.kafka.common.TopicPartition;

/** Partitions as they are written down: {@code topic/partition}. */
final class Partitions {
    private Partitions() {}

    static String name(TopicPartition partition) {
        return partition.topic() + "/" + partition.partition();
    }

    static TopicPartition of(String name) {
        int slash = name.lastIndexOf('/');
        return new TopicPartition(name.substring(0, slash), Integer.parseInt(name.substring(slash + 1)));
    }
}
