package io.postroom.source;

/** The projection failed, and nothing was written. */
final class NotAppliedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    NotAppliedException(Throwable cause) {
        super(cause);
    }
}
