package io.postroom.idempotency;

import java.util.Locale;

/** Where a key is. */
public enum KeyState {
    /** Done in steps, and not answered. */
    RUNNING,
    /** Answered. */
    COMPLETED,
    /** Answered with a status of 400 or more. */
    FAILED;

    /** As it is stored and written on the command line. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
