package io.postroom.source;

import java.util.Locale;

/** Who brings the messages of a subscription. */
public enum ServedBy {
    /** Relays, from the journal. */
    POSTGRES,
    /** A source, from Kafka. */
    KAFKA;

    /** As it is stored and written. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    static ServedBy of(String word) {
        return valueOf(word.toUpperCase(Locale.ROOT));
    }
}
