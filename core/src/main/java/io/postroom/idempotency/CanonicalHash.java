package io.postroom.idempotency;

import io.postroom.PostroomException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * SHA-256 of a request in a form that does not depend on who wrote it: two requests that say the same have the same hash.
 *
 * <p>JSON is hashed with its keys sorted and without whitespace, exactly as Python's {@code json.dumps(body, sort_keys=True,
 * separators=(',', ':'))} writes it, so that a client in any language can compute the hash. Numbers keep their value: where Python
 * would round a fraction, this does not, because two amounts must never become one. A multipart body is hashed as JSON after its media
 * type, with a hash in place of each file. Anything else is hashed as it is, after its media type. Never reads or keeps state; safe for use by
 * many threads.
 */
public final class CanonicalHash {
    /** How deep objects and arrays may be nested. */
    public static final int DEPTH_MAX = 100;

    /** How long a number may be, in characters. */
    public static final int NUMBER_LENGTH_MAX = 1_000;

    /** How many parts a multipart body may have. */
    public static final int PARTS_MAX = 1_000;

    /** How long the headers of one part may be. */
    public static final int PART_HEADERS_BYTES_MAX = 4_096;

    private static final Pattern JSON = Pattern.compile("application/json|[a-z0-9.!#$&^_-]+/[a-z0-9.!#$&^_+-]+\\+json");

    private CanonicalHash() {}

    /**
     * The hash of a body, by its media type. An empty body has a hash as well.
     *
     * @param contentType the header's value, or null if there is none
     */
    public static byte[] ofBody(@Nullable String contentType, byte[] body) {
        String type = mediaType(contentType);
        if (body.length > 0 && JSON.matcher(type).matches()) {
            return ofJson(body);
        }
        if (contentType != null && type.startsWith("multipart/")) {
            // After its media type, as below: a form is not the JSON that it is written as.
            return sha256((type + "\n" + CanonicalMultipart.of(contentType, body)).getBytes(StandardCharsets.UTF_8));
        }
        // A media type has no line break and canonical JSON neither: the two never meet in one hash.
        return sha256((type + "\n").getBytes(StandardCharsets.UTF_8), body);
    }

    /** The hash of one JSON value in UTF-8; what is not that is refused. */
    public static byte[] ofJson(byte[] body) {
        return sha256(CanonicalJson.of(body));
    }

    /**
     * The hash of a whole request, where one key's scope spans several targets: {@code /orders/7/pay} is not
     * {@code /orders/8/pay}. It is that of the JSON array of method, target and the body's hash.
     *
     * @param target path and query as they were sent
     */
    public static byte[] ofRequest(String method, String target, byte[] bodyHash) {
        StringBuilder text = new StringBuilder("[");
        CanonicalJson.quote(text, method);
        CanonicalJson.quote(text.append(','), target);
        CanonicalJson.quote(text.append(','), hex(bodyHash));
        return sha256(text.append(']').toString());
    }

    /**
     * The same for one of a tenant's members, as the fourth of the array: what one has asked for is not what another asks for.
     *
     * @param principal who asks; empty where that does not matter, then it is the hash of the other three
     */
    public static byte[] ofRequest(String method, String target, byte[] bodyHash, String principal) {
        if (principal.isEmpty()) {
            return ofRequest(method, target, bodyHash);
        }
        StringBuilder text = new StringBuilder("[");
        CanonicalJson.quote(text, method);
        CanonicalJson.quote(text.append(','), target);
        CanonicalJson.quote(text.append(','), hex(bodyHash));
        CanonicalJson.quote(text.append(','), principal);
        return sha256(text.append(']').toString());
    }

    static String hex(byte[] hash) {
        return HexFormat.of().formatHex(hash);
    }

    /** Type and subtype in lower case, without parameters; empty if there is none. */
    static String mediaType(@Nullable String contentType) {
        if (contentType == null) {
            return "";
        }
        int end = contentType.indexOf(';');
        return (end < 0 ? contentType : contentType.substring(0, end)).strip().toLowerCase(Locale.ROOT);
    }

    static byte[] sha256(byte[]... pieces) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            for (byte[] piece : pieces) {
                digest.update(piece);
            }
            return digest.digest();
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }

    private static byte[] sha256(String text) {
        return sha256(text.getBytes(StandardCharsets.US_ASCII));
    }

    /** A body that has no hash; it was refused before anything was written. */
    static PostroomException refused(String code, String fact) {
        return new PostroomException("idempotency.body-" + code, "could not hash the request's body: " + fact);
    }
}
