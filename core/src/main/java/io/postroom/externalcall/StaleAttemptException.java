package io.postroom.externalcall;

import io.postroom.PostroomException;

/** Another attempt has begun since, or the call has ended. Nothing was written; what the provider did stays done under the same key. */
public final class StaleAttemptException extends PostroomException {
    private static final long serialVersionUID = 1L;

    StaleAttemptException(ExternalCall attempt, String verb) {
        super(
                "externalcall.attempt-stale",
                "could not note external call " + attempt.key() + " as " + verb + ": fence " + attempt.fence()
                        + " is stale, another attempt began or the call has ended; roll back, and ask again how it stands");
    }
}
