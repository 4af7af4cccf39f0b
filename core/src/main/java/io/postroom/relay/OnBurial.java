package io.postroom.relay;

import java.util.Locale;

/** What becomes of a key when one of its messages was buried. */
public enum OnBurial {
    /** Its later messages are delivered. */
    CONTINUE,
    /** Its later messages are parked until an operator redrives or discards the dead letter. */
    HOLD;

    String word() {
        return name().toLowerCase(Locale.ROOT);
    }
}
