package io.postroom.message;

import java.security.SecureRandom;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Makes message ids: UUIDs of version 7, which sort by the time they were made.
 *
 * <p>Twelve bits below the millisecond keep ids of one process growing even if the clock stands still or steps back; 62
 * random bits keep processes apart. Safe for use by many threads.
 */
public final class TimeOrderedId {
    private static final SecureRandom RANDOM = new SecureRandom();

    /** The last tick given out: milliseconds shifted left by twelve, plus a counter. */
    private static final AtomicLong LAST = new AtomicLong();

    private TimeOrderedId() {}

    public static UUID next() {
        long now = System.currentTimeMillis() << 12;
        long tick = LAST.updateAndGet(last -> Math.max(last + 1, now));
        long high = (tick >>> 12) << 16 | 0x7000L | (tick & 0xFFFL);
        long low = (RANDOM.nextLong() & 0x3FFFFFFFFFFFFFFFL) | 0x8000000000000000L;
        return new UUID(high, low);
    }
}
