package io.postroom.relay;

import io.postroom.retry.Decision;
import io.postroom.retry.Fault;
import io.postroom.retry.RetryPolicy;
import java.time.Duration;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/** An outcome other than accepted, as the lane needs it. */
record Failure(String word, Fault fault, @Nullable Duration after) {
    static final String TIMEOUT = Outcome.TIMEOUT;

    private static final String REJECTED = "rejected";
    private static final String UNAVAILABLE = "unavailable";

    static Failure of(Outcome outcome) {
        if (outcome instanceof Outcome.Retry retry) {
            return new Failure("retry", retry.fault(), retry.after());
        }
        if (outcome instanceof Outcome.Rejected rejected) {
            return new Failure(REJECTED, rejected.fault(), null);
        }
        if (outcome instanceof Outcome.Unavailable unavailable) {
            return new Failure(UNAVAILABLE, unavailable.fault(), unavailable.after());
        }
        throw new IllegalArgumentException("accepted is not a failure");
    }

    /** What was thrown instead of an answer. */
    static Outcome thrown(Throwable e) {
        boolean wrapped = e instanceof CompletionException || e instanceof Handler.HandlerException;
        Throwable cause = wrapped && e.getCause() != null ? e.getCause() : e;
        return cause instanceof OutcomeException known && !(known.outcome() instanceof Outcome.Accepted)
                ? known.outcome()
                : new Outcome.Retry(Fault.of(cause), null);
    }

    /** No answer came within the deadline. */
    static Failure hung(Duration deadline) {
        return new Failure("retry", Fault.of(TIMEOUT, "no answer within " + seconds(deadline) + " s"), null);
    }

    boolean isTimeout() {
        return fault.errorClass().equals(TIMEOUT);
    }

    boolean isRejection() {
        return word.equals(REJECTED);
    }

    Decision decide(RetryPolicy policy, int attempts) {
        return switch (word) {
            case REJECTED -> new Decision.GiveUp("the sink rejected it");
            case UNAVAILABLE -> new Decision.Unavailable();
            default -> policy.decide(fault, attempts, after);
        };
    }

    private static String seconds(Duration duration) {
        return duration.toMillis() % 1000 == 0
                ? Long.toString(duration.toSeconds())
                : Double.toString(duration.toMillis() / 1000.0);
    }
}
