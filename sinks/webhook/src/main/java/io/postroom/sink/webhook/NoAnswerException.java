package io.postroom.sink.webhook;

import java.io.IOException;

/** The endpoint was asked and gave no usable answer; it may have taken the message. The message is a fact fit for operators. */
final class NoAnswerException extends IOException {
    private static final long serialVersionUID = 1L;

    private final String errorClass;
    private final boolean silent;

    NoAnswerException(String errorClass, String fact, boolean silent) {
        super(fact);
        this.errorClass = errorClass;
        this.silent = silent;
    }

    String errorClass() {
        return errorClass;
    }

    /** Not one byte came back: on a connection that was used before, the endpoint had closed it meanwhile. */
    boolean silent() {
        return silent;
    }
}
