package io.postroom.source;

/** Another process has gone further in the partition meanwhile: what this one was about to commit may be a dead letter by now. */
final class OvertakenException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final long next;

    OvertakenException(long next) {
        super("another process is at offset " + next, null, false, false);
        this.next = next;
    }

    long next() {
        return next;
    }
}
