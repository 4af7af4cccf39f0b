package io.postroom.relay;

import io.postroom.retry.Fault;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * What became of one attempt to send one message.
 *
 * <p>A sink tells the fault of a message from its own: {@link Retry} and {@link Rejected} speak of the message,
 * {@link Unavailable} of the sink. Faults are shown to operators, so they carry no payload and no secret; their error class is what
 * a {@link io.postroom.retry.RetryPolicy} can react to, otherwise than the sink if it says so.
 */
public sealed interface Outcome {
    /**
     * The error class of an attempt that was given no answer in time. Whose fault that is depends on what else the destination
     * answered meanwhile: it counts against the message only if the destination is otherwise well.
     */
    String TIMEOUT = "timeout";

    /** The error class of an attempt whose connection ended before there was an answer. Whose fault that is depends, as above. */
    String CONNECTION_LOST = "connection-lost";

    /** The sink has it for good. */
    record Accepted() implements Outcome {}

    /** Not this time; try this message again, after the given time if the sink named one. */
    record Retry(Fault fault, @Nullable Duration after) implements Outcome {
        public Retry {
            Objects.requireNonNull(fault, "fault");
        }

        public String reason() {
            return fault.message();
        }
    }

    /** Never: trying this message again cannot help. */
    record Rejected(Fault fault) implements Outcome {
        public Rejected {
            Objects.requireNonNull(fault, "fault");
        }

        public String reason() {
            return fault.message();
        }
    }

    /**
     * The sink takes no message at the moment; this one is not to blame.
     *
     * @param forGood whether it said that it never will again: then no probe goes, and the relay pauses the subscription until an
     *     operator resumes it
     */
    record Unavailable(Fault fault, @Nullable Duration after, boolean forGood) implements Outcome {
        public Unavailable {
            Objects.requireNonNull(fault, "fault");
        }

        public Unavailable(Fault fault, @Nullable Duration after) {
            this(fault, after, false);
        }

        public String reason() {
            return fault.message();
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
        return new Retry(Fault.of("retry", reason), null);
    }

    static Outcome retry(String reason, Duration after) {
        return new Retry(Fault.of("retry", reason), after);
    }

    static Outcome rejected(String reason) {
        return new Rejected(Fault.of("rejected", reason));
    }

    static Outcome unavailable(String reason) {
        return new Unavailable(Fault.of("unavailable", reason), null);
    }

    static Outcome unavailable(String reason, Duration after) {
        return new Unavailable(Fault.of("unavailable", reason), after);
    }

    /** The destination wants no more messages: the relay pauses the subscription until an operator resumes it. */
    static Outcome gone(String reason) {
        return new Unavailable(Fault.of("gone", reason), null, true);
    }
}
