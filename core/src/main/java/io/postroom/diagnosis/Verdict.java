package io.postroom.diagnosis;

import java.util.Locale;

/** What an answer means for whoever waits for a message; the worst comes first. */
public enum Verdict {
    /** No committed message has this id, as far as was searched. */
    NOT_FOUND,
    /** It goes no further until somebody does something. */
    STUCK,
    /** It will be delivered without anybody doing anything. */
    ON_ITS_WAY,
    /** It was delivered, or is not wanted: nothing more will happen to it. */
    DONE;

    /** As programs read it: {@code on-its-way}. */
    public String word() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
