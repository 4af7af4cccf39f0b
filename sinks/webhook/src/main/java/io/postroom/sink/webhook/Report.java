package io.postroom.sink.webhook;

import io.postroom.relay.Outcome;
import io.postroom.retry.Fault;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What became of one attempt: the verdict, its {@link ErrorClass}, the reason in an operator's words, and the wait that the endpoint
 * asked for.
 */
record Report(
        Verdict verdict,
        String errorClass,
        String reason,
        @Nullable Duration after) {

    /** The report as the relay understands it. */
    Outcome outcome() {
        return switch (verdict) {
            case ACCEPTED -> Outcome.accepted();
            case RETRY -> new Outcome.Retry(fault(), after);
            case REJECTED -> new Outcome.Rejected(fault());
            case UNAVAILABLE, UNAUTHORIZED -> new Outcome.Unavailable(fault(), after);
            case GONE -> new Outcome.Unavailable(fault(), null, true);
        };
    }

    private Fault fault() {
        return Fault.of(errorClass, reason);
    }
}
