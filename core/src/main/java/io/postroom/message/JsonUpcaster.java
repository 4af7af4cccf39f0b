package io.postroom.message;

import java.util.Locale;
import java.util.Objects;
import java.util.function.UnaryOperator;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamWriteFeature;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.core.json.JsonWriteFeature;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.cfg.JsonNodeFeature;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** An upcaster that works on a tree. */
final class JsonUpcaster implements Upcaster {
    /**
     * A number within the rules is shorter, unless its exponent has leading zeros. Numbers of a hand-written insert have no other
     * limit, and reading one takes time that grows with the square of its length.
     */
    private static final int NUMBER_LENGTH_MAX = 1_000;

    private static final JsonMapper JSON = JsonMapper.builder(JsonFactory.builder()
                    .streamReadConstraints(StreamReadConstraints.builder()
                            .maxNumberLength(NUMBER_LENGTH_MAX)
                            .maxNameLength(MessageRules.PAYLOAD_BYTES_MAX)
                            .build())
                    .build())
            .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            // Else all but one of them would be lost without a word.
            .enable(DeserializationFeature.FAIL_ON_READING_DUP_TREE_KEY)
            .disable(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES)
            .disable(JsonNodeFeature.WRITE_PROPERTIES_SORTED)
            .disable(StreamWriteFeature.WRITE_BIGDECIMAL_AS_PLAIN)
            .disable(JsonWriteFeature.ESCAPE_FORWARD_SLASHES)
            .build();

    private final UnaryOperator<ObjectNode> change;

    JsonUpcaster(UnaryOperator<ObjectNode> change) {
        this.change = Objects.requireNonNull(change, "change");
    }

    @Override
    public String upcast(String payload) {
        JsonNode tree = JSON.readTree(payload);
        if (!(tree instanceof ObjectNode object)) {
            throw new IllegalArgumentException("payload is a JSON "
                    + tree.getNodeType().name().toLowerCase(Locale.ROOT) + ", the upcaster takes an object");
        }
        ObjectNode changed = Objects.requireNonNull(change.apply(object), "the upcaster returned null");
        return JSON.writeValueAsString(changed);
    }
}
