package io.postroom.server.footprint;

import java.time.LocalDate;
import org.jspecify.annotations.Nullable;

/** Of a table that has a partition for each day: the first and the last day that have one. */
public record DayPartition(
        String table,
        int partitions,
        @Nullable LocalDate first,
        @Nullable LocalDate last,
        int daysAhead) {}
