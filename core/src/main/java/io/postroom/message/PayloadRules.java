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
    private static final int INTEGER_DIGITS_MAX = 308;
    private static final int FRACTION_DIGITS_MAX = 400;

    private static final JsonFactory JSON = JsonFactory.builder()
            .streamReadConstraints(StreamReadConstraints.builder()
                    .maxNestingDepth(DEPTH_MAX)
                    .maxNumberLength(MessageRules.PAYLOAD_BYTES_MAX)
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
                () -> "payload is " + bytes + " bytes, the limit is " + MessageRules.PAYLOAD_BYTES_MAX
                        + "; store it elsewhere and publish a reference");
        checkWhole(message, MessageRules.isUnicode(payload));
        checkEscapes(message, payload);
        try (JsonParser parser = JSON.createParser(ObjectReadContext.empty(), payload)) {
            walk(message, parser);
        } catch (StreamConstraintsException e) {
            throw constraintBroken(message);
        } catch (JacksonException e) {
            throw notJson(message, e);
        }
    }

    private static void walk(Message message, JsonParser parser) {
        JsonToken token = parser.nextToken();
        MessageRules.checkThat(
                token != null,
                message,
                "payload-not-json",
                () -> "payload is empty; publish the JSON value null as null");
        while (token != null) {
            if (token.isNumeric()) {
                checkNumber(message, parser);
            }
            boolean whole = !token.isStructStart() && parser.streamReadContext().getNestingDepth() == 0;
            token = parser.nextToken();
            MessageRules.checkThat(
                    !whole || token == null,
                    message,
                    "payload-not-json",
                    () -> "payload has more than one JSON value; publish one message for each");
        }
    }

    /**
     * Looks at {@code \\uXXXX} escapes in the text itself: a parser may hide half of a pair, and U+0000 can stand in JSON in no
     * other way.
     */
    private static void checkEscapes(Message message, String payload) {
        boolean open = false;
        for (int i = payload.indexOf('\\'); i >= 0 && i + 1 < payload.length(); i = payload.indexOf('\\', i)) {
            boolean unicode = payload.charAt(i + 1) == 'u' && i + 6 <= payload.length();
            int c = unicode ? hex(payload, i + 2) : -1;
            checkWhole(message, open == (c >= 0xdc00 && c <= 0xdfff));
            MessageRules.checkThat(
                    c != 0,
                    message,
                    "payload-nul",
                    () -> "payload has the character U+0000, which PostgreSQL cannot store in text; leave it out");
            i += unicode ? 6 : 2;
            open = c >= 0xd800 && c <= 0xdbff;
            checkWhole(message, !open || payload.startsWith("\\u", i));
        }
    }

    private static void checkWhole(Message message, boolean whole) {
        MessageRules.checkThat(
                whole,
                message,
                "payload-not-unicode",
                () -> "payload has half of a surrogate pair; send whole characters");
    }

    /** Four hexadecimal digits, or -1 for the parser to complain about. */
    private static int hex(String text, int from) {
        int value = 0;
        for (int i = from; i < from + 4; i++) {
            int digit = Character.digit(text.charAt(i), 16);
            if (digit < 0 || text.charAt(i) > 'f') {
                return -1;
            }
            value = value << 4 | digit;
        }
        return value;
    }

    private static void checkNumber(Message message, JsonParser parser) {
        MessageRules.checkThat(
                isModest(parser.getString()),
                message,
                "payload-number-too-large",
                () -> "payload has a number of more than " + INTEGER_DIGITS_MAX + " digits before or "
                        + FRACTION_DIGITS_MAX + " after the decimal point; send it as a string");
    }

    /** Counts the digits the number would have without its exponent; never builds it, however long it is. */
    private static boolean isModest(String number) {
        int end = Math.max(number.indexOf('e'), number.indexOf('E'));
        String mantissa = end < 0 ? number : number.substring(0, end);
        long exponent = end < 0 ? 0 : exponent(number.substring(end + 1));
        int point = mantissa.indexOf('.');
        int fraction = point < 0 ? 0 : mantissa.length() - point - 1;
        int firstDigit = firstNonZero(mantissa);
        boolean zero = firstDigit < 0;
        int integerEnd = point < 0 ? mantissa.length() : point;
        // Digits before the point, as if the first digit that is not zero were the first of all.
        long integer = integerEnd - firstDigit + (firstDigit > integerEnd ? 1 : 0) + exponent;
        return fraction - exponent <= FRACTION_DIGITS_MAX && (zero || integer <= INTEGER_DIGITS_MAX);
    }

    private static int firstNonZero(String mantissa) {
        for (int i = 0; i < mantissa.length(); i++) {
            if (mantissa.charAt(i) >= '1' && mantissa.charAt(i) <= '9') {
                return i;
            }
        }
        return -1;
    }

    /** The exponent, or one that is out of every range if it has more digits than matter. */
    private static long exponent(String text) {
        boolean negative = text.startsWith("-");
        String digits = text.replaceFirst("^[+-]?0*", "");
        long value = digits.isEmpty() ? 0 : digits.length() > 9 ? Integer.MAX_VALUE : Long.parseLong(digits);
        return negative ? -value : value;
    }

    private static InvalidMessageException constraintBroken(Message message) {
        // Depth is the only constraint below the payload's own size, which was checked before.
        return MessageRules.broken(
                message, "payload-too-deep", "payload is nested deeper than " + DEPTH_MAX + " levels");
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
