package io.postroom.idempotency.http;

import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import tools.jackson.databind.json.JsonMapper;

/**
 * A refusal as {@code application/problem+json} (RFC 9457).
 *
 * @param code a name that stays the same over releases
 * @param detail a sentence for whoever reads it; never a value of the request's body
 */
record Problem(int status, String title, String code, String detail) {
    private static final JsonMapper JSON = JsonMapper.builder().build();

    Reply reply(URI documentation, Map<String, String> more) {
        Map<String, Object> members = new LinkedHashMap<>();
        members.put("type", documentation.toString());
        members.put("title", title);
        members.put("status", status);
        members.put("detail", detail);
        members.put("code", code);
        Map<String, String> headers = new LinkedHashMap<>();
        headers.put("Content-Type", "application/problem+json");
        headers.put("Link", "<" + documentation + ">; rel=\"describedby\"; type=\"text/html\"");
        headers.putAll(more);
        return new Reply(status, headers, JSON.writeValueAsString(members).getBytes(StandardCharsets.UTF_8), false);
    }
}
