package io.postroom.job;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How many jobs of one key may run at once, how many are let through in a time, how many may stand in line. Declared once, by name; jobs name
 * it with their key. Each part may be left out. Immutable.
 *
 * @param concurrency how many of one key may be claimable or running
 * @param rate how many of one key are let through in a time
 * @param line how many of one key may be claimable and not begun: whoever has many leaves room for the others
 */
public record Limit(
        String name,
        @Nullable Integer concurrency,
        @Nullable Rate rate,
        @Nullable Integer line) {
    public static final int CONCURRENCY_MAX = 100_000;
    public static final int RATE_MAX = 1_000_000;
    public static final Duration PER_MAX = Duration.ofDays(1);

    /**
     * So many in a time, evenly, with bursts of a few: at most {@code count + burst} in any such time.
     *
     * @param burst how many may be let through at once
     */
    public record Rate(int count, Duration per, int burst) {}

    public Limit {
        List<String> problems = new ArrayList<>();
        if (!JobRules.isQueue(name)) {
            problems.add("its name must be a lower-case letter and up to 99 letters, digits or _ . -");
        }
        if (concurrency == null && rate == null && line == null) {
            problems.add("it limits nothing; give a concurrency, a rate or a line");
        }
        check(concurrency, "concurrency", CONCURRENCY_MAX, problems);
        check(line, "line", CONCURRENCY_MAX, problems);
        if (rate != null) {
            check(rate.count(), "rate", RATE_MAX, problems);
            check(rate.burst(), "burst", Math.max(1, rate.count()), problems);
            if (rate.per().toMillis() < 1 || rate.per().compareTo(PER_MAX) > 0) {
                problems.add("its rate is per " + rate.per() + ", the range is 1 ms to 1 day");
            }
        }
        if (!problems.isEmpty()) {
            throw new InvalidJobException(
                    "job.limit-invalid",
                    "could not declare limit " + JobRules.quote(name) + ": " + String.join("; ", problems));
        }
    }

    /** So many of one key at once. */
    public static Limit ofConcurrency(String name, int concurrency) {
        return new Limit(name, concurrency, null, null);
    }

    /** So many of one key in a time. */
    public static Limit ofRate(String name, int count, Duration per) {
        return new Limit(name, null, new Rate(count, per, Math.max(1, count / 10)), null);
    }

    /** As many of one key as there are workers, but no more than so many in line before the next key has its turn. */
    public static Limit ofLine(String name, int line) {
        return new Limit(name, null, null, line);
    }

    /** The same, and so many of one key at once. */
    public Limit concurrency(int most) {
        return new Limit(name, most, rate, line);
    }

    /** The same, and so many of one key in a time. */
    public Limit rate(int count, Duration per, int burst) {
        return new Limit(name, concurrency, new Rate(count, per, burst), line);
    }

    private static void check(@Nullable Integer value, String what, int most, List<String> problems) {
        if (value != null && (value < 1 || value > most)) {
            problems.add("its " + what + " is " + value + ", the range is 1 to " + most);
        }
    }
}
