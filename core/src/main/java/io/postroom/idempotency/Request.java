package io.postroom.idempotency;

import io.postroom.PostroomException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * What a client asks for, so that it is known again: its key, and a hash of everything else that it says. Immutable.
 *
 * @param hash SHA-256 of the canonical request; the same key with another hash is a mismatch
 * @param input what whoever goes on with its steps must know if the client never asks again; null unless it is done in steps
 */
public record Request(
        IdempotencyKey key, byte[] hash, @Nullable String input) {
    public static final int HASH_BYTES = 32;
    public static final int INPUT_LENGTH_MAX = 65_536;

    public Request {
        hash = hash.clone();
        if (hash.length != HASH_BYTES) {
            throw new PostroomException(
                    "idempotency.hash-invalid",
                    "could not use the request of " + key + ": its hash is " + hash.length + " bytes, it must be "
                            + HASH_BYTES + "; use SHA-256");
        }
        if (input != null && (input.length() > INPUT_LENGTH_MAX || input.indexOf('\0') >= 0)) {
            throw new PostroomException(
                    "idempotency.input-invalid",
                    "could not use the request of " + key + ": its input is " + input.length()
                            + " characters, the limit is " + INPUT_LENGTH_MAX
                            + " without U+0000; keep what is larger in a table of your own and its id here");
        }
    }

    /** A request that only its client asks for again. */
    public Request(IdempotencyKey key, byte[] hash) {
        this(key, hash, null);
    }

    @Override
    public byte[] hash() {
        return hash.clone();
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Request that
                && key.equals(that.key)
                && Arrays.equals(hash, that.hash)
                && java.util.Objects.equals(input, that.input);
    }

    @Override
    public int hashCode() {
        return key.hashCode() * 31 + Arrays.hashCode(hash);
    }

    /** Without the input, which is the application's own. */
    @Override
    public String toString() {
        return "request " + key;
    }
}
