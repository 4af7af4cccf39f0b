package io.postroom.sink.webhook;

import java.util.Set;

/**
 * What an HTTP status means for a message.
 *
 * <p>{@code Unavailable} stops the whole subscription, so it is given only where the answer is surely not about one message: the
 * endpoint has trouble with everything, or does not take our credentials, which are the same for all. A redirect, a missing path
 * and what is forbidden are {@code Retry}: a firewall or a careless endpoint may say so of one message alone, and the others go
 * on. The table in this module's README is this class in words.
 */
enum Verdict {
    ACCEPTED("", ""),
    GONE("nothing is sent until somebody resumes the subscription", "the endpoint wants no more"),
    UNAVAILABLE("sending waits until the endpoint is back", "it waits for its next attempt"),
    UNAUTHORIZED(
            "check the secrets and headers that it is sent; sending waits until the endpoint takes them",
            "check the secrets and headers that it is sent"),
    RETRY("it will be tried again", "it waits for its next attempt"),
    REJECTED("trying it again cannot help", "trying it again cannot help");

    private static final Set<Integer> OVERLOADED = Set.of(429, 502, 503, 504);
    private static final Set<Integer> CREDENTIALS_REFUSED = Set.of(401, 407);
    private static final Set<Integer> CLIENT_ERRORS_WORTH_RETRYING =
            Set.of(402, 403, 404, 405, 408, 409, 421, 423, 424, 425);

    private final String consequence;
    private final String consequenceAlone;

    Verdict(String consequence, String consequenceAlone) {
        this.consequence = consequence;
        this.consequenceAlone = consequenceAlone;
    }

    /** What happens next, for the end of a reason. */
    String consequence() {
        return consequence;
    }

    /** The same for what belongs to no subscription: nobody else waits with it. */
    String consequenceAlone() {
        return consequenceAlone;
    }

    static Verdict of(int status) {
        if (status >= 200 && status < 300) {
            return ACCEPTED;
        }
        if (status == 410) {
            return GONE;
        }
        if (OVERLOADED.contains(status)) {
            return UNAVAILABLE;
        }
        if (CREDENTIALS_REFUSED.contains(status)) {
            return UNAUTHORIZED;
        }
        boolean rejected = status >= 400 && status < 500 && !CLIENT_ERRORS_WORTH_RETRYING.contains(status);
        return rejected ? REJECTED : RETRY;
    }
}
