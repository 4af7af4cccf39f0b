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
    ACCEPTED(""),
    GONE("nothing is sent until somebody resumes the subscription"),
    UNAVAILABLE("sending waits until the endpoint is back"),
    UNAUTHORIZED("check the secrets and headers that it is sent; sending waits until the endpoint takes them"),
    RETRY("it will be tried again"),
    REJECTED("trying it again cannot help");

    private static final Set<Integer> OVERLOADED = Set.of(429, 502, 503, 504);
    private static final Set<Integer> CREDENTIALS_REFUSED = Set.of(401, 407);
    private static final Set<Integer> CLIENT_ERRORS_WORTH_RETRYING =
            Set.of(402, 403, 404, 405, 408, 409, 421, 423, 424, 425);

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
