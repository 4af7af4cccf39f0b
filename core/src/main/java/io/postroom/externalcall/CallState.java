package io.postroom.externalcall;

import java.util.Locale;

/** How an external call stands. */
public enum CallState {
    /** An attempt is on its way, or nobody knows how the last one ended. It is called again, with the same key. */
    CALLING,
    /** It has happened. */
    DONE,
    /** It has not happened and never will under this key. Only now may there be another revision. */
    DECLINED,
    /** Nobody knows, and the provider may have forgotten the key. Nobody calls until it is reconciled. */
    NEEDS_RECONCILIATION;

    /** As it is stored and shown. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Whether it stays so for good. */
    public boolean isFinal() {
        return this == DONE || this == DECLINED;
    }

    static CallState of(String word) {
        return valueOf(word.toUpperCase(Locale.ROOT));
    }
}
