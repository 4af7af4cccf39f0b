package io.postroom.message;

import tools.jackson.core.JacksonException;
import tools.jackson.databind.ObjectMapper;
import tools.jackson.databind.json.JsonMapper;

/** Payloads through Jackson. No class name is ever read from the payload: the caller names the type. */
public final class JacksonCodec implements Codec {
    private final ObjectMapper mapper;

    public JacksonCodec() {
        this(JsonMapper.builder().build());
    }

    public JacksonCodec(ObjectMapper mapper) {
        this.mapper = mapper;
    }

    @Override
    public String encode(Object payload) {
        try {
            return mapper.writeValueAsString(payload);
        } catch (JacksonException e) {
            throw new InvalidMessageException(
                    "message.payload-not-encodable",
                    "could not encode payload of type " + payload.getClass().getName() + ": " + e.getOriginalMessage()
                            + "; register a serializer or publish JSON text",
                    e);
        }
    }

    @Override
    public <T> T decode(String json, Class<T> type) {
        try {
            return mapper.readValue(json, type);
        } catch (JacksonException e) {
            // Jackson's message quotes the payload's values; they must not reach a log.
            throw new InvalidMessageException(
                    "message.payload-not-decodable",
                    "could not decode payload as " + type.getName() + ": "
                            + e.getClass().getSimpleName() + " at " + position(e)
                            + "; check the event version and the type",
                    null);
        }
    }

    private static String position(JacksonException e) {
        return e.getLocation() == null
                ? "an unknown place"
                : "line " + e.getLocation().getLineNr() + ", column "
                        + e.getLocation().getColumnNr();
    }
}
