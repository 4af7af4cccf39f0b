package io.postroom.deadletter;

import java.math.BigDecimal;
import java.util.Iterator;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.exc.StreamReadException;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.core.json.JsonWriteFeature;
import tools.jackson.core.util.DefaultIndenter;
import tools.jackson.core.util.DefaultPrettyPrinter;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.ObjectWriter;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.databind.node.POJONode;
import tools.jackson.databind.util.RawValue;

/**
 * JSON text as a tree and back. Names keep their order and numbers every character: a number is kept as its text, never computed.
 * Reading throws a {@link tools.jackson.core.JacksonException}.
 */
final class JsonTree {
    /** More than any payload may have; what was inserted by hand may have more than is allowed. */
    private static final int DEPTH_MAX = 500;

    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;
    private static final JsonFactory JSON = JsonFactory.builder()
            .streamReadConstraints(StreamReadConstraints.builder()
                    .maxNestingDepth(DEPTH_MAX)
                    .maxNumberLength(Integer.MAX_VALUE)
                    .maxNameLength(Integer.MAX_VALUE)
                    .maxStringLength(Integer.MAX_VALUE)
                    .build())
            // Else all but one of them would be lost without a word.
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .disable(JsonWriteFeature.ESCAPE_FORWARD_SLASHES)
            .build();
    private static final JsonMapper MAPPER = new JsonMapper(JSON);
    private static final DefaultIndenter LINES = new DefaultIndenter("  ", "\n");
    private static final ObjectWriter PRETTY = MAPPER.writer()
            .with(new DefaultPrettyPrinter().withObjectIndenter(LINES).withArrayIndenter(LINES));

    private JsonTree() {}

    static JsonNode read(String json) {
        try (JsonParser parser = JSON.createParser(ObjectReadContext.empty(), json)) {
            parser.nextToken();
            JsonNode root = node(parser);
            if (parser.nextToken() != null) {
                throw new StreamReadException(parser, "there is more than one JSON value");
            }
            return root;
        }
    }

    static String write(JsonNode node) {
        return MAPPER.writeValueAsString(node);
    }

    /** With a line for each value. */
    static String pretty(JsonNode node) {
        return PRETTY.writeValueAsString(node);
    }

    /** Bounded by the depth that the parser allows. */
    private static JsonNode node(JsonParser parser) {
        JsonToken token = parser.currentToken();
        if (token == JsonToken.START_OBJECT) {
            ObjectNode object = NODES.objectNode();
            while (parser.nextToken() != JsonToken.END_OBJECT) {
                String name = parser.currentName();
                parser.nextToken();
                object.set(name, node(parser));
            }
            return object;
        }
        if (token == JsonToken.START_ARRAY) {
            ArrayNode array = NODES.arrayNode();
            while (parser.nextToken() != JsonToken.END_ARRAY) {
                array.add(node(parser));
            }
            return array;
        }
        return scalar(parser, token);
    }

    private static JsonNode scalar(JsonParser parser, @Nullable JsonToken token) {
        if (token == null) {
            throw new StreamReadException(parser, "there is no JSON value");
        }
        if (token.isNumeric()) {
            return NODES.rawValueNode(new RawValue(parser.getString()));
        }
        return switch (token) {
            case VALUE_TRUE -> NODES.booleanNode(true);
            case VALUE_FALSE -> NODES.booleanNode(false);
            case VALUE_NULL -> NODES.nullNode();
            default -> NODES.stringNode(parser.getString());
        };
    }

    /** Equal as JSON values: objects whatever the order of their names, numbers by their value. */
    static boolean equal(JsonNode one, JsonNode other) {
        if (one instanceof ObjectNode left && other instanceof ObjectNode right) {
            return left.size() == right.size() && left.properties().stream().allMatch(entry -> sameIn(right, entry));
        }
        if (one instanceof ArrayNode left && other instanceof ArrayNode right) {
            return left.size() == right.size() && sameItems(left, right);
        }
        if (one instanceof POJONode left && other instanceof POJONode right) {
            return sameNumber(left.toString(), right.toString());
        }
        return one.equals(other);
    }

    private static boolean sameIn(ObjectNode object, Map.Entry<String, JsonNode> entry) {
        JsonNode value = object.get(entry.getKey());
        return value != null && equal(entry.getValue(), value);
    }

    private static boolean sameItems(ArrayNode one, ArrayNode other) {
        Iterator<JsonNode> others = other.values().iterator();
        return one.values().stream().allMatch(item -> equal(item, others.next()));
    }

    private static boolean sameNumber(String one, String other) {
        if (one.equals(other)) {
            return true;
        }
        // Too long to be computed in reasonable time; nobody writes the same number in two such ways.
        boolean modest = Math.max(one.length(), other.length()) <= 1_000;
        try {
            return modest && new BigDecimal(one).compareTo(new BigDecimal(other)) == 0;
        } catch (NumberFormatException e) {
            // An exponent beyond the range of an int.
            return false;
        }
    }

    /** How many values there are, this one included. */
    static long size(JsonNode node) {
        long size = 1;
        for (JsonNode child : node.values()) {
            size += size(child);
        }
        return size;
    }
}
