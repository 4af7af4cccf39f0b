package io.postroom.archive;

import java.time.LocalDate;
import org.jspecify.annotations.Nullable;

/** What became of a day, and who is in the way, if somebody is. */
public record ArchiveStep(
        LocalDate day, Outcome outcome, @Nullable String need) {

    /** As in the function {@code archive_step}. */
    public enum Outcome {
        BOUNDED,
        CHECKED,
        ARCHIVED,
        NEEDED,
        UNSTAMPED,
        RECENT,
        LOCKED,
        BUSY,
        FOREIGN;

        /** Whether the same day, or the next one, can be gone on with at once. */
        boolean goesOn() {
            return this == BOUNDED || this == CHECKED || this == ARCHIVED;
        }
    }

    /** Why a day stays where it is, for whoever reads it; what was done to it otherwise. */
    public String sentence() {
        return switch (outcome) {
            case BOUNDED, CHECKED -> "it is being made ready";
            case ARCHIVED -> "it is archived";
            case NEEDED -> "it is needed by " + need;
            case UNSTAMPED ->
                "a message of it may not have a position yet: nobody stamps, or a transaction has been open since then";
            case RECENT -> "nothing was stamped on two later days";
            case LOCKED ->
                "somebody holds a lock on the outbox, the journal or this day for longer than we wait:"
                        + " a transaction that stays open, or a dump";
            case BUSY -> "another process archives or stamps";
            case FOREIGN -> "this database is a copy that has not been restamped; start a relay";
        };
    }
}
