package io.postroom.idempotency;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The session of PostgreSQL whose command has a key just now. There is nothing else of it before it ends.
 *
 * @param login null if whoever asks may not know
 * @param since when its transaction began; null if whoever asks may not know
 */
public record KeyHolder(
        int pid,
        @Nullable String login,
        @Nullable String application,
        @Nullable Instant since) {
    /** A sentence for an operator. */
    @Override
    public String toString() {
        return "session " + pid + (login == null ? "" : " of " + login)
                + (application == null || application.isEmpty() ? "" : " (" + application + ")") + " has it"
                + (since == null ? "" : " since " + since) + "; to end it: select pg_terminate_backend(" + pid + ")";
    }
}
