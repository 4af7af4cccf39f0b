package io.postroom.relay;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** An outcome other than accepted, as the lane needs it. */
record Failure(String word, String reason, @Nullable Duration after, boolean isOfTheSink) {
    private static final int REASON_LENGTH_MAX = 500;

    static Failure of(Outcome outcome) {
        if (outcome instanceof Outcome.Retry retry) {
            return new Failure("retry", retry.reason(), retry.after(), false);
        }
        if (outcome instanceof Outcome.Rejected rejected) {
            return new Failure("rejected", rejected.reason(), null, false);
        }
        if (outcome instanceof Outcome.Unavailable unavailable) {
            return new Failure("unavailable", unavailable.reason(), unavailable.after(), true);
        }
        throw new IllegalArgumentException("accepted is not a failure");
    }

    /** An exception in one line: its class and the beginning of its message, without line breaks. */
    static String text(Throwable e) {
        String message = e.getMessage() == null ? "" : ": " + e.getMessage().replaceAll("\\p{Cntrl}+", " ");
        String text = e.getClass().getName() + message;
        return text.length() > REASON_LENGTH_MAX ? text.substring(0, REASON_LENGTH_MAX) : text;
    }
}
