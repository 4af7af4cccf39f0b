package io.postroom.retry;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Waits that double from a first one up to a longest one, each spread by up to a quarter so that nodes that failed together do
 * not come back together.
 */
public record Backoff(Duration first, Duration longest) {

    public Backoff {
        if (first.isNegative() || first.isZero() || longest.compareTo(first) < 0) {
            throw new IllegalArgumentException(
                    "first is " + first + " and longest is " + longest + "; need 0 < first <= longest");
        }
    }

    /** The wait after the given number of failures, counted from one. */
    public Duration after(int failures) {
        int doublings = Math.min(Math.max(failures, 1) - 1, 30);
        // Divided, not shifted: the thirtieth doubling of some seconds does not fit a long, and not every overflow is
        // negative.
        boolean fits = 1L << doublings <= longest.toNanos() / first.toNanos();
        long nanos = fits ? first.toNanos() << doublings : longest.toNanos();
        return Duration.ofNanos(nanos - ThreadLocalRandom.current().nextLong(nanos / 4 + 1));
    }
}
