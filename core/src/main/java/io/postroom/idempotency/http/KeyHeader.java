package io.postroom.idempotency.http;

import io.postroom.PostroomException;
import io.postroom.idempotency.IdempotencyKey;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads the header {@code Idempotency-Key}: a string as in RFC 8941, or the bare word that many clients send. Both forms of a key are
 * the same key: {@code "abc"} and {@code abc}.
 */
public final class KeyHeader {
    public static final String NAME = "Idempotency-Key";

    /** How long a field may be at all; a key of the greatest length with every character escaped is shorter. */
    private static final int FIELD_LENGTH_MAX = 1_024;

    private static final String CHARACTERS = "(?:[\\x20\\x21\\x23-\\x5b\\x5d-\\x7e]|\\\\[\"\\\\])*+";

    /** A number, a string, a token, bytes or a boolean. */
    private static final String VALUE = "(?:-?[0-9]{1,15}(?:\\.[0-9]{1,3})?|\"" + CHARACTERS
            + "\"|[A-Za-z*][!#$%&'*+.^_`|~0-9A-Za-z:/-]*+|:[A-Za-z0-9+/=]*+:|\\?[01])";

    /** After a string there may be parameters, which mean nothing here. */
    private static final Pattern STRING =
            Pattern.compile("\"(" + CHARACTERS + ")\"(?:; *[a-z*][a-z0-9_.*-]*+(?:=" + VALUE + ")?)*+");

    /** Everything that can be seen, but for what would make it a list, parameters or half of a string. */
    private static final Pattern WORD = Pattern.compile("[\\x21\\x23-\\x2b\\x2d-\\x3a\\x3c-\\x5b\\x5d-\\x7e]+");

    private KeyHeader() {}

    /**
     * The key, or nothing if the header is not there.
     *
     * @param fields the value of every field of this name, in the order in which they came
     */
    public static Optional<String> read(List<String> fields) {
        if (fields.isEmpty()) {
            return Optional.empty();
        }
        if (fields.size() > 1) {
            throw invalid("it is there " + fields.size() + " times; send it once");
        }
        String field = fields.get(0).strip();
        if (field.length() > FIELD_LENGTH_MAX) {
            throw tooLong(field.length());
        }
        Matcher string = STRING.matcher(field);
        String key;
        if (string.matches()) {
            key = string.group(1).replaceAll("\\\\(.)", "$1");
        } else if (WORD.matcher(field).matches()) {
            key = field;
        } else {
            throw invalid((field.isEmpty() ? "it is empty" : "it is neither a string in quotes nor a word")
                    + "; send 1 to " + IdempotencyKey.KEY_LENGTH_MAX
                    + " printable ASCII characters in quotes, such as a UUID, and only one");
        }
        if (key.length() > IdempotencyKey.KEY_LENGTH_MAX) {
            throw tooLong(key.length());
        }
        if (key.isEmpty()) {
            throw invalid("it is empty; send 1 to " + IdempotencyKey.KEY_LENGTH_MAX + " characters, such as a UUID");
        }
        return Optional.of(key);
    }

    private static PostroomException tooLong(int length) {
        return invalid("it is " + length + " characters, the limit is " + IdempotencyKey.KEY_LENGTH_MAX
                + "; send a shorter one, such as a UUID");
    }

    private static PostroomException invalid(String fact) {
        return new PostroomException("idempotency.key-invalid", "could not read the header " + NAME + ": " + fact);
    }
}
