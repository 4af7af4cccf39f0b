package io.postroom.source;

import io.postroom.PostroomException;

/** The subscription of this name is served from somewhere else now: nothing was applied, and nothing is until it is moved back. */
public final class NotServedException extends PostroomException {
    private static final long serialVersionUID = 1L;

    NotServedException(String consumer, String servedBy) {
        super(
                "source.not-served",
                "could not receive for consumer " + consumer + ": subscription " + consumer + " is served by "
                        + servedBy + "; it goes on when it is moved with postroom subscription move");
    }
}
