package io.postroom.deadletter;

import java.util.Locale;

/** What is done to dead letters. */
public enum RedriveAction {
    /** Put back on their way. */
    REDRIVE("redriven"),
    /** Ended. */
    DISCARD("discarded");

    private final String resolution;

    RedriveAction(String resolution) {
        this.resolution = resolution;
    }

    /** As it is stored and written. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** What a dead letter is afterwards. */
    public String resolution() {
        return resolution;
    }

    static RedriveAction of(String word) {
        return valueOf(word.toUpperCase(Locale.ROOT));
    }

    static RedriveAction ofResolution(String resolution) {
        return resolution.equals(REDRIVE.resolution) ? REDRIVE : DISCARD;
    }
}
