package io.postroom.schedule;

import io.postroom.PostroomException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/**
 * Every so often, counted in elapsed time from one instant on and before it. Clocks that are put forward or back change nothing: a
 * period of a day is 24 hours. Whoever means "every day at two" wants a {@link Cron}.
 *
 * @param period whole milliseconds, a second to 366 days
 * @param anchor one of the instants; the same on every node. To the millisecond
 */
public record FixedRate(Duration period, Instant anchor) implements Recurrence {
    public static final Duration PERIOD_MIN = Duration.ofSeconds(1);
    public static final Duration PERIOD_MAX = Duration.ofDays(366);

    public FixedRate {
        if (period.compareTo(PERIOD_MIN) < 0
                || period.compareTo(PERIOD_MAX) > 0
                || period.toNanosPart() % 1_000_000 != 0) {
            throw new PostroomException(
                    "schedule.period-invalid",
                    "could not use a period of " + period + ": the range is 1 s to 366 days, in whole milliseconds");
        }
        Years.check(anchor);
        anchor = Instant.ofEpochMilli(anchor.toEpochMilli());
    }

    /** Every so often, as if it had begun with the year 1970. */
    public static FixedRate every(Duration period) {
        return new FixedRate(period, Instant.EPOCH);
    }

    @Override
    public Instant next(Instant after) {
        Years.check(after);
        long origin = anchor.toEpochMilli();
        long passed = Math.floorDiv(after.toEpochMilli() - origin, period.toMillis());
        return Instant.ofEpochMilli(origin + (passed + 1) * period.toMillis());
    }

    @Override
    public String describe() {
        List<String> parts = new ArrayList<>();
        add(parts, period.toDays(), "d");
        add(parts, period.toHoursPart(), "h");
        add(parts, period.toMinutesPart(), "min");
        add(parts, period.toSecondsPart(), "s");
        add(parts, period.toMillisPart(), "ms");
        return "every " + String.join(" ", parts);
    }

    private static void add(List<String> parts, long number, String unit) {
        if (number != 0) {
            parts.add(number + " " + unit);
        }
    }
}
