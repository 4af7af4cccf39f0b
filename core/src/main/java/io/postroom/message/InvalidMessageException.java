package io.postroom.message;

import io.postroom.PostroomException;
import org.jspecify.annotations.Nullable;

/** A message that breaks a rule of {@link MessageRules}. It was refused before anything was written. */
public final class InvalidMessageException extends PostroomException {
    private static final long serialVersionUID = 1L;

    public InvalidMessageException(String code, String message) {
        super(code, message);
    }

    InvalidMessageException(String code, String message, @Nullable Throwable cause) {
        super(code, message, cause);
    }
}
