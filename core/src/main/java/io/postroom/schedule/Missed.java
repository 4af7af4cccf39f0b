package io.postroom.schedule;

import io.postroom.PostroomException;
import java.util.Locale;

/** What becomes of times that passed while no node was there, or the database was away. */
public enum Missed {
    /** They are left out, which is noted, logged and counted. A time that is less than a minute late is not missed: it fires. */
    SKIP,
    /** However many there are, the last of them fires, late. */
    ONCE,
    /** Each of them fires, late. */
    ALL;

    /** As it is stored and written. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    static Missed of(String word) {
        for (Missed each : values()) {
            if (each.word().equals(word)) {
                return each;
            }
        }
        throw new PostroomException(
                "schedule.missed-unknown", "could not use '" + word + "' for missed times: known are skip, once, all");
    }
}
