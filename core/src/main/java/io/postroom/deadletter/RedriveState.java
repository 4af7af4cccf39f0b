package io.postroom.deadletter;

import java.util.Locale;

/** How far a redrive is. The last three are final. */
public enum RedriveState {
    RUNNING,
    /** The first ones are on their way; the others wait for what becomes of them. */
    CANARY,
    DONE,
    CANCELLED,
    /** One of the first ones failed again. */
    STOPPED;

    public boolean isEnd() {
        return this == DONE || this == CANCELLED || this == STOPPED;
    }

    /** As it is stored and written. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    static RedriveState of(String word) {
        return valueOf(word.toUpperCase(Locale.ROOT));
    }
}
