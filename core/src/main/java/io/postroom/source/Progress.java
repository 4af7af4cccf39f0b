package io.postroom.source;

import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * How far a consumer is in a partition, as it is kept with its effects.
 *
 * @param partition as {@code topic/partition}
 * @param topicId which topic of that name; null: nobody has looked yet
 * @param began what lies before was never this consumer's to apply
 * @param next everything before has taken effect or is a dead letter
 * @param epoch the broker's count of leaders when it wrote the record before; null: not known
 */
public record Progress(
        String partition,
        @Nullable UUID topicId,
        long began,
        long next,
        @Nullable Long epoch) {
    public Progress {
        if (began < 0 || next < began) {
            throw new IllegalArgumentException(
                    partition + " begins at " + began + " and goes on at " + next + ", the least are 0 and the former");
        }
    }
}
