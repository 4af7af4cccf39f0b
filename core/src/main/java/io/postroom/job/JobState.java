package io.postroom.job;

import java.util.Locale;

/** Where a job is. The last three are ends: a job leaves them only by the redrive of its dead letter. */
public enum JobState {
    /** Waits for a worker, or for its time. */
    READY,
    /** A worker has it. */
    RUNNING,
    DONE,
    /** Given up: it is a dead letter too. */
    FAILED,
    CANCELLED;

    /** As it is stored and written. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    public boolean isEnd() {
        return this != READY && this != RUNNING;
    }

    static JobState of(String word) {
        return valueOf(word.toUpperCase(Locale.ROOT));
    }
}
