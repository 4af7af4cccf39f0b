package io.postroom.message;

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
 * What the type {@code json} lets through but some reader would choke on: U+0000, repeated keys, endless depth and numbers.
 *
 * <p>The payload is walked once and never built.
 */
final class PayloadRules {
    private static final int DEPTH_MAX = 100;
    private static final int NUMBER_LENGTH_MAX = 400;
    private static final double NUMBER_MAX = 1e308;

    private static final JsonFactory JSON = JsonFactory.builder()
            .streamReadConstraints(StreamReadConstraints.builder()
                    .maxNestingDepth(DEPTH_MAX)
                    .maxNumberLength(NUMBER_LENGTH_MAX)
                    .maxStringLength(MessageRules.PAYLOAD_BYTES_MAX)
                    .maxNameLength(MessageRules.PAYLOAD_BYTES_MAX)
                    .maxDocumentLength(MessageRules.PAYLOAD_BYTES_MAX)
                    .build())
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .build();

    private PayloadRules() {}

    static void check(Message message) {
        String payload = message.payload();
        int bytes = MessageRules.utf8Length(payload);
        MessageRules.checkThat(
                bytes <= MessageRules.PAYLOAD_BYTES_MAX,
                message,
                "payload-too-large",
                "payload is " + bytes + " bytes, the limit is " + MessageRules.PAYLOAD_BYTES_MAX
                        + "; store it elsewhere and publish a reference");
        MessageRules.checkThat(
                MessageRules.isUnicode(payload),
                message,
                "payload-not-unicode",
                "payload has half of a surrogate pair; send whole characters");
        try (JsonParser parser = JSON.createParser(ObjectReadContext.empty(), payload)) {
            walk(message, parser);
        } catch (StreamConstraintsException e) {
            throw constraintBroken(message, e);
        } catch (JacksonException e) {
            throw notJson(message, e);
        }
    }

    private static void walk(Message message, JsonParser parser) {
        JsonToken token = parser.nextToken();
        MessageRules.checkThat(
                token != null, message, "payload-not-json", "payload is empty; publish the JSON value null as null");
        while (token != null) {
            if (token == JsonToken.VALUE_STRING || token == JsonToken.PROPERTY_NAME) {
                checkText(message, token == JsonToken.VALUE_STRING ? parser.getString() : parser.currentName());
            } else if (token.isNumeric()) {
                checkNumber(message, parser);
            }
            boolean whole = !token.isStructStart() && parser.streamReadContext().getNestingDepth() == 0;
            token = parser.nextToken();
            MessageRules.checkThat(
                    !whole || token == null,
                    message,
                    "payload-not-json",
                    "payload has more than one JSON value; publish one message for each");
        }
    }

    private static void checkText(Message message, String text) {
        MessageRules.checkThat(
                text.indexOf('\0') < 0,
                message,
                "payload-nul",
                "payload has the character U+0000, which PostgreSQL cannot store in text; leave it out");
        MessageRules.checkThat(
                MessageRules.isUnicode(text),
                message,
                "payload-not-unicode",
                "payload has half of a surrogate pair; send whole characters");
    }

    private static void checkNumber(Message message, JsonParser parser) {
        double value = Math.abs(Double.parseDouble(parser.getString()));
        MessageRules.checkThat(
                value <= NUMBER_MAX,
                message,
                "payload-number-too-large",
                "payload has a number beyond 1e308; send it as a string");
    }

    private static InvalidMessageException constraintBroken(Message message, StreamConstraintsException e) {
        // The library says which constraint only in its text; depth is told from the rest by the constraint's own name.
        boolean depth = String.valueOf(e.getOriginalMessage()).contains("nesting depth");
        return depth
                ? MessageRules.broken(
                        message, "payload-too-deep", "payload is nested deeper than " + DEPTH_MAX + " levels")
                : MessageRules.broken(
                        message,
                        "payload-number-too-large",
                        "payload has a number longer than " + NUMBER_LENGTH_MAX + " digits; send it as a string");
    }

    private static InvalidMessageException notJson(Message message, JacksonException e) {
        boolean duplicate = e instanceof StreamReadException
                && String.valueOf(e.getOriginalMessage()).startsWith("Duplicate ");
        if (duplicate) {
            return MessageRules.broken(message, "payload-repeats-key", "payload has an object with the same key twice");
        }
        return MessageRules.broken(
                message,
                "payload-not-json",
                "payload is not JSON: line " + e.getLocation().getLineNr() + ", column "
                        + e.getLocation().getColumnNr() + "; check how it was made");
    }
}
