package io.postroom.retry;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * The waits between attempts: none between the first {@code immediate} ones, then a growing one up to {@code cap}, each made
 * shorter by a random part of up to {@code jitter}. Its values were checked by {@link RetryPolicy.Builder}.
 */
record Schedule(int attemptsMax, int immediate, Curve curve, Duration unit, Duration cap, double jitter) {

    /** How waits grow: each is the unit times a factor of its number, counted from one. */
    enum Curve {
        EXPONENTIAL("first", "doubling") {
            @Override
            long factor(int number) {
                return 1L << Math.min(number - 1, 62);
            }
        },
        LINEAR("step", "× n") {
            @Override
            long factor(int number) {
                return number;
            }
        },
        QUADRATIC("unit", "× n²") {
            @Override
            long factor(int number) {
                return (long) number * number;
            }
        };

        /** What its unit is called in the text of a policy. */
        final String setting;

        private final String words;

        Curve(String setting, String words) {
            this.setting = setting;
            this.words = words;
        }

        abstract long factor(int number);

        String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    Decision decide(int attempts, @Nullable Duration asked, RandomGenerator random) {
        if (attempts >= attemptsMax) {
            return new Decision.GiveUp(
                    attempts == attemptsMax
                            ? attempts + " of " + attemptsMax + " attempts failed"
                            : attempts + " attempts failed, the retry policy allows " + attemptsMax);
        }
        Duration wait = waitAfter(attempts, random);
        if (asked != null && asked.compareTo(wait) > 0) {
            // Not spread: whoever names a time does not want to be asked sooner.
            wait = asked.compareTo(cap) < 0 ? asked : cap;
        }
        return new Decision.TryAgain(wait);
    }

    private Duration waitAfter(int attempts, RandomGenerator random) {
        if (attempts < immediate) {
            return Duration.ZERO;
        }
        long factor = curve.factor(attempts - immediate + 1);
        long capNanos = cap.toNanos();
        long unitNanos = unit.toNanos();
        // Divided, not multiplied: the thousandth wait of a long unit does not fit a long.
        long nanos = factor > capNanos / unitNanos ? capNanos : unitNanos * factor;
        long spread = (long) (nanos * jitter);
        return Duration.ofNanos(spread == 0 ? nanos : nanos - random.nextLong(spread + 1));
    }

    String describe() {
        String attempts = attemptsMax + (attemptsMax == 1 ? " attempt" : " attempts");
        if (immediate >= attemptsMax) {
            return attemptsMax == 1 ? attempts : attempts + " at once";
        }
        return (immediate > 1 ? immediate + " at once, then " : "")
                + show(unit) + " " + curve.words + " up to " + show(cap) + ", " + attempts
                + (jitter > 0 ? ", waits up to " + Math.round(jitter * 100) + " % shorter" : "");
    }

    /** A duration as an operator would say it, exactly: {@code 250 ms}, {@code 5 min}, {@code 1 h 30 min}. */
    static String show(Duration duration) {
        if (duration.isZero()) {
            return "0 s";
        }
        if (duration.isNegative() || duration.toNanosPart() % 1_000_000 != 0) {
            return duration.toString();
        }
        List<String> parts = new ArrayList<>();
        add(parts, duration.toDays(), "d");
        add(parts, duration.toHoursPart(), "h");
        add(parts, duration.toMinutesPart(), "min");
        add(parts, duration.toSecondsPart(), "s");
        add(parts, duration.toMillisPart(), "ms");
        return String.join(" ", parts);
    }

    private static void add(List<String> parts, long number, String unit) {
        if (number != 0) {
            parts.add(number + " " + unit);
        }
    }
}
