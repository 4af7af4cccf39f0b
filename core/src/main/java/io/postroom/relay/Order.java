package io.postroom.relay;

import java.util.Locale;

/** What a subscription keeps in order. */
public enum Order {
    /** Messages of one key, in the order in which their transactions committed, where those exclude each other. */
    KEY,
    /** Nothing: a message that fails holds up no other. */
    NONE;

    String word() {
        return name().toLowerCase(Locale.ROOT);
    }
}
