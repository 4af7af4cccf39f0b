package io.postroom.server.web;

import java.io.StringWriter;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.databind.json.JsonMapper;

/** JSON with its names and without its values: what a message is made of, not whom it is about. */
public final class JsonMask {
    public static final String MASK = "•••";

    private static final JsonMapper JSON = JsonMapper.builder().build();

    private JsonMask() {}

    /** The same structure; what is not JSON is masked as a whole. */
    public static String of(String json) {
        StringWriter text = new StringWriter();
        try (JsonParser from = JSON.createParser(json);
                JsonGenerator to = JSON.createGenerator(text)) {
            for (JsonToken token = from.nextToken(); token != null; token = from.nextToken()) {
                if (token.isScalarValue()) {
                    to.writeString(MASK);
                } else {
                    to.copyCurrentEvent(from);
                }
            }
        } catch (JacksonException e) {
            return '"' + MASK + '"';
        }
        return text.toString();
    }
}
