package io.postroom.lock;

import io.postroom.PostroomException;

/** Somebody else may act under this name by now. Whatever the transaction has changed must be rolled back. */
public final class LeaseLostException extends PostroomException {
    private static final long serialVersionUID = 1L;

    private final String name;
    private final long fence;

    LeaseLostException(String name, long fence, String fact) {
        super(
                "lock.lease-lost",
                "could not go on under lease " + LockName.shown(name) + " with fence " + fence + ": " + fact
                        + "; roll back and stop");
        this.name = name;
        this.fence = fence;
    }

    public String name() {
        return name;
    }

    public long fence() {
        return fence;
    }
}
