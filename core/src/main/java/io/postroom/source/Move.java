package io.postroom.source;

import java.time.Instant;
import java.util.List;
import java.util.Map;

/**
 * A move of a subscription that has begun: where the cut is.
 *
 * @param feed the subscription that carries messages to the broker
 * @param position to Kafka: the journal's end after the offsets were read; to PostgreSQL: where the lanes begin
 * @param offsets by {@code topic/partition}; to Kafka: where the group begins; to PostgreSQL: what it must have applied
 */
public record Move(
        long id,
        String subscription,
        ServedBy target,
        String feed,
        List<String> topics,
        String group,
        long position,
        Map<String, Long> offsets,
        String actor,
        String reason,
        Instant notedAt) {

    public Move {
        topics = List.copyOf(topics);
        offsets = Map.copyOf(offsets);
    }
}
