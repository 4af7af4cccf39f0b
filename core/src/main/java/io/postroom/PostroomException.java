package io.postroom;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The root of everything Postroom throws for its own reasons, with a stable code for programs and a sentence for operators.
 *
 * <p>The message has the form "could not do this to that: the fact, with value and limit; what happens next or what to do".
 * It never carries a payload or a secret.
 */
public class PostroomException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final String code;

    public PostroomException(String code, String message) {
        this(code, message, null);
    }

    public PostroomException(String code, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.code = Objects.requireNonNull(code);
    }

    /** A name that stays the same over releases, such as {@code message.payload-too-large}. */
    public final String code() {
        return code;
    }
}
