package io.postroom.micrometer;

import java.time.Duration;

/** A figure that somebody tells again and again. If nobody has for a while it is not a number any more. Safe for use by many threads. */
final class Told {
    private final long staleNanos;
    private volatile double value = Double.NaN;
    private volatile long toldNanos = System.nanoTime();

    Told(Duration staleAfter) {
        this.staleNanos = staleAfter.toNanos();
    }

    void tell(double now) {
        toldNanos = System.nanoTime();
        value = now;
    }

    double value() {
        return System.nanoTime() - toldNanos > staleNanos ? Double.NaN : value;
    }
}
