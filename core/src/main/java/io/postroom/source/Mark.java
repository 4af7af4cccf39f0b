package io.postroom.source;

import org.jspecify.annotations.Nullable;

/**
 * How far a consumer will be in a partition when a transaction is committed.
 *
 * @param partition as {@code topic/partition}
 * @param expected how far it was when this process last looked
 * @param next everything before has taken effect then, or is a dead letter
 * @param epoch the broker's count of leaders when it wrote the record before; null: not known
 */
public record Mark(
        String partition,
        long expected,
        long next,
        @Nullable Long epoch) {}
