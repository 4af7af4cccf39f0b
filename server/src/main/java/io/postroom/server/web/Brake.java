package io.postroom.server.web;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Slows down whoever guesses tokens: after some wrong ones from an address nothing more is looked at from there for a while, which doubles
 * with each further one. Kept for the newest addresses, while the process lives. Thread-safe.
 */
final class Brake {
    static final int FREE = 5;
    static final Duration WAIT = Duration.ofSeconds(2);
    static final Duration WAIT_MAX = Duration.ofMinutes(1);

    private static final Logger LOG = LoggerFactory.getLogger(Brake.class);
    private static final int ADDRESSES_MAX = 1_000;
    private static final Duration FORGET = Duration.ofMinutes(15);

    private final Clock clock;
    private final Map<String, Wrong> addresses = new LinkedHashMap<>();

    Brake(Clock clock) {
        this.clock = clock;
    }

    private record Wrong(int times, Instant last) {
        Instant until() {
            if (times < FREE) {
                return last;
            }
            long wait = WAIT.toSeconds() << Math.min(times - FREE, 10);
            return last.plusSeconds(Math.min(wait, WAIT_MAX.toSeconds()));
        }
    }

    /** How long an address must wait before its next try; zero if it need not. */
    synchronized Duration wait(String address) {
        Wrong wrong = addresses.get(address);
        if (wrong == null) {
            return Duration.ZERO;
        }
        Duration left = Duration.between(clock.instant(), wrong.until());
        return left.isNegative() ? Duration.ZERO : left;
    }

    /** Notes that a token from there was nobody's. */
    synchronized void wrong(String address) {
        Instant now = clock.instant();
        Wrong before = addresses.remove(address);
        int times = before == null || before.last().plus(FORGET).isBefore(now) ? 1 : before.times() + 1;
        addresses.put(address, new Wrong(times, now));
        if (addresses.size() > ADDRESSES_MAX) {
            addresses.remove(addresses.keySet().iterator().next());
        }
        if (times == FREE) {
            LOG.warn("{} wrong tokens came from {}; it waits longer and longer for each further try", times, address);
        }
    }
}
