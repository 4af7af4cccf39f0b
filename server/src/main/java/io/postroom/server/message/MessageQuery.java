package io.postroom.server.message;

import io.javalin.http.Context;
import io.postroom.server.web.Asked;
import io.postroom.server.web.Refusal;
import java.util.List;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Which messages are asked for; what is null fits all.
 *
 * @param find an event type, an aggregate type or an aggregate id, whichever it is
 * @param path names on the way to a field of the payload
 * @param value what is to stand there
 */
record MessageQuery(
        @Nullable String eventType,
        @Nullable String aggregateType,
        @Nullable String aggregateId,
        @Nullable String tenant,
        @Nullable String find,
        @Nullable List<String> path,
        @Nullable String value) {
    static final MessageQuery ALL = new MessageQuery(null, null, null, null, null, null, null);
    static final int VALUE_LENGTH_MAX = 500;

    private static final Pattern FIELD = Pattern.compile("([^=]{1,200})=(.{0," + VALUE_LENGTH_MAX + "})");
    private static final int DEPTH_MAX = 20;

    static MessageQuery of(Context context) {
        return of(
                Asked.text(context, "type"),
                Asked.text(context, "aggregateType"),
                Asked.text(context, "key"),
                Asked.text(context, "tenant"),
                Asked.text(context, "find"),
                Asked.text(context, "data"));
    }

    /** {@code field} is a path and a value, such as {@code customer.id=77}. */
    static MessageQuery of(
            @Nullable String eventType,
            @Nullable String aggregateType,
            @Nullable String aggregateId,
            @Nullable String tenant,
            @Nullable String find,
            @Nullable String field) {
        List<String> path = null;
        String value = null;
        if (field != null) {
            Matcher matcher = FIELD.matcher(field);
            if (!matcher.matches()) {
                throw Refusal.invalid("data is not a field and a value; write customer.id=77");
            }
            path = List.of(matcher.group(1).strip().split("\\."));
            if (path.size() > DEPTH_MAX) {
                throw Refusal.invalid("data has " + path.size() + " names, the limit is " + DEPTH_MAX);
            }
            value = matcher.group(2).strip();
        }
        return new MessageQuery(eventType, aggregateType, aggregateId, tenant, find, path, value);
    }

    boolean isAll() {
        return eventType == null
                && aggregateType == null
                && aggregateId == null
                && tenant == null
                && find == null
                && path == null;
    }

    /** Whether a message fits, as {@code read_rows.sql} says it. {@code found} is what stands at the path. */
    boolean fits(MessageRow row, @Nullable String found) {
        return (eventType == null || eventType.equals(row.eventType()))
                && (aggregateType == null || aggregateType.equals(row.aggregateType()))
                && (aggregateId == null || aggregateId.equals(row.aggregateId()))
                && (tenant == null || tenant.equals(row.tenantId()))
                && (find == null
                        || List.of(row.eventType(), row.aggregateType(), row.aggregateId())
                                .contains(find))
                && (path == null || Objects.equals(value, found));
    }
}
