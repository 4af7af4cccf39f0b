package io.postroom.inbox;

import io.postroom.message.Message;
import io.postroom.message.PayloadHash;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Objects;
import java.util.UUID;

/**
 * A message that came from somewhere, as an inbox knows it: by its id, and by a hash that tells another payload from its own.
 *
 * <p>Two of one id are equal to an inbox only if their hashes are, so all copies must be hashed alike.
 */
public record Received(UUID id, byte[] payloadHash) {
    /** How short and how long a hash may be, in bytes. */
    public static final int HASH_BYTES_MIN = 16;

    public static final int HASH_BYTES_MAX = 64;

    public Received {
        Objects.requireNonNull(id, "id");
        payloadHash = payloadHash.clone();
    }

    /** A message with the SHA-256 of its payload as it was published, wherever it comes from and in whatever version it is read. */
    public static Received of(Message message) {
        return new Received(message.id(), PayloadHash.of(message));
    }

    /** A message of a foreign source with the SHA-256 of its payload. */
    public static Received of(UUID id, byte[] payload) {
        try {
            return new Received(id, MessageDigest.getInstance("SHA-256").digest(payload));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }

    /** The same for text, as UTF-8. */
    public static Received of(UUID id, String payload) {
        return of(id, payload.getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public byte[] payloadHash() {
        return payloadHash.clone();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Received that
                && id.equals(that.id)
                && MessageDigest.isEqual(payloadHash, that.payloadHash);
    }

    @Override
    public int hashCode() {
        return id.hashCode();
    }

    @Override
    public String toString() {
        return "message " + id;
    }
}
