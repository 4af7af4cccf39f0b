package io.postroom.idempotency;

/** Carries what application code has thrown, as it is, through code that may throw nothing of the kind. */
final class Carried extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Carried(Exception cause) {
        super(null, cause, false, false);
    }

    /** What was thrown. Whoever calls knows that it was thrown by something that declares E, or is unchecked. */
    @SuppressWarnings("unchecked")
    <E extends Exception> E unwrap() {
        return (E) getCause();
    }
}
