package io.postroom.message;

import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.json.JsonMapper;

/** Headers as they are stored: a JSON object of strings, or null when there are none. */
public final class HeaderText {
    private static final JsonMapper MAPPER = JsonMapper.builder().build();
    private static final TypeReference<Map<String, String>> HEADERS = new TypeReference<>() {};

    private HeaderText() {}

    public static @Nullable String write(Map<String, String> headers) {
        return headers.isEmpty() ? null : MAPPER.writeValueAsString(headers);
    }

    public static Map<String, String> read(@Nullable String json) {
        return json == null ? Map.of() : MAPPER.readValue(json, HEADERS);
    }
}
