package io.postroom.job;

/** A claim that is over, as far as this process is concerned: what is to be written about it. */
record Ended(ClaimedJob job, Verdict verdict, long tookNanos) {
    Ended {
        job = job.light();
    }

    /** A job that has not begun goes back as if it had not been claimed. */
    static Ended handBack(ClaimedJob job) {
        return new Ended(job, Verdict.handBack(), 0);
    }

    /** Whether it is done and says no more: such are written together, with one statement. */
    boolean isPlain() {
        return verdict instanceof Verdict.Done done && done.result() == null;
    }
}
