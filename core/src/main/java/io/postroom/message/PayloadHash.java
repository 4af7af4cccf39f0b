package io.postroom.message;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * SHA-256 of a message's payload as it was published. An upcast message carries it in a header: whoever compares copies of a message
 * must not take a newer version of it, read after another release, for another message.
 */
public final class PayloadHash {
    /** The header of a message whose payload is not as it was published. */
    public static final String HEADER = "postroom-payload-sha256";

    private PayloadHash() {}

    /** The same for every copy of a message, in whatever version it is read. */
    public static byte[] of(Message message) {
        String kept = message.headers().get(HEADER);
        return kept == null ? sha256(message.payload()) : HexFormat.of().parseHex(kept);
    }

    static Message keep(Message stored, Message reached) {
        return stored.payload().equals(reached.payload()) || reached.headers().containsKey(HEADER)
                ? reached
                : reached.withHeader(HEADER, HexFormat.of().formatHex(sha256(stored.payload())));
    }

    /** SHA-256 of text as UTF-8. */
    public static byte[] sha256(String payload) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(payload.getBytes(StandardCharsets.UTF_8));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }
}
