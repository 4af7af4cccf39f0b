package io.postroom.idempotency.http;

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
 */
public record KeyedRequest(
        String method,
        String target,
        @Nullable String contentType,
        List<String> keyFields,
        String tenant,
        byte[] body) {
    public KeyedRequest {
        keyFields = List.copyOf(keyFields);
    }
}
