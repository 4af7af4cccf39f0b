package io.postroom.sink.webhook;

import io.postroom.PostroomException;
import java.util.List;

/** Settings that no webhook sink can be built from, every problem at once. Neither secrets nor the URL's path are repeated. */
public final class InvalidWebhookException extends PostroomException {
    private static final long serialVersionUID = 1L;

    private final List<String> problems;

    InvalidWebhookException(List<String> problems) {
        super("webhook.invalid", "could not build webhook sink: " + String.join("; ", problems));
        this.problems = List.copyOf(problems);
    }

    /** One sentence per problem. */
    public List<String> problems() {
        return problems;
    }
}
