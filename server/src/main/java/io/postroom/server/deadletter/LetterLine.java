package io.postroom.server.deadletter;

import io.postroom.deadletter.DeadLetter;
import io.postroom.deadletter.Resolution;
import io.postroom.message.Message;
import io.postroom.server.terminal.Quoted;
import io.postroom.server.web.Payloads;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.util.RawValue;

/**
 * A whole dead letter as one line of JSON. A payload that is shown stands there as it was sent, except that a line break between its
 * tokens is a space.
 */
final class LetterLine {
    private static final JsonMapper JSON = JsonMapper.builder().build();

    private final boolean forPeople;
    private final Payloads shown;

    /**
     * @param forPeople whether a terminal shows it; then characters that a terminal obeys are escaped as JSON does
     * @param shown how much of payloads
     */
    LetterLine(boolean forPeople, Payloads shown) {
        this.forPeople = forPeople;
        this.shown = shown;
    }

    /** The line, without the line feed that ends it. */
    String of(DeadLetter letter) {
        Map<String, @Nullable Object> fields = new LinkedHashMap<>();
        Message message = letter.message();
        fields.put("id", letter.id());
        fields.put("source", letter.source());
        fields.put("subscription", letter.owner());
        fields.put("position", letter.position());
        fields.put("messageId", message.id().toString());
        fields.put("tenantId", message.tenantId());
        fields.put("aggregateType", message.aggregateType());
        fields.put("aggregateId", message.aggregateId());
        fields.put("aggregateVersion", message.aggregateVersion());
        fields.put("eventType", message.eventType());
        fields.put("eventVersion", message.eventVersion());
        fields.put("occurredAt", text(message.occurredAt()));
        fields.put("availableAt", text(message.availableAt()));
        fields.put("headers", new TreeMap<>(message.headers()));
        fields.put("payload", raw(shown.carried(message.payload())));
        fields.put("cause", letter.burial().cause().word());
        fields.put("attempts", letter.burial().attempts());
        fields.put("errorClass", letter.burial().errorClass());
        fields.put("error", letter.burial().error());
        fields.put("fingerprint", letter.burial().fingerprint());
        fields.put("history", raw(letter.history()));
        fields.put("buriedAt", text(letter.burial().buriedAt()));
        fields.put("buriedBy", letter.burial().buriedBy());
        fields.put("origin", letter.origin());
        Resolution resolution = letter.resolution();
        fields.put("resolution", resolution == null ? null : resolution.action().resolution());
        fields.put("resolvedAt", resolution == null ? null : text(resolution.at()));
        fields.put("resolvedBy", resolution == null ? null : resolution.by());
        fields.put(
                "redrive",
                resolution == null || resolution.redrive() == null
                        ? null
                        : resolution.redrive().toString());
        fields.put("patched", resolution == null ? null : raw(shown.carried(resolution.patched())));
        return harmless(JSON.writeValueAsString(fields));
    }

    /** What is shown of a payload, as people read it. */
    String carried(String payload) {
        return harmless(shown.readable(payload));
    }

    /** JSON text as it may be shown. */
    String harmless(String json) {
        if (!forPeople) {
            return json;
        }
        StringBuilder shown = new StringBuilder(json.length());
        json.codePoints().forEach(point -> {
            if (point < 0x20) {
                // Between tokens: within a string it would be escaped already.
                shown.append(' ');
            } else if (Quoted.isHarmless(point)) {
                shown.appendCodePoint(point);
            } else {
                for (char unit : Character.toChars(point)) {
                    shown.append(String.format("\\u%04x", (int) unit));
                }
            }
        });
        return shown.toString();
    }

    private static @Nullable RawValue raw(@Nullable String json) {
        return json == null ? null : new RawValue(json.replace('\n', ' ').replace('\r', ' '));
    }

    private static @Nullable String text(@Nullable Instant time) {
        return time == null ? null : time.toString();
    }
}
