package io.postroom.subscription;

import io.postroom.PostroomException;

/** There is no subscription of that name. */
public final class UnknownSubscriptionException extends PostroomException {
    private static final long serialVersionUID = 1L;

    private final String name;

    UnknownSubscriptionException(String name, String message) {
        super("subscription.unknown", message);
        this.name = name;
    }

    /** The name as it was given. */
    public String name() {
        return name;
    }
}
