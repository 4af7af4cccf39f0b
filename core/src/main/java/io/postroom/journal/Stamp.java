package io.postroom.journal;

import java.time.LocalDate;

/**
 * What one call of stamp did.
 *
 * @param lastPosition the last position given out so far; not known, and zero, when the state is idle because nothing moved
 * @param lookedAt the snapshot in which nothing more is due, to be passed to the next call; empty if unknown
 */
record Stamp(State state, long stamped, long lastPosition, LocalDate lastDay, String lookedAt) {

    enum State {
        IDLE,
        STAMPED,
        MORE,
        BUSY,
        FOREIGN
    }
}
