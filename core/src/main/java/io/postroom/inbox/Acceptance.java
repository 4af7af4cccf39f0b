package io.postroom.inbox;

import java.util.Locale;

/** What an inbox answers for a message. */
public enum Acceptance {
    /** Nobody has accepted it for this consumer: it must take effect in this transaction. */
    FIRST,
    /** It was accepted before, so it has taken effect; or it stands earlier in the same batch. */
    DUPLICATE,
    /** Its id was accepted with another payload. One of the two is not what it says it is: nothing must happen. */
    CONFLICT;

    /** The word that SQL and telemetry use. */
    String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    static Acceptance of(String word) {
        return valueOf(word.toUpperCase(Locale.ROOT));
    }
}
