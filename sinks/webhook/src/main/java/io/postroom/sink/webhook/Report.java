package io.postroom.sink.webhook;

import io.postroom.relay.Outcome;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** What became of one attempt: the verdict, the reason in an operator's words, and the wait that the endpoint asked for. */
record Report(Verdict verdict, String reason, @Nullable Duration after) {

    /** The report as the relay understands it. */
    Outcome outcome() {
        return switch (verdict) {
            case ACCEPTED -> Outcome.accepted();
            case RETRY -> after == null ? Outcome.retry(reason) : Outcome.retry(reason, after);
            case REJECTED -> Outcome.rejected(reason);
            case UNAVAILABLE, DISABLE -> 
                after == null ? Outcome.unavailable(reason) : Outcome.unavailable(reason, after);
        };
    }
}
