package io.postroom.idempotency;

import io.postroom.PostroomException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * One part of a multipart body that was read whole, as the canonical hash sees it.
 *
 * @param name the name of the form's field, empty if there is none
 * @param fileName what the client calls the file; null if it is none. Never a path to be trusted
 * @param headers the part's headers, their names in lower case
 */
public record MultipartPart(String name, @Nullable String fileName, Map<String, String> headers, byte[] content) {
    private static final Pattern PARAMETER =
            Pattern.compile(";\\s*([A-Za-z0-9_*-]+)\\s*=\\s*(?:\"((?:[^\"\\\\]|\\\\.)*+)\"|([^\\s;\"]+))");
    private static final int BOUNDARY_LENGTH_MAX = 70;
    private static final String HEADERS_END = "\r\n\r\n";

    public MultipartPart {
        headers = Collections.unmodifiableMap(new LinkedHashMap<>(headers));
    }

    /** The parts of a body in their order; what is no multipart body is refused. */
    public static List<MultipartPart> read(String contentType, byte[] body) {
        String boundary = parameters(contentType).get("boundary");
        if (boundary == null || boundary.isEmpty() || boundary.length() > BOUNDARY_LENGTH_MAX) {
            throw refused("its Content-Type has no boundary of 1 to " + BOUNDARY_LENGTH_MAX + " characters");
        }
        // A character for each byte, and a line break before it, so that the first delimiter is found like the others.
        String text = "\r\n" + new String(body, StandardCharsets.ISO_8859_1);
        String delimiter =
                "\r\n--" + new String(boundary.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
        List<MultipartPart> parts = new ArrayList<>();
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
            parts.add(of(text.substring(line, next)));
            at = next;
        }
        throw refused("its last boundary is missing");
    }

    private static MultipartPart of(String part) {
        int end = part.indexOf(HEADERS_END);
        if (end < 0) {
            throw refused("a part has no empty line after its headers");
        }
        if (end > CanonicalHash.PART_HEADERS_BYTES_MAX) {
            throw refused("the headers of a part are " + end + " bytes, the limit is "
                    + CanonicalHash.PART_HEADERS_BYTES_MAX);
        }
        Map<String, String> headers = headers(part.substring(0, end));
        Map<String, String> disposition = parameters(headers.getOrDefault("content-disposition", ""));
        return new MultipartPart(
                disposition.getOrDefault("name", ""),
                disposition.getOrDefault("filename*", disposition.get("filename")),
                headers,
                part.substring(end + HEADERS_END.length()).getBytes(StandardCharsets.ISO_8859_1));
    }

    private static Map<String, String> headers(String text) {
        Map<String, String> headers = new LinkedHashMap<>();
        for (String line : text.split("\r\n")) {
            int colon = line.indexOf(':');
            if (colon > 0) {
                String value = line.substring(colon + 1).strip();
                String utf8 = decode(value.getBytes(StandardCharsets.ISO_8859_1));
                headers.put(line.substring(0, colon).strip().toLowerCase(Locale.ROOT), utf8 == null ? value : utf8);
            }
        }
        return headers;
    }

    private static Map<String, String> parameters(String header) {
        Map<String, String> parameters = new LinkedHashMap<>();
        Matcher matcher = PARAMETER.matcher(header);
        while (matcher.find()) {
            String value = matcher.group(2) == null
                    ? matcher.group(3)
                    : matcher.group(2).replaceAll("\\\\(.)", "$1");
            parameters.putIfAbsent(matcher.group(1).toLowerCase(Locale.ROOT), value);
        }
        return parameters;
    }

    /** The content of a field; null if it is a file, or not UTF-8. */
    public @Nullable String text() {
        return fileName == null ? decode(content) : null;
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
