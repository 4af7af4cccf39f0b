package io.postroom.message;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.json.JsonWriteFeature;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.json.JsonMapper;

/**
 * Headers as they are stored: a JSON object of strings, or null when there are none.
 *
 * <p>Reading takes any JSON object: what a hand-written insert has put there besides strings is read as its JSON text, so that no
 * row can stop a reader.
 */
public final class HeaderText {
    private static final JsonMapper MAPPER = JsonMapper.builder()
            .disable(JsonWriteFeature.ESCAPE_FORWARD_SLASHES)
            .build();
    private static final TypeReference<Map<String, String>> HEADERS = new TypeReference<>() {};

    private HeaderText() {}

    /** By hand: it is done for every message, and a few short strings need no more. */
    public static @Nullable String write(Map<String, String> headers) {
        if (headers.isEmpty()) {
            return null;
        }
        StringBuilder json = new StringBuilder(64);
        char separator = '{';
        for (Map.Entry<String, String> header : headers.entrySet()) {
            quote(json.append(separator), header.getKey());
            quote(json.append(':'), header.getValue());
            separator = ',';
        }
        return json.append('}').toString();
    }

    private static void quote(StringBuilder json, String text) {
        json.append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                json.append('\\').append(c);
            } else if (c < ' ') {
                json.append("\\u00").append(c < 0x10 ? '0' : '1').append(Character.forDigit(c & 0xf, 16));
            } else {
                json.append(c);
            }
        }
        json.append('"');
    }

    public static Map<String, String> read(@Nullable String json) {
        if (json == null) {
            return Map.of();
        }
        try {
            Map<String, String> headers = MAPPER.readValue(json, HEADERS);
            return headers.containsValue(null) ? readAnything(json) : headers;
        } catch (JacksonException e) {
            return readAnything(json);
        }
    }

    private static Map<String, String> readAnything(String json) {
        Map<String, String> headers = new LinkedHashMap<>();
        MAPPER.readTree(json)
                .properties()
                .forEach(header -> headers.put(
                        header.getKey(),
                        header.getValue().isString()
                                ? header.getValue().stringValue()
                                : header.getValue().toString()));
        return headers;
    }
}
