package io.postroom.job;

import io.postroom.deadletter.Cause;
import io.postroom.retry.Fault;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** What is to be written about a claim: how the job ends, or when it goes on. */
sealed interface Verdict {
    /** The word for an attempt that a stop has ended. */
    String INTERRUPTED = "interrupted";

    /** How an attempt that did not end with the job done stands in its history; {@code outcome} is one of a few words. */
    record Note(String outcome, @Nullable Fault fault) {
        private static @Nullable Note cancelled(@Nullable Note note) {
            return note == null ? null : new Note("cancelled", note.fault());
        }
    }

    /** The job is done. */
    record Done(@Nullable String result) implements Verdict {}

    /** The job was ended in the transaction of its handler: there is nothing left to write. */
    record Committed() implements Verdict {}

    /**
     * The job goes on, now or later.
     *
     * @param counted whether the attempt counts
     * @param crashed whether its worker died or hung, of it or of a neighbour
     * @param note null for an attempt that has not begun
     */
    record Again(
            Duration after,
            boolean counted,
            boolean crashed,
            @Nullable Note note) implements Verdict {
        /** Whether it has not begun, or was interrupted by a stop: it keeps its place in line. */
        boolean isHandedBack() {
            return after.isZero()
                    && !counted
                    && !crashed
                    && (note == null || note.outcome().equals(INTERRUPTED));
        }
    }

    /** The job is given up, after so many attempts: it becomes a dead letter. */
    record GiveUp(
            Cause cause,
            int attempts,
            Fault fault,
            @Nullable Note note) implements Verdict {}

    /** Somebody wanted the job cancelled, and it was not done before. */
    record Cancelled(boolean counted, @Nullable Note note) implements Verdict {}

    /** A job whose attempt has not begun is ready again at once, as if it had not been claimed; only a key that was unique while it was ready is gone. */
    static Verdict handBack() {
        return new Again(Duration.ZERO, false, false, null);
    }

    /** The same, if somebody has asked for the job to be cancelled: what is not done is not tried again. */
    default Verdict cancelled() {
        if (this instanceof Again again) {
            return new Cancelled(again.counted(), Note.cancelled(again.note()));
        }
        // A claim that only buries is no attempt.
        return this instanceof GiveUp givenUp
                ? new Cancelled(givenUp.note() != null, Note.cancelled(givenUp.note()))
                : this;
    }
}
