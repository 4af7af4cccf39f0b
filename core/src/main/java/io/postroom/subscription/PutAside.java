package io.postroom.subscription;

import java.time.Duration;

/**
 * Messages that a lane has passed though they did not go through at once, by the state of their delivery. They are not behind, and nobody
 * has given them up. Each number is counted up to {@link Subscriptions#COUNT_MAX}. What is scheduled is not among them before it is due,
 * nor what a dead letter holds.
 *
 * @param waiting for another attempt
 * @param sending on their way again
 * @param parked behind an earlier one of their key, among the first {@link Subscriptions#COUNT_MAX} deliveries
 * @param unreadable of a version that no relay so far can read
 * @param oldest for how long the oldest of them waits, but for those that are parked; zero if there is none
 */
public record PutAside(long waiting, long sending, long parked, long unreadable, Duration oldest) {
    public static final PutAside NOTHING = new PutAside(0, 0, 0, 0, Duration.ZERO);

    /** Of every state. */
    public long total() {
        return waiting + sending + parked + unreadable;
    }

    /** Those that go again by themselves. */
    public long retried() {
        return waiting + sending;
    }
}
