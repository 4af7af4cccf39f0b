package io.postroom.relay;

import io.postroom.retry.Backoff;
import java.time.Duration;
import java.util.Optional;

/**
 * A time in which a destination takes nothing: worth a word when it begins, ever more rarely while it lasts, and when it is over. For
 * one thread at a time.
 */
final class Outage {
    /** How long nothing is said between two words. */
    private static final Backoff PAUSES = new Backoff(Duration.ofSeconds(10), Duration.ofMinutes(10));

    private int words;
    private long beganNanos;
    private long nextWordNanos;

    /** Nothing was taken just now; returns whether that is worth a word. */
    boolean goesOn(long nowNanos) {
        if (words == 0) {
            beganNanos = nowNanos;
        } else if (nowNanos - nextWordNanos < 0) {
            return false;
        }
        words++;
        nextWordNanos = nowNanos + PAUSES.after(words).toNanos();
        return true;
    }

    /** The destination has answered; returns how long it had not, if it had not. */
    Optional<Duration> end(long nowNanos) {
        boolean lasted = words > 0;
        words = 0;
        return lasted ? Optional.of(Duration.ofNanos(nowNanos - beganNanos)) : Optional.empty();
    }
}
