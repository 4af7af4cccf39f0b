package io.postroom.sink.webhook;

import java.io.IOException;

/** The endpoint could not be asked: whatever the message was, it would have failed. The message is a fact fit for operators. */
final class UnreachableException extends IOException {
    private static final long serialVersionUID = 1L;

    private final String errorClass;

    UnreachableException(String errorClass, String fact) {
        super(fact);
        this.errorClass = errorClass;
    }

    String errorClass() {
        return errorClass;
    }
}
