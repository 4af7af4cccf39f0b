package io.postroom.server.why;

import io.postroom.diagnosis.Answer;
import io.postroom.diagnosis.Found;
import io.postroom.diagnosis.Reason;
import io.postroom.diagnosis.Why;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

/** The answer for programs: times are text, durations seconds. The names never change; evidence may get more of them. */
public final class WhyJson {
    private static final JsonMapper JSON = JsonMapper.builder().build();

    private WhyJson() {}

    /** One object. */
    static String of(Why why) {
        return JSON.writeValueAsString(object(why)) + "\n";
    }

    /** The same as a part of something else. */
    public static Map<String, @Nullable Object> object(Why why) {
        Map<String, @Nullable Object> object = head(why);
        object.put("answers", why.answers().stream().map(WhyJson::answer).toList());
        return object;
    }

    /** An object for each answer. */
    static String lines(Why why) {
        return why.answers().stream()
                .map(answer -> {
                    Map<String, @Nullable Object> object = head(why);
                    object.putAll(answer(answer));
                    return JSON.writeValueAsString(object) + "\n";
                })
                .collect(Collectors.joining());
    }

    private static Map<String, @Nullable Object> head(Why why) {
        Map<String, @Nullable Object> object = new LinkedHashMap<>();
        object.put("messageId", why.messageId().toString());
        object.put("verdict", why.verdict().word());
        object.put("message", message(why.message()));
        return object;
    }

    private static @Nullable Map<String, @Nullable Object> message(@Nullable Found message) {
        if (message == null) {
            return null;
        }
        Map<String, @Nullable Object> object = new LinkedHashMap<>();
        object.put("tenantId", message.key().tenantId());
        object.put("aggregateType", message.key().aggregateType());
        object.put("aggregateId", message.key().aggregateId());
        object.put("eventType", message.eventType());
        object.put("eventVersion", message.eventVersion());
        object.put("occurredAt", plain(message.occurredAt()));
        object.put("availableAt", plain(message.availableAt()));
        object.put("day", plain(message.day()));
        object.put("position", message.position());
        object.put("stampedAt", plain(message.stampedAt()));
        object.put("copies", message.copies());
        return object;
    }

    private static Map<String, @Nullable Object> answer(Answer answer) {
        Map<String, @Nullable Object> object = new LinkedHashMap<>();
        object.put("subscription", answer.subscription());
        object.put("verdict", answer.verdict().word());
        object.put("reasons", answer.reasons().stream().map(WhyJson::reason).toList());
        return object;
    }

    private static Map<String, @Nullable Object> reason(Reason reason) {
        Map<String, @Nullable Object> evidence = new LinkedHashMap<>();
        reason.evidence().forEach((name, value) -> evidence.put(name, plain(value)));
        Map<String, @Nullable Object> object = new LinkedHashMap<>();
        object.put("code", reason.code().word());
        object.put("sentence", reason.sentence());
        object.put("evidence", evidence);
        object.put("next", reason.next());
        return object;
    }

    private static @Nullable Object plain(@Nullable Object value) {
        if (value instanceof Duration duration) {
            return duration.toMillis() / 1000.0;
        }
        return value == null || value instanceof Number || value instanceof Boolean ? value : value.toString();
    }
}
