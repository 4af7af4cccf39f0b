package io.postroom.idempotency.http;

import io.postroom.idempotency.Answer;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/** Rolls a transaction back and carries out of it what its command answered or threw. */
final class Undone extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final transient @Nullable Answer answer;

    Undone(@Nullable Answer answer, @Nullable Exception thrown) {
        super(null, thrown, false, false);
        this.answer = answer;
    }

    static Answer carried(Callable<Answer> command) {
        try {
            return command.call();
        } catch (Exception e) {
            throw new Undone(null, e);
        }
    }

    /** What was answered; throws what was thrown. */
    @SuppressWarnings("unchecked")
    <E extends Exception> Answer answer() throws E {
        if (getCause() != null) {
            throw (E) getCause();
        }
        return Objects.requireNonNull(answer);
    }
}
