package io.postroom.idempotency;

import io.postroom.PostroomException;

/** Somebody else goes on with the steps of this key, or an operator took it away. Thrown inside a procedure to stop it at once. */
public final class LeaseLostException extends PostroomException {
    private static final long serialVersionUID = 1L;

    LeaseLostException(IdempotencyKey key, long fence, String step) {
        super(
                "idempotency.lease-lost",
                "could not do step " + step + " of " + key + ": fence " + fence
                        + " is stale, another goes on with this key; what this step changed is rolled back");
    }
}
