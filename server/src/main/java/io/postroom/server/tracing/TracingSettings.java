package io.postroom.server.tracing;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;

/**
 * Where spans go, and which of them.
 *
 * @param endpoint of a collector; spans go to {@code /v1/traces} below it
 * @param headers sent with every request; they may be secrets
 * @param sample the share of deliveries that have a span
 */
public record TracingSettings(String endpoint, Map<String, String> headers, double sample, String serviceName) {
    private static final int SERVICE_NAME_LENGTH_MAX = 200;
    private static final int HEADERS_MAX = 32;
    private static final Pattern HEADER_NAME = Pattern.compile("[A-Za-z0-9!#$%&'*+.^_`|~-]+");
    private static final Pattern HEADER_VALUE = Pattern.compile("[\\x20-\\x7e]*");

    public TracingSettings {
        headers = Map.copyOf(headers);
    }

    /** The endpoint, if it is one. */
    public static String endpoint(String text) {
        try {
            URI uri = new URI(text);
            boolean http = "http".equals(uri.getScheme()) || "https".equals(uri.getScheme());
            if (http
                    && uri.getHost() != null
                    && uri.getRawUserInfo() == null
                    && uri.getRawQuery() == null
                    && uri.getRawFragment() == null) {
                return text.replaceAll("/+$", "");
            }
        } catch (URISyntaxException e) {
            // Said below, without what may be a password.
        }
        throw new IllegalArgumentException("it is not the address of a collector; write http://localhost:4318");
    }

    /** The share, if it is one. */
    public static double sample(String text) {
        double share = text.matches("\\d(\\.\\d{1,9})?") ? Double.parseDouble(text) : -1;
        if (share < 0 || share > 1) {
            throw new IllegalArgumentException("it is not a share; write 0 to 1, such as 0.1");
        }
        return share;
    }

    /** The name, if it can be one. */
    public static String serviceName(String text) {
        if (text.isBlank() || text.length() > SERVICE_NAME_LENGTH_MAX) {
            throw new IllegalArgumentException(
                    "it has " + text.length() + " characters, the range is 1 to " + SERVICE_NAME_LENGTH_MAX);
        }
        return text;
    }

    /** Throws if this cannot be a header, or would be one too many; says nothing of its value. */
    public static void checkHeader(String name, String value, int before) {
        if (before >= HEADERS_MAX
                || !HEADER_NAME.matcher(name).matches()
                || !HEADER_VALUE.matcher(value).matches()) {
            throw new IllegalArgumentException(
                    "a header is a name and a line of ASCII, and there are up to " + HEADERS_MAX);
        }
    }

    /** The path is that of the protocol. */
    String traces() {
        return Objects.requireNonNull(endpoint) + "/v1/traces";
    }

    /** Without the headers. */
    @Override
    public String toString() {
        return "tracing to " + endpoint;
    }
}
