package io.postroom.idempotency;

import io.postroom.PostroomException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A multipart body as canonical JSON, so that the boundary, which is another one each time, does not count.
 *
 * <p>It is an object: the name of each part, and the list of what came under it in its order. A part without a file name is its
 * text; one with a file name, or that is not UTF-8, is {@code {"filename":…,"sha256":…,"type":…}}.
 */
final class CanonicalMultipart {
    private static final Pattern PARAMETER =
            Pattern.compile(";\\s*([A-Za-z0-9_*-]+)\\s*=\\s*(?:\"((?:[^\"\\\\]|\\\\.)*+)\"|([^\\s;\"]+))");
    private static final int BOUNDARY_LENGTH_MAX = 70;
    private static final String HEADERS_END = "\r\n\r\n";

    private CanonicalMultipart() {}

    static String of(String contentType, byte[] body) {
        String boundary = parameters(contentType).get("boundary");
        if (boundary == null || boundary.isEmpty() || boundary.length() > BOUNDARY_LENGTH_MAX) {
            throw refused("its Content-Type has no boundary of 1 to " + BOUNDARY_LENGTH_MAX + " characters");
        }
        Map<String, List<String>> values = new HashMap<>();
        for (String part : parts(body, boundary)) {
            add(values, part);
        }
        // Names and values are JSON already; reading them once more sorts the names.
        List<String> members = new ArrayList<>();
        values.forEach((name, list) -> members.add(name + ":[" + String.join(",", list) + "]"));
        return CanonicalJson.of(("{" + String.join(",", members) + "}").getBytes(StandardCharsets.US_ASCII));
    }

    /** Each part with its headers, a character for each byte. */
    private static List<String> parts(byte[] body, String boundary) {
        // A line break before it, so that the first delimiter is found like the others.
        String text = "\r\n" + new String(body, StandardCharsets.ISO_8859_1);
        String delimiter =
                "\r\n--" + new String(boundary.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
        List<String> parts = new ArrayList<>();
        int at = text.indexOf(delimiter);
        while (at >= 0) {
            int from = at + delimiter.length();
            if (text.startsWith("--", from)) {
                return parts;
            }
            int line = text.indexOf("\r\n", from);
            int next = line < 0 ? -1 : text.indexOf(delimiter, line);
            if (next < 0) {
                break;
            }
            if (parts.size() == CanonicalHash.PARTS_MAX) {
                throw refused("it has more than " + CanonicalHash.PARTS_MAX + " parts");
            }
            parts.add(text.substring(line, next));
            at = next;
        }
        throw refused("its last boundary is missing");
    }

    private static void add(Map<String, List<String>> values, String part) {
        int end = part.indexOf(HEADERS_END);
        if (end < 0) {
            throw refused("a part has no empty line after its headers");
        }
        if (end > CanonicalHash.PART_HEADERS_BYTES_MAX) {
            throw refused("the headers of a part are " + end + " bytes, the limit is "
                    + CanonicalHash.PART_HEADERS_BYTES_MAX);
        }
        Map<String, String> headers = headers(part.substring(0, end));
        byte[] content = part.substring(end + HEADERS_END.length()).getBytes(StandardCharsets.ISO_8859_1);
        Map<String, String> disposition = parameters(headers.getOrDefault("content-disposition", ""));
        String name = disposition.getOrDefault("name", "");
        String file = disposition.getOrDefault("filename*", disposition.get("filename"));
        String text = file == null ? decode(content) : null;
        StringBuilder value = new StringBuilder();
        if (text != null) {
            CanonicalJson.quote(value, text);
        } else {
            CanonicalJson.quote(value.append("{\"filename\":"), file == null ? "" : file);
            value.append(",\"sha256\":\"").append(CanonicalHash.hex(CanonicalHash.sha256(content)));
            CanonicalJson.quote(value.append("\",\"type\":"), CanonicalHash.mediaType(headers.get("content-type")));
            value.append('}');
        }
        StringBuilder quoted = new StringBuilder();
        CanonicalJson.quote(quoted, name);
        values.computeIfAbsent(quoted.toString(), ignored -> new ArrayList<>()).add(value.toString());
    }

    private static Map<String, String> headers(String text) {
        Map<String, String> headers = new HashMap<>();
        for (String line : text.split("\r\n")) {
            int colon = line.indexOf(':');
            if (colon > 0) {
                String utf8 = decode(line.substring(colon + 1).getBytes(StandardCharsets.ISO_8859_1));
                headers.put(
                        line.substring(0, colon).strip().toLowerCase(Locale.ROOT),
                        utf8 == null ? line.substring(colon + 1) : utf8);
            }
        }
        return headers;
    }

    private static Map<String, String> parameters(String header) {
        Map<String, String> parameters = new HashMap<>();
        Matcher matcher = PARAMETER.matcher(header);
        while (matcher.find()) {
            String value = matcher.group(2) == null
                    ? matcher.group(3)
                    : matcher.group(2).replaceAll("\\\\(.)", "$1");
            parameters.putIfAbsent(matcher.group(1).toLowerCase(Locale.ROOT), value);
        }
        return parameters;
    }

    private static @Nullable String decode(byte[] bytes) {
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString();
        } catch (CharacterCodingException e) {
            return null;
        }
    }

    private static PostroomException refused(String fact) {
        return CanonicalHash.refused("not-multipart", fact + "; check how it was made");
    }
}
