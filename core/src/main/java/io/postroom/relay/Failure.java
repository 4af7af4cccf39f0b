package io.postroom.relay;

import io.postroom.retry.Decision;
import io.postroom.retry.Fault;
import io.postroom.retry.RetryPolicy;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/** An outcome other than accepted, as the lane needs it. */
record Failure(String word, Fault fault, @Nullable Duration after, boolean forGood) {
    private static final Set<String> UNANSWERED = Set.of(Outcome.TIMEOUT, Outcome.CONNECTION_LOST);

    private static final String RETRY = "retry";
    private static final String REJECTED = "rejected";
    private static final String UNAVAILABLE = "unavailable";

    private Failure(String word, Fault fault, @Nullable Duration after) {
        this(word, fault, after, false);
    }

    static Failure of(Outcome outcome) {
        if (outcome instanceof Outcome.Retry retry) {
            return new Failure(RETRY, retry.fault(), retry.after());
        }
        if (outcome instanceof Outcome.Rejected rejected) {
            return new Failure(REJECTED, rejected.fault(), null);
        }
        if (outcome instanceof Outcome.Unavailable unavailable) {
            return new Failure(UNAVAILABLE, unavailable.fault(), unavailable.after(), unavailable.forGood());
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
        return new Failure(RETRY, Fault.of(Outcome.TIMEOUT, "no answer within " + seconds(deadline) + " s"), null);
    }

    /** The transaction of a projection was ended each time, not by the projection. */
    static Failure ended(Throwable e) {
        Fault fault = Fault.of(e.getCause() == null ? e : e.getCause());
        return new Failure(RETRY, Fault.of("transaction-ended", fault.message()), null);
    }

    /** Whether the destination did not say anything, so that it may be as much at fault as the message. */
    boolean isUnanswered() {
        return isUnanswered(fault.errorClass());
    }

    static boolean isUnanswered(@Nullable String errorClass) {
        return errorClass != null && UNANSWERED.contains(errorClass);
    }

    /** Whether it speaks of the destination, not of the message. */
    boolean isUnavailable() {
        return word.equals(UNAVAILABLE);
    }

    /** Whether the destination wants no more at all, and the policy has nothing else to say about it. */
    boolean isForGood(RetryPolicy policy, int attempts) {
        return forGood && policy.overrule(fault, attempts, after).isEmpty();
    }

    Decision decide(RetryPolicy policy, int attempts) {
        return switch (word) {
            case REJECTED ->
                policy.overrule(fault, attempts, after)
                        .orElseGet(() -> new Decision.GiveUp("the sink rejected it", true));
            case UNAVAILABLE -> policy.overrule(fault, attempts, after).orElseGet(Decision.Unavailable::new);
            default -> policy.decide(fault, attempts, after);
        };
    }

    /**
     * What becomes of the message if it alone fails so, where nobody has said that the destination is at fault: an error was thrown that
     * is mostly the destination's. Empty if somebody has said so, the sink or the policy's owner.
     */
    Optional<Decision> asOwnFault(RetryPolicy policy, int attempts) {
        return word.equals(RETRY) ? policy.asOwnFault(fault, attempts, after) : Optional.empty();
    }

    private static String seconds(Duration duration) {
        return duration.toMillis() % 1000 == 0
                ? Long.toString(duration.toSeconds())
                : Double.toString(duration.toMillis() / 1000.0);
    }
}
