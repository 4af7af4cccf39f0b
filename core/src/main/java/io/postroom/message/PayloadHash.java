package io.postroom.message;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.regex.Pattern;

/**
 * SHA-256 of a message's payload as it was published. An upcast message carries it in a header: whoever compares copies of a message
 * must not take a newer version of it, read after another release, for another message.
 */
public final class PayloadHash {
    /** The header of a message whose payload is not as it was published. */
    public static final String HEADER = OwnHeaders.PAYLOAD_HASH;

    private static final Pattern SHA256 = Pattern.compile("[0-9a-fA-F]{64}");

    private PayloadHash() {}

    /** The same for every copy of a message, in whatever version it is read. */
    public static byte[] of(Message message) {
        String kept = message.headers().get(HEADER);
        if (kept == null) {
            return sha256(message.payload());
        }
        check(message);
        return HexFormat.of().parseHex(kept);
    }

    /** Throws an {@link InvalidMessageException} if the header is no such hash; only a foreign sender can have written it. */
    static void check(Message message) {
        String kept = message.headers().get(HEADER);
        if (kept != null && !SHA256.matcher(kept).matches()) {
            throw new InvalidMessageException(
                    "message.payload-hash-invalid",
                    "could not tell message " + message.id() + " from others: header " + HEADER + " is "
                            + MessageRules.quote(kept)
                            + ", it must be 64 hexadecimal digits; let its sender leave it out");
        }
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
