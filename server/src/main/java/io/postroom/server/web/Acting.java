package io.postroom.server.web;

import io.javalin.http.Context;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * What a call that changes something brings: its key and its body.
 *
 * <p>The key is the identity of a redrive; other acts are remembered by it for a day.
 */
public final class Acting {
    private static final JsonMapper JSON = JsonMapper.builder()
            .enable(DeserializationFeature.FAIL_ON_READING_DUP_TREE_KEY)
            .build();
    private static final int KEY_LENGTH_MAX = 255;

    private final JsonNode body;
    private final UUID id;

    private Acting(JsonNode body, UUID id) {
        this.body = body;
        this.id = id;
    }

    /** Reads a call whose body has only these fields: a part of a filter that is misspelt must not mean everything. */
    public static Acting read(Context context, Set<String> names) {
        String key = key(context);
        try {
            JsonNode body = JSON.readTree(context.bodyAsBytes());
            if (!body.isObject()) {
                throw Refusal.invalid("the body is not a JSON object");
            }
            Asked.only(body.propertyNames(), "a field of the body", names);
            return new Acting(body, id(Gate.user(context).name(), key));
        } catch (JacksonException e) {
            throw Refusal.invalid("the body is not JSON, or has a field twice");
        }
    }

    static String key(Context context) {
        if (Collections.list(context.req().getHeaders("Idempotency-Key")).size() > 1) {
            throw new Refusal(400, "idempotency.key-invalid", "Idempotency-Key is there more than once; send one");
        }
        String given = context.header("Idempotency-Key");
        if (given == null || given.isBlank()) {
            throw new Refusal(
                    400,
                    "idempotency.key-missing",
                    "Idempotency-Key is missing; send a new UUID with each act, and the same when repeating it");
        }
        String key = given.strip().replaceAll("^\"|\"$", "");
        if (key.isEmpty() || key.length() > KEY_LENGTH_MAX || !key.matches("[\\x21-\\x7e]+")) {
            throw new Refusal(
                    400,
                    "idempotency.key-invalid",
                    "Idempotency-Key has 1 to " + KEY_LENGTH_MAX + " visible ASCII characters");
        }
        return key;
    }

    /** The reason of a call that says nothing else. */
    public static String reason(Context context) {
        return read(context, Set.of("reason")).required("reason");
    }

    private static UUID id(String user, String key) {
        try {
            if (key.length() == 36) {
                return UUID.fromString(key);
            }
        } catch (IllegalArgumentException e) {
            // Any other key is as good.
        }
        return UUID.nameUUIDFromBytes((user + " " + key).getBytes(StandardCharsets.UTF_8));
    }

    /** The identity of the act. */
    public UUID id() {
        return id;
    }

    /** A text of the body; null if it is missing or empty. */
    public @Nullable String text(String name) {
        JsonNode value = body.get(name);
        if (value == null || value.isNull()) {
            return null;
        }
        if (!value.isValueNode()) {
            throw Refusal.invalid(name + " is an object or an array, not a single value");
        }
        return Asked.checked(name, value.asString());
    }

    public String required(String name) {
        return Asked.required(text(name), name);
    }
}
