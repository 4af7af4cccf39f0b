package io.postroom.sink.webhook;

import java.util.Set;

/**
 * What an HTTP status means for a message.
 *
 * <p>{@code Unavailable} stops the whole subscription, so it is given only where the endpoint says that it has trouble with
 * everything. Statuses that tell of a wrong set-up (a redirect, a missing path, a wrong key) are {@code Retry}: a person mends
 * them while the policy waits, and if one kind of message alone gets them, the others go on.
 */
enum Verdict {
    ACCEPTED(""),
    DISABLE("nothing is sent until the endpoint is enabled again"),
    UNAVAILABLE("sending waits until the endpoint is back"),
    RETRY("it will be tried again"),
    REJECTED("trying it again cannot help");

    private static final Set<Integer> OVERLOADED = Set.of(429, 502, 503, 504);
    private static final Set<Integer> CLIENT_ERRORS_WORTH_RETRYING =
            Set.of(401, 402, 403, 404, 405, 407, 408, 409, 421, 423, 424, 425);

    private final String consequence;

    Verdict(String consequence) {
        this.consequence = consequence;
    }

    /** What happens next, for the end of a reason. */
    String consequence() {
        return consequence;
    }

    static Verdict of(int status) {
        if (status >= 200 && status < 300) {
            return ACCEPTED;
        }
        if (status == 410) {
            return DISABLE;
        }
        if (OVERLOADED.contains(status)) {
            return UNAVAILABLE;
        }
        boolean rejected = status >= 400 && status < 500 && !CLIENT_ERRORS_WORTH_RETRYING.contains(status);
        return rejected ? REJECTED : RETRY;
    }
}
