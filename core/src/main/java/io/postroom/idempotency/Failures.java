package io.postroom.idempotency;

/** Which failures are answers to be given again. What a failure has changed is rolled back in any case, as after an exception. */
public enum Failures {
    /** None: asked again, it is tried again. */
    TRIED_AGAIN,
    /** 4xx, which would be no better the next time. 5xx are tried again. */
    CLIENT_ERRORS_STORED,
    /** 4xx and 5xx. */
    STORED;

    boolean stores(Answer answer) {
        return !answer.isFailure() || this == STORED || this == CLIENT_ERRORS_STORED && answer.status() < 500;
    }
}
