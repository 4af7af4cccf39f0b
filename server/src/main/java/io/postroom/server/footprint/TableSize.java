package io.postroom.server.footprint;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A table with all its partitions.
 *
 * @param partitions 0 if it has none
 * @param bytes with indexes and what is stored apart
 * @param live rows, as the statistics estimate them
 * @param dead rows that nobody sees any more, by the same
 */
public record TableSize(
        String name,
        int partitions,
        long bytes,
        long indexBytes,
        long live,
        long dead,
        @Nullable Instant vacuumedAt) {

    /** Which part of its rows is dead. */
    public double deadShare() {
        return live + dead == 0 ? 0 : (double) dead / (live + dead);
    }
}
