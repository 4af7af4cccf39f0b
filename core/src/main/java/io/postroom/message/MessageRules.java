package io.postroom.message;

import java.time.Instant;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The limits of a message, checked before any SQL runs. Nothing is ever cut to fit.
 *
 * <p>The SQL function {@code publish} has the same rules and the same codes; one table of bad inputs tests both.
 */
public final class MessageRules {
    public static final int NAME_LENGTH_MAX = 200;
    public static final int AGGREGATE_ID_LENGTH_MAX = 500;
    public static final int TENANT_ID_LENGTH_MAX = 200;
    public static final int PAYLOAD_BYTES_MAX = 1_048_576;
    public static final int HEADERS_MAX = 64;
    public static final int HEADER_NAME_LENGTH_MAX = 100;
    public static final int HEADER_VALUE_BYTES_MAX = 8_192;
    public static final int HEADERS_BYTES_MAX = 32_768;

    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9_.:/-]*");
    private static final Pattern HEADER_NAME = Pattern.compile("[A-Za-z0-9_.-]+");
    private static final Set<String> TRACE = Set.of("traceparent", "tracestate");
    private static final UUID NIL = new UUID(0, 0);
    private static final Instant YEAR_ONE = Instant.parse("0001-01-01T00:00:00Z");
    private static final Instant YEAR_9999 = Instant.parse("9999-12-31T23:59:59.999999Z");

    private MessageRules() {}

    /**
     * The rules for a message that is to be published. Throws an {@link InvalidMessageException} that names the value, the limit
     * and what to do. A trace is not counted among the headers: whoever is given as many as may be, and works within one, can pass them on.
     */
    public static void check(Message message) {
        checkFacts(message);
        checkHeaders(message, message.headers());
    }

    /** The rules for a message that came back from outside, with what Postroom added to its headers. */
    public static void checkReceived(Message message) {
        checkFacts(message);
        checkHeaders(message, OwnHeaders.without(message.headers()));
        PayloadHash.check(message);
    }

    /**
     * Of headers that came from outside, those that a message can have, and Postroom's own: whoever stands beside the publisher or on the
     * way, a tracing agent say, may have added what no outbox takes. Of too many the first stay, and the trace.
     */
    public static Map<String, String> fitting(Map<String, String> headers) {
        Map<String, String> fitting = new LinkedHashMap<>();
        int others = 0;
        long bytes = 1;
        for (Map.Entry<String, String> header : headers.entrySet()) {
            String name = header.getKey();
            String value = header.getValue();
            if (OwnHeaders.has(name) || TRACE.contains(name) && isHeader(name, value)) {
                fitting.put(name, value);
            } else if (others < HEADERS_MAX
                    && isHeader(name, value)
                    && bytes + jsonLength(header) <= HEADERS_BYTES_MAX) {
                fitting.put(name, value);
                others++;
                bytes += jsonLength(header);
            }
        }
        return fitting;
    }

    private static boolean isHeader(String name, String value) {
        return isHeaderName(name) && isHeaderText(value) && utf8Length(value) <= HEADER_VALUE_BYTES_MAX;
    }

    private static void checkFacts(Message message) {
        String name = "1 to 200 letters, digits or _ . : / -, beginning with a letter or digit";
        checkThat(
                isName(message.aggregateType()),
                message,
                "aggregate-type-invalid",
                () -> "aggregate type is " + quote(message.aggregateType()) + ", it must be " + name);
        checkThat(
                isText(message.aggregateId(), AGGREGATE_ID_LENGTH_MAX),
                message,
                "aggregate-id-invalid",
                () -> "aggregate id is " + quote(message.aggregateId())
                        + ", it must be 1 to 500 characters without control characters");
        checkThat(
                isName(message.eventType()),
                message,
                "event-type-invalid",
                () -> "event type is " + quote(message.eventType()) + ", it must be " + name);
        String tenant = message.tenantId();
        checkThat(
                tenant == null || isText(tenant, TENANT_ID_LENGTH_MAX),
                message,
                "tenant-id-invalid",
                () -> "tenant id is " + quote(tenant) + ", it must be 1 to 200 characters without control characters");
        Long version = message.aggregateVersion();
        checkThat(
                version == null || version >= 0,
                message,
                "aggregate-version-invalid",
                () -> "aggregate version is " + version + ", the least is 0");
        checkThat(
                message.eventVersion() >= 1,
                message,
                "event-version-invalid",
                () -> "event version is " + message.eventVersion() + ", the least is 1");
        checkThat(
                !message.id().equals(NIL),
                message,
                "id-invalid",
                () -> "id is the nil UUID; leave it out or give a real one");
        checkThat(
                isTime(message.occurredAt()),
                message,
                "occurred-at-invalid",
                () -> "occurred at is " + message.occurredAt() + ", the range is year 1 to 9999");
        checkThat(
                isTime(message.availableAt()),
                message,
                "available-at-invalid",
                () -> "available at is " + message.availableAt() + ", the range is year 1 to 9999");
        PayloadRules.check(message);
    }

    private static void checkHeaders(Message message, Map<String, String> headers) {
        Map<String, String> counted = new HashMap<>(headers);
        counted.keySet().removeAll(TRACE);
        long total =
                counted.entrySet().stream().mapToLong(MessageRules::jsonLength).sum();
        checkThat(
                total + 1 <= HEADERS_BYTES_MAX || counted.isEmpty(),
                message,
                "headers-too-large",
                () -> "headers are " + (total + 1) + " bytes as JSON, the limit is " + HEADERS_BYTES_MAX);
        checkThat(
                counted.size() <= HEADERS_MAX,
                message,
                "headers-too-many",
                () -> "there are " + counted.size() + " headers, the limit is " + HEADERS_MAX);
        for (Map.Entry<String, String> header : headers.entrySet()) {
            String name = header.getKey();
            checkThat(
                    isHeaderName(name),
                    message,
                    "header-name-invalid",
                    () -> "header name is " + quote(name) + ", it must be 1 to 100 letters, digits or _ . -");
            checkThat(
                    !OwnHeaders.has(name),
                    message,
                    "header-name-reserved",
                    () -> "header name is " + quote(name) + ", names that begin with " + OwnHeaders.PREFIX
                            + " are Postroom's own; choose another, and leave these out when you pass headers on");
            String value = header.getValue();
            checkThat(
                    isHeaderText(value),
                    message,
                    "header-value-invalid",
                    () -> "header " + name
                            + " has a control character or half of a surrogate pair; leave it out or encode it");
            int bytes = utf8Length(value);
            checkThat(
                    bytes <= HEADER_VALUE_BYTES_MAX,
                    message,
                    "header-value-too-large",
                    () -> "header " + name + " is " + bytes + " bytes, the limit is " + HEADER_VALUE_BYTES_MAX);
        }
    }

    private static boolean isHeaderName(String name) {
        return name.length() <= HEADER_NAME_LENGTH_MAX
                && HEADER_NAME.matcher(name).matches();
    }

    private static boolean isHeaderText(String value) {
        return isUnicode(value) && hasNoControl(value);
    }

    /** With quotes, colon and comma. */
    private static long jsonLength(Map.Entry<String, String> header) {
        return jsonLength(header.getKey()) + jsonLength(header.getValue()) + 6L;
    }

    /** The size of a text within quotes, as {@link HeaderText} writes it. */
    private static int jsonLength(String text) {
        int escapes = 0;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            escapes += c == '"' || c == '\\' ? 1 : c < 0x20 ? 5 : 0;
        }
        return utf8Length(text) + escapes;
    }

    static void checkThat(boolean holds, Message message, String code, Supplier<String> problem) {
        if (!holds) {
            throw broken(message, code, problem.get());
        }
    }

    static InvalidMessageException broken(Message message, String code, String problem) {
        return new InvalidMessageException(
                "message." + code, "could not publish message " + message.id() + ": " + problem);
    }

    static int utf8Length(String text) {
        int bytes = 0;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            // Each half of a surrogate pair stands for two of the pair's four bytes.
            bytes += c < 0x80 ? 1 : c < 0x800 || Character.isSurrogate(c) ? 2 : 3;
        }
        return bytes;
    }

    /** False if half of a surrogate pair stands alone. */
    static boolean isUnicode(String text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (Character.isSurrogate(c)) {
                boolean pair = Character.isHighSurrogate(c)
                        && i + 1 < text.length()
                        && Character.isLowSurrogate(text.charAt(i + 1));
                if (!pair) {
                    return false;
                }
                i++;
            }
        }
        return true;
    }

    static boolean isName(String text) {
        return text.length() <= NAME_LENGTH_MAX && NAME.matcher(text).matches();
    }

    private static boolean isText(String text, int lengthMax) {
        return !text.isEmpty()
                && text.codePointCount(0, text.length()) <= lengthMax
                && hasNoControl(text)
                && isUnicode(text);
    }

    private static boolean hasNoControl(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (isControl(text.charAt(i))) {
                return false;
            }
        }
        return true;
    }

    private static boolean isControl(int c) {
        return c < 0x20 || c >= 0x7f && c < 0xa0;
    }

    private static boolean isTime(@Nullable Instant time) {
        return time == null || !time.isBefore(YEAR_ONE) && !time.isAfter(YEAR_9999);
    }

    /** A value as an operator can read it: short, quoted, with nothing that could act on a terminal. */
    static String quote(@Nullable String text) {
        if (text == null) {
            return "null";
        }
        String shown = text.length() > 60 ? text.substring(0, 60) : text;
        String escaped = shown.codePoints()
                .mapToObj(c -> isControl(c) ? String.format("\\u%04x", c) : Character.toString(c))
                .reduce("", String::concat);
        return "'" + escaped + "'" + (text.length() > 60 ? " and so on, " + text.length() + " characters" : "");
    }
}
