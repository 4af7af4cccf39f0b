package io.postroom.job;

/** What asking for a job to be cancelled came to. */
public enum Cancellation {
    /** It had not begun, and has ended now. */
    CANCELLED("is cancelled"),
    /** It runs: its handler is told within a second or so, and if it does not end by itself, it is not tried again. */
    ASKED("runs; its handler is told, and it is not tried again"),
    /** It has ended before. */
    TOO_LATE("has ended before");

    private final String sentence;

    Cancellation(String sentence) {
        this.sentence = sentence;
    }

    /** For a person, after the name of the job. */
    public String sentence() {
        return sentence;
    }
}
