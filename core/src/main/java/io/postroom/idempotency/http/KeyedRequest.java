package io.postroom.idempotency.http;

import io.postroom.PostroomException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A request as an adapter has read it.
 *
 * @param target path and query as they were sent
 * @param contentType the header's value, or null if there is none
 * @param keyFields the value of every field {@code Idempotency-Key}
 * @param tenant whom the client was authenticated as; never what it says. Empty where there are no tenants
 * @param body all of it
 * @param principal who of the tenant asks, if its members must not get each other's answers; the same key of another one is a mismatch.
 *     Empty where that does not matter
 */
public record KeyedRequest(
        String method,
        String target,
        @Nullable String contentType,
        List<String> keyFields,
        String tenant,
        byte[] body,
        String principal) {
    public KeyedRequest {
        keyFields = List.copyOf(keyFields);
    }

    /** A request of the tenant, whoever of them asks. */
    public KeyedRequest(
            String method,
            String target,
            @Nullable String contentType,
            List<String> keyFields,
            String tenant,
            byte[] body) {
        this(method, target, contentType, keyFields, tenant, body, "");
    }

    /** The body as UTF-8; a route answers 400 if it is none. */
    public String text() {
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(body))
                    .toString();
        } catch (CharacterCodingException e) {
            throw new PostroomException(
                    "idempotency.body-not-unicode",
                    "could not read the request's body: it is not UTF-8; send text in UTF-8",
                    e);
        }
    }
}
