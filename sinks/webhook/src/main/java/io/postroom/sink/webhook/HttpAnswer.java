package io.postroom.sink.webhook;

import org.jspecify.annotations.Nullable;

/** What an endpoint answered: the status decides, the excerpt of the body is for people, and untrusted. */
record HttpAnswer(int status, @Nullable String retryAfter, String excerpt, boolean reusable) {

    @Override
    public String toString() {
        return "answer " + status;
    }
}
