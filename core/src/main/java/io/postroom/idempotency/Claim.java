package io.postroom.idempotency;

import java.time.Duration;
import java.time.OffsetDateTime;
import org.jspecify.annotations.Nullable;

/**
 * What is known about a key, and whether this transaction has the right to do its command. Its state is that of its row, or
 *
 * <ul>
 *   <li>{@code free}: nobody has it, the caller does until its transaction ends
 *   <li>{@code busy}: another transaction has it, has taken it over just now, or purges it
 * </ul>
 *
 * @param leased whether somebody who is alive goes on with its steps
 * @param began when the transaction began in which it was asked
 */
record Claim(
        String state,
        boolean same,
        boolean leased,
        @Nullable Answer answer,
        long fence,
        @Nullable String recovery,
        OffsetDateTime began) {
    /** How soon it is worth asking again: most commands take far less. */
    private static final Duration RETRY_AFTER = Duration.ofSeconds(1);

    /** Nobody has it but this transaction. */
    boolean isFree() {
        return state.equals("free");
    }

    /** Its steps were left in the middle, and only this transaction may go on with them. */
    boolean isLapsed() {
        return state.equals("running") && same && !leased;
    }

    /** What to answer if the command is not for us to do. */
    Outcome known() {
        if (state.equals("busy")) {
            return running();
        }
        if (!same) {
            return new Outcome.Mismatch();
        }
        return answer == null ? running() : new Outcome.Replayed(answer);
    }

    static Outcome running() {
        return new Outcome.Running(RETRY_AFTER);
    }
}
