package io.postroom.idempotency.http;

import io.postroom.idempotency.Answer;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What to send to the client. Immutable.
 *
 * @param executed whether the handler of this very request made it: then the adapter may add what is for this response only, such as a
 *     cookie
 */
public record Reply(int status, Map<String, String> headers, byte[] body, boolean executed) {
    /** Says that the handler did not run for this response. */
    public static final String REPLAYED = "Idempotent-Replayed";

    public Reply {
        headers = Collections.unmodifiableMap(new LinkedHashMap<>(headers));
        body = body.clone();
    }

    @Override
    public byte[] body() {
        return body.clone();
    }

    static Reply executed(Answer answer) {
        return new Reply(answer.status(), answer.headers(), answer.body(), true);
    }

    static Reply replayed(Answer answer) {
        Map<String, String> headers = new LinkedHashMap<>(answer.headers());
        headers.put(REPLAYED, "true");
        return new Reply(answer.status(), headers, answer.body(), false);
    }
}
