package io.postroom.schedule;

import java.time.Instant;

/** The instants that are reckoned with: all that PostgreSQL and a calendar of four digits have. */
final class Years {
    private static final Instant FIRST = Instant.parse("0001-01-01T00:00:00Z");
    private static final Instant LAST = Instant.parse("9999-12-31T23:59:59.999999999Z");

    private Years() {}

    static void check(Instant instant) {
        if (instant.isBefore(FIRST) || instant.isAfter(LAST)) {
            throw new IllegalArgumentException(
                    "could not reckon from " + instant + ": the range is the years 1 to 9999");
        }
    }
}
