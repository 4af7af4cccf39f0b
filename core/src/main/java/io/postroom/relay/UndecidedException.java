package io.postroom.relay;

import java.util.function.Supplier;

/**
 * A projection failed, and only when its transaction is over can it be known why: its messages, or what others did at the same time.
 */
public final class UndecidedException extends Exception {
    private static final long serialVersionUID = 1L;

    private final transient Supplier<Exception> reason;

    /** @param reason finds out what the projection has failed of; asked once, after the rollback */
    public UndecidedException(Exception thrown, Supplier<Exception> reason) {
        super(thrown);
        this.reason = reason;
    }

    Exception reason() {
        return reason.get();
    }
}
