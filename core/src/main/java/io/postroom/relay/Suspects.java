package io.postroom.relay;

import org.jspecify.annotations.Nullable;

/**
 * Lets the lanes of one relay send messages that a relay may have died of, one at a time: if the process ends, it is known of which.
 * Safe for use by many threads.
 */
final class Suspects {
    private @Nullable Object lane;

    /** Whether this lane may send one now. */
    synchronized boolean enter(Object who) {
        if (lane != null && lane != who) {
            return false;
        }
        lane = who;
        return true;
    }

    synchronized void leave(Object who) {
        if (lane == who) {
            lane = null;
        }
    }
}
