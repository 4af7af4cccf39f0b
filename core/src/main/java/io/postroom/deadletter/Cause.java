package io.postroom.deadletter;

import java.util.Locale;

/** Why a message was buried. */
public enum Cause {
    /** The sink said that it will never take it. */
    REJECTED,
    /** It failed as often as the policy allows. */
    EXHAUSTED,
    /** The process ended each time it was tried. */
    CRASHED,
    /** An operator skipped it. Such a dead letter is discarded from the beginning. */
    SKIPPED;

    /** As it is stored and written. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    static Cause of(String word) {
        return valueOf(word.toUpperCase(Locale.ROOT));
    }
}
