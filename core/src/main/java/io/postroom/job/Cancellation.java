package io.postroom.job;

/** What asking for a job to be cancelled came to. */
public enum Cancellation {
    /** It had not begun, and has ended now. */
    CANCELLED,
    /** It runs: its handler is told within a second or so, and if it does not end by itself, it is not tried again. */
    ASKED,
    /** It has ended before. */
    TOO_LATE
}
