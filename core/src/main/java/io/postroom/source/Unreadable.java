package io.postroom.source;

import io.postroom.retry.Fault;

/** What a source got that is no message. It is buried whole; a redrive reads it once more, as an operator may have patched it. */
public final class Unreadable {
    /** The error class of its dead letter. */
    public static final String ERROR_CLASS = "source.unreadable";

    private Unreadable() {}

    /** {@code why} says what is missing or wrong, and quotes no payload. */
    public static Fault fault(String why) {
        return Fault.of(ERROR_CLASS, why);
    }
}
