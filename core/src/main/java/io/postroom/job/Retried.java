package io.postroom.job;

/** What came of an attempt to let a job run now. */
public enum Retried {
    /** It had failed: its dead letter is resolved, and it is ready under its id. */
    REDRIVEN("comes back; its attempts are counted anew"),
    /** It waited for its time, or for its next attempt. */
    HURRIED("waits no longer for its time"),
    /** It can be claimed, runs, or waits for its turn or for other jobs. */
    UNDER_WAY("is on its way already"),
    /** It was done or cancelled. */
    ENDED("has ended and did not fail; enqueue another");

    private final String sentence;

    Retried(String sentence) {
        this.sentence = sentence;
    }

    /** For a person, after the name of the job. */
    public String sentence() {
        return sentence;
    }
}
