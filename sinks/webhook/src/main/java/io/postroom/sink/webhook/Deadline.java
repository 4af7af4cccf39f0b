package io.postroom.sink.webhook;

import java.time.Duration;

/** The moment at which an attempt ends, on the monotonic clock. */
record Deadline(long nanoTime) {

    static Deadline in(Duration timeout) {
        return new Deadline(System.nanoTime() + timeout.toNanos());
    }

    /** What is left, never negative. */
    Duration left() {
        return Duration.ofNanos(Math.max(0, nanoTime - System.nanoTime()));
    }

    /** What is left, at most the given limit and at least one millisecond, since sockets take zero for forever. */
    int millisLeft(Duration limit) {
        return (int) Math.max(1, Math.min(left().toMillis(), limit.toMillis()));
    }

    boolean passed() {
        return nanoTime - System.nanoTime() <= 0;
    }
}
