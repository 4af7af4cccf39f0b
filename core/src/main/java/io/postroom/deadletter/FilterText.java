package io.postroom.deadletter;

import io.postroom.PostroomException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * A filter as it is stored: a JSON object with what is given.
 *
 * <p>Reading refuses a name it does not know: a newer Postroom may have stored it, and to leave it out would mean more dead letters
 * than the operator did.
 */
final class FilterText {
    private static final JsonMapper JSON = JsonMapper.builder().build();

    private static final int VALUES_SHOWN_MAX = 100;
    /** Of all values of a name together; JSON may write them six times as long, and the audit has a limit. */
    private static final int VALUES_SHOWN_LENGTH_MAX = 2_000;

    private FilterText() {}

    static Map<String, Object> map(DeadLetterFilter filter) {
        Map<String, Object> map = new LinkedHashMap<>();
        put(map, "owner", filter.owner());
        put(map, "sources", filter.sources());
        put(map, "eventTypes", filter.eventTypes());
        put(map, "tenants", filter.tenants());
        put(map, "aggregateType", filter.aggregateType());
        put(map, "aggregateId", filter.aggregateId());
        put(map, "errorClass", filter.errorClass());
        put(map, "fingerprint", filter.fingerprint());
        put(map, "cause", filter.cause() == null ? null : filter.cause().word());
        put(map, "ids", filter.ids());
        put(
                map,
                "buriedFrom",
                filter.buriedFrom() == null ? null : filter.buriedFrom().toString());
        put(
                map,
                "buriedTo",
                filter.buriedTo() == null ? null : filter.buriedTo().toString());
        return map;
    }

    /** For those who read what was meant: of many values the first ones, and how many there are. */
    static Map<String, Object> summary(DeadLetterFilter filter) {
        Map<String, Object> summary = new LinkedHashMap<>();
        map(filter).forEach((name, value) -> {
            if (value instanceof Collection<?> values) {
                List<?> first = first(values);
                summary.put(name, first);
                if (first.size() < values.size()) {
                    summary.put(name + "Count", values.size());
                }
            } else {
                summary.put(name, value);
            }
        });
        return summary;
    }

    private static List<?> first(Collection<?> values) {
        List<Object> first = new ArrayList<>();
        int length = 0;
        for (Object value : values) {
            length += value.toString().length();
            if (first.size() == VALUES_SHOWN_MAX || length > VALUES_SHOWN_LENGTH_MAX) {
                break;
            }
            first.add(value);
        }
        return first;
    }

    /** What was meant, as JSON and no longer than needed. */
    static String describe(DeadLetterFilter filter) {
        return JSON.writeValueAsString(summary(filter));
    }

    static String write(DeadLetterFilter filter) {
        return JSON.writeValueAsString(map(filter));
    }

    static DeadLetterFilter read(String json) {
        DeadLetterFilter.Builder filter = DeadLetterFilter.builder();
        Iterator<Map.Entry<String, JsonNode>> entries =
                JSON.readTree(json).properties().iterator();
        while (entries.hasNext()) {
            Map.Entry<String, JsonNode> entry = entries.next();
            JsonNode value = entry.getValue();
            switch (entry.getKey()) {
                case "owner" -> filter.owner(value.asString());
                case "sources" -> filter.sources(texts(value));
                case "eventTypes" -> filter.eventTypes(texts(value));
                case "tenants" -> filter.tenants(texts(value));
                case "aggregateType" -> filter.aggregateType(value.asString());
                case "aggregateId" -> filter.aggregateId(value.asString());
                case "errorClass" -> filter.errorClass(value.asString());
                case "fingerprint" -> filter.fingerprint(value.asString());
                case "cause" -> filter.cause(Cause.of(value.asString()));
                case "ids" ->
                    filter.ids(value.values().stream().map(JsonNode::asLong).toList());
                case "buriedFrom" -> filter.buriedFrom(Instant.parse(value.asString()));
                case "buriedTo" -> filter.buriedTo(Instant.parse(value.asString()));
                default ->
                    throw new PostroomException(
                            "redrive.newer",
                            "could not read the filter of a redrive: it has a part named " + entry.getKey()
                                    + ", which this version does not know; use a newer one");
            }
        }
        return filter.build();
    }

    private static List<String> texts(JsonNode values) {
        return values.values().stream().map(JsonNode::asString).toList();
    }

    private static void put(Map<String, Object> map, String name, @Nullable Object value) {
        boolean given = value instanceof Collection<?> values ? !values.isEmpty() : value != null;
        if (given) {
            map.put(name, value);
        }
    }
}
