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

    public static @Nullable String write(Map<String, String> headers) {
        return headers.isEmpty() ? null : MAPPER.writeValueAsString(headers);
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
