package io.postroom.idempotency;

import io.postroom.PostroomException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Comparator;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.exc.StreamConstraintsException;
import tools.jackson.core.exc.StreamReadException;
import tools.jackson.core.json.JsonFactory;

/**
 * JSON as Python writes it with sorted keys and without whitespace: pure ASCII, everything else as {@code \\uXXXX}.
 *
 * <p>Keys are sorted by code point, as Python does, not by UTF-16 unit, as Java would: U+FF5E comes before U+1F600.
 */
final class CanonicalJson {
    private static final JsonFactory JSON = JsonFactory.builder()
            .streamReadConstraints(StreamReadConstraints.builder()
                    .maxNestingDepth(CanonicalHash.DEPTH_MAX)
                    .maxNumberLength(Integer.MAX_VALUE)
                    .maxStringLength(Integer.MAX_VALUE)
                    .maxNameLength(Integer.MAX_VALUE)
                    .build())
            // Which of two values is meant, readers do not agree on.
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .build();

    private static final Comparator<String> BY_CODE_POINT = CanonicalJson::compare;
    private static final char BYTE_ORDER_MARK = '\ufeff';

    private CanonicalJson() {}

    static String of(byte[] body) {
        String text = decode(body);
        StringBuilder canonical = new StringBuilder(text.length());
        try (JsonParser parser = JSON.createParser(ObjectReadContext.empty(), text)) {
            if (parser.nextToken() == null) {
                throw CanonicalHash.refused("not-json", "it has no JSON value; send one, or no media type of JSON");
            }
            write(canonical, parser);
            if (parser.nextToken() != null) {
                throw CanonicalHash.refused("not-json", "it has more than one JSON value; send one request for each");
            }
        } catch (StreamConstraintsException e) {
            throw CanonicalHash.refused(
                    "too-deep", "it is nested deeper than " + CanonicalHash.DEPTH_MAX + " levels; send it less deep");
        } catch (JacksonException e) {
            throw notJson(e);
        }
        return canonical.toString();
    }

    private static String decode(byte[] body) {
        try {
            String text = StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(body))
                    .toString();
            return !text.isEmpty() && text.charAt(0) == BYTE_ORDER_MARK ? text.substring(1) : text;
        } catch (CharacterCodingException e) {
            throw CanonicalHash.refused("not-unicode", "it is not UTF-8, which JSON must be; send it in UTF-8");
        }
    }

    /** Bounded by the depth that the parser allows. */
    private static void write(StringBuilder out, JsonParser parser) {
        JsonToken token = parser.currentToken();
        if (token == JsonToken.START_OBJECT) {
            writeObject(out, parser);
        } else if (token == JsonToken.START_ARRAY) {
            out.append('[');
            boolean first = true;
            while (parser.nextToken() != JsonToken.END_ARRAY) {
                out.append(first ? "" : ",");
                first = false;
                write(out, parser);
            }
            out.append(']');
        } else {
            writeScalar(out, parser, token);
        }
    }

    private static void writeObject(StringBuilder out, JsonParser parser) {
        Map<String, String> members = new TreeMap<>(BY_CODE_POINT);
        while (parser.nextToken() != JsonToken.END_OBJECT) {
            String name = parser.currentName();
            parser.nextToken();
            StringBuilder value = new StringBuilder();
            write(value, parser);
            members.put(name, value.toString());
        }
        out.append('{');
        boolean first = true;
        for (Map.Entry<String, String> member : members.entrySet()) {
            out.append(first ? "" : ",");
            first = false;
            quote(out, member.getKey());
            out.append(':').append(member.getValue());
        }
        out.append('}');
    }

    private static void writeScalar(StringBuilder out, JsonParser parser, @Nullable JsonToken token) {
        if (token == JsonToken.VALUE_STRING) {
            quote(out, parser.getString());
        } else if (token != null && token.isNumeric()) {
            out.append(CanonicalNumber.of(parser.getString()));
        } else {
            out.append(parser.getString());
        }
    }

    static void quote(StringBuilder out, String text) {
        requireWhole(text);
        out.append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            switch (c) {
                case '"' -> out.append("\\\"");
                case '\\' -> out.append("\\\\");
                case '\n' -> out.append("\\n");
                case '\r' -> out.append("\\r");
                case '\t' -> out.append("\\t");
                case '\f' -> out.append("\\f");
                case '\b' -> out.append("\\b");
                default -> {
                    if (c >= ' ' && c <= '~') {
                        out.append(c);
                    } else {
                        escape(out, c);
                    }
                }
            }
        }
        out.append('"');
    }

    /** Python writes halves of surrogate pairs like other characters; few can read them, and nobody means them. */
    private static void requireWhole(String text) {
        if (text.codePoints().anyMatch(c -> c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE)) {
            throw CanonicalHash.refused("not-unicode", "it has half of a surrogate pair; send whole characters");
        }
    }

    private static void escape(StringBuilder out, char c) {
        out.append("\\u");
        for (int shift = 12; shift >= 0; shift -= 4) {
            out.append(Character.forDigit(c >> shift & 0xf, 16));
        }
    }

    private static int compare(String one, String other) {
        int i = 0;
        while (i < one.length() && i < other.length()) {
            int left = one.codePointAt(i);
            int right = other.codePointAt(i);
            if (left != right) {
                return Integer.compare(left, right);
            }
            i += Character.charCount(left);
        }
        return Integer.compare(one.length(), other.length());
    }

    private static PostroomException notJson(JacksonException e) {
        boolean repeats = e instanceof StreamReadException
                && String.valueOf(e.getOriginalMessage()).startsWith("Duplicate ");
        if (repeats) {
            return CanonicalHash.refused("repeats-key", "it has an object with the same key twice; send each key once");
        }
        // The parser's own sentence may quote the body.
        return CanonicalHash.refused(
                "not-json",
                "it is not JSON: line " + e.getLocation().getLineNr() + ", column "
                        + e.getLocation().getColumnNr() + "; check how it was made");
    }
}
