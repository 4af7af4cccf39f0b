package io.postroom.server.deadletter;

import io.javalin.http.Context;
import io.postroom.deadletter.Cause;
import io.postroom.deadletter.DeadLetterFilter;
import io.postroom.server.web.Asked;
import io.postroom.server.web.Refusal;
import io.postroom.server.web.Shown;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A filter for dead letters as it stands in an address, in a form and in the body of a call: the same names everywhere. */
public final class LetterQuery {
    static final List<String> NAMES = List.of(
            "subscription",
            "queue",
            "type",
            "tenant",
            "aggregateType",
            "key",
            "errorClass",
            "fingerprint",
            "cause",
            "from",
            "to",
            "ids");
    private static final int IDS_LENGTH_MAX = 1_000;

    /** What the form of the list asks for; the rest of a filter goes with it unseen. */
    public static final List<String> LIST_FIELDS = List.of("subscription", "queue", "type", "key", "tenant");

    /** What the form of a redrive asks for. */
    public static final List<String> REDRIVE_FIELDS =
            List.of("subscription", "queue", "type", "key", "tenant", "from", "to");

    private static final Map<String, String> LABELS = Map.of(
            "subscription", "Subscription",
            "queue", "Queue",
            "type", "Event type",
            "key", "Aggregate id",
            "tenant", "Tenant",
            "from", "Buried from (UTC)",
            "to", "to (UTC)");

    /** How a form calls a part of the filter. */
    public static String label(String name) {
        return LABELS.getOrDefault(name, name);
    }

    private LetterQuery() {}

    static DeadLetterFilter ofQuery(Context context) {
        return of(name -> Asked.text(context, name));
    }

    static DeadLetterFilter ofForm(Context context) {
        return of(name -> Asked.formText(context, name));
    }

    static DeadLetterFilter of(Function<String, @Nullable String> values) {
        String subscription = values.apply("subscription");
        String queue = values.apply("queue");
        if (subscription != null && queue != null) {
            throw Refusal.invalid("no dead letter has both a subscription and a queue; give one");
        }
        DeadLetterFilter.Builder builder = DeadLetterFilter.builder()
                .owner(queue == null ? subscription : queue)
                .sources(
                        queue != null
                                ? DeadLetterFilter.JOBS
                                : subscription != null ? DeadLetterFilter.SUBSCRIPTIONS : Set.of())
                .aggregateType(values.apply("aggregateType"))
                .aggregateId(values.apply("key"))
                .errorClass(values.apply("errorClass"))
                .fingerprint(values.apply("fingerprint"))
                .cause(cause(values.apply("cause")))
                .buriedFrom(Asked.time(values.apply("from"), "from"))
                .buriedTo(Asked.time(values.apply("to"), "to"));
        String type = values.apply("type");
        if (type != null) {
            builder.eventTypes(Set.of(type));
        }
        String tenant = values.apply("tenant");
        if (tenant != null) {
            builder.tenants(Set.of(tenant));
        }
        String ids = values.apply("ids");
        if (ids != null) {
            if (ids.length() > IDS_LENGTH_MAX || !ids.matches("\\d{1,18}(,\\d{1,18})*")) {
                throw Refusal.invalid(
                        "ids are whole numbers with commas between, at most " + IDS_LENGTH_MAX + " characters");
            }
            builder.ids(Arrays.stream(ids.split(",")).map(Long::valueOf).toList());
        }
        return builder.build();
    }

    /** The same act from a terminal. */
    static String command(String action, Map<String, String> given) {
        StringBuilder command = new StringBuilder("postroom deadletter ").append(action);
        String ids = given.get("ids");
        if (ids != null) {
            command.append(' ').append(ids.replace(',', ' '));
        }
        given.forEach((name, value) -> {
            String option = OPTIONS.get(name);
            if (option != null) {
                command.append(' ').append(option).append(' ').append(Shown.argument(value));
            }
        });
        return command.append(" --reason '…'").toString();
    }

    private static final Map<String, String> OPTIONS = Map.ofEntries(
            Map.entry("subscription", "--subscription"),
            Map.entry("queue", "--queue"),
            Map.entry("type", "--type"),
            Map.entry("tenant", "--tenant"),
            Map.entry("aggregateType", "--aggregate-type"),
            Map.entry("key", "--aggregate-id"),
            Map.entry("errorClass", "--error-class"),
            Map.entry("fingerprint", "--fingerprint"),
            Map.entry("cause", "--cause"),
            Map.entry("from", "--since"),
            Map.entry("to", "--until"));

    /** The parts that are given, by name, for links, forms and the line that says what is shown. */
    static Map<String, String> given(Function<String, @Nullable String> values) {
        Map<String, String> given = new LinkedHashMap<>();
        for (String name : NAMES) {
            String value = values.apply(name);
            if (value != null) {
                given.put(name, value);
            }
        }
        return given;
    }

    private static @Nullable Cause cause(@Nullable String word) {
        List<String> words = Arrays.stream(Cause.values()).map(Cause::word).toList();
        String known = Asked.word(word, "cause", words);
        return known == null ? null : Cause.values()[words.indexOf(known)];
    }
}
