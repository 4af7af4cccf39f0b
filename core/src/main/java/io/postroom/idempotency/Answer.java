package io.postroom.idempotency;

import io.postroom.PostroomException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What a request is answered: an HTTP status, headers and the bytes of a body. It is given again as it is, so it holds nothing that
 * belongs to one response only. Immutable.
 *
 * @param status 200 to 599; from 400 on it is a failure, and {@link Failures} says what becomes of it
 * @param headers in their order; those that a replay repeats, never {@code Set-Cookie}
 */
public record Answer(int status, Map<String, String> headers, byte[] body) {
    /** What is larger cannot be replayed, so its command must not take effect. */
    public static final int BODY_BYTES_MAX = 1_048_576;

    public static final int HEADERS_MAX = 50;
    public static final int HEADERS_LENGTH_MAX = 16_384;

    private static final int FAILURE_MIN = 400;
    private static final Pattern NAME = Pattern.compile("[!#$%&'*+.^_`|~0-9A-Za-z-]+");
    private static final Set<String> NEVER = Set.of("set-cookie", "set-cookie2");

    public Answer {
        headers = Collections.unmodifiableMap(new LinkedHashMap<>(headers));
        body = body.clone();
        require(status >= 200 && status <= 599, "status is " + status + ", the range is 200 to 599");
        require(
                body.length <= BODY_BYTES_MAX,
                "its body is " + body.length + " bytes, the limit is " + BODY_BYTES_MAX
                        + "; answer with less or with a link");
        require(headers.size() <= HEADERS_MAX, "it has " + headers.size() + " headers, the limit is " + HEADERS_MAX);
        int length = 0;
        Set<String> names = new TreeSet<>();
        for (Map.Entry<String, String> header : headers.entrySet()) {
            String name = header.getKey();
            require(NAME.matcher(name).matches(), "the name of a header has characters that HTTP does not allow");
            String lower = name.toLowerCase(Locale.ROOT);
            require(names.add(lower), "header " + name + " is there twice; join its values");
            require(!NEVER.contains(lower), "header " + name + " is for one response only; leave it out");
            require(
                    header.getValue().codePoints().noneMatch(Character::isISOControl),
                    "the value of header " + name + " has a control character");
            length += name.length() + header.getValue().length();
        }
        require(
                length <= HEADERS_LENGTH_MAX,
                "its headers are " + length + " characters, the limit is " + HEADERS_LENGTH_MAX);
    }

    /** An answer without headers. */
    public static Answer of(int status, String body) {
        return new Answer(status, Map.of(), body.getBytes(StandardCharsets.UTF_8));
    }

    /** An answer in JSON. */
    public static Answer json(int status, String body) {
        return new Answer(status, Map.of("Content-Type", "application/json"), body.getBytes(StandardCharsets.UTF_8));
    }

    /** Whether the status says that what was asked for was not done. */
    public boolean isFailure() {
        return status >= FAILURE_MIN;
    }

    @Override
    public byte[] body() {
        return body.clone();
    }

    /** The body as UTF-8. */
    public String text() {
        return new String(body, StandardCharsets.UTF_8);
    }

    private static void require(boolean fits, String fact) {
        if (!fits) {
            throw new PostroomException("idempotency.answer-invalid", "could not store the answer: " + fact);
        }
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Answer that
                && status == that.status
                && headers.equals(that.headers)
                && Arrays.equals(body, that.body);
    }

    @Override
    public int hashCode() {
        return status * 31 + Arrays.hashCode(body);
    }

    /** Without headers and body, which may say what no log should. */
    @Override
    public String toString() {
        return "answer " + status + " of " + body.length + " bytes";
    }
}
