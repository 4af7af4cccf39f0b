package io.postroom.relay;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * What became of one attempt to send one message.
 *
 * <p>A sink tells the fault of a message from its own: {@link Retry} and {@link Rejected} speak of the message,
 * {@link Unavailable} of the sink. Reasons are shown to operators, so they carry no payload and no secret.
 */
public sealed interface Outcome {

    /** The sink has it for good. */
    record Accepted() implements Outcome {}

    /** Not this time; try this message again, after the given time if the sink named one. */
    record Retry(String reason, @Nullable Duration after) implements Outcome {
        public Retry {
            Objects.requireNonNull(reason, "reason");
        }
    }

    /** Never: trying this message again cannot help. */
    record Rejected(String reason) implements Outcome {
        public Rejected {
            Objects.requireNonNull(reason, "reason");
        }
    }

    /** The sink takes no message at the moment; this one is not to blame. */
    record Unavailable(String reason, @Nullable Duration after) implements Outcome {
        public Unavailable {
            Objects.requireNonNull(reason, "reason");
        }
    }

    static Outcome accepted() {
        return Outcomes.ACCEPTED;
    }

    /** An answer that is there already: the cheapest one for a sink that is done when {@code send} returns. */
    static CompletionStage<Outcome> acceptedStage() {
        return Outcomes.ACCEPTED_STAGE;
    }

    static Outcome retry(String reason) {
        return new Retry(reason, null);
    }

    static Outcome retry(String reason, Duration after) {
        return new Retry(reason, after);
    }

    static Outcome rejected(String reason) {
        return new Rejected(reason);
    }

    static Outcome unavailable(String reason) {
        return new Unavailable(reason, null);
    }

    static Outcome unavailable(String reason, Duration after) {
        return new Unavailable(reason, after);
    }
}
