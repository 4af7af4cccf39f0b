package io.postroom.relay;

import java.util.Objects;

/** Thrown by a {@link Handler} that knows more than that it failed: that trying again cannot help, or when it can. */
public final class OutcomeException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final transient Outcome outcome;

    public OutcomeException(Outcome outcome) {
        super(outcome.toString());
        this.outcome = Objects.requireNonNull(outcome, "outcome");
    }

    public Outcome outcome() {
        return outcome;
    }
}
