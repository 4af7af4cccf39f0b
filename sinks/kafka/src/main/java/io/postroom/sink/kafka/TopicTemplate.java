package io.postroom.sink.kafka;

import io.postroom.message.Message;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Names the topic of a message: {@code events.{aggregateType}}.
 *
 * <p>Values are put in as they are. A value that Kafka does not allow in a topic name, or that would make two different sets of
 * values meet in one topic, has no topic: nothing is replaced, cut or merged.
 */
final class TopicTemplate {
    static final int TOPIC_CHARS_MAX = 249;

    private static final Pattern LEGAL = Pattern.compile("[a-zA-Z0-9._-]*");
    private static final Pattern PLACEHOLDER = Pattern.compile("\\{([^{}]*)}");
    private static final String ALPHABET = "letters a-z and A-Z, digits, '.', '_' and '-'";

    private final String template;
    private final List<Part> parts;

    private TopicTemplate(String template, List<Part> parts) {
        this.template = template;
        this.parts = List.copyOf(parts);
    }

    /** Reads a template; adds every problem it has to the list, and the result is only of use if there is none. */
    static TopicTemplate parse(String template, List<String> problems) {
        List<Part> parts = new ArrayList<>();
        Matcher matcher = PLACEHOLDER.matcher(template);
        int end = 0;
        while (matcher.find()) {
            addText(template, template.substring(end, matcher.start()), parts, problems);
            addPlaceholder(template, matcher.group(1), parts, problems);
            end = matcher.end();
        }
        addText(template, template.substring(end), parts, problems);
        if (parts.isEmpty()) {
            problems.add("topic is empty; give a name or a template such as events.{aggregateType}");
        }
        String text = parts.stream().map(Part::text).collect(Collectors.joining());
        if (text.length() > TOPIC_CHARS_MAX) {
            problems.add("topic " + template + " has " + text.length() + " characters, a Kafka topic name has at most "
                    + TOPIC_CHARS_MAX);
        }
        if (template.equals(".") || template.equals("..")) {
            problems.add("topic " + template + " is not a name that Kafka allows");
        }
        return new TopicTemplate(template, parts);
    }

    private static void addText(String template, String text, List<Part> parts, List<String> problems) {
        if (text.isEmpty()) {
            return;
        }
        if (text.indexOf('{') >= 0 || text.indexOf('}') >= 0) {
            problems.add("topic " + template + " has a brace without its partner");
        } else if (!LEGAL.matcher(text).matches()) {
            problems.add(
                    "topic " + template + " has '" + firstIllegal(text) + "'; a topic name is made of " + ALPHABET);
        }
        parts.add(new Part(text, null));
    }

    private static void addPlaceholder(String template, String name, List<Part> parts, List<String> problems) {
        Field field = Field.named(name);
        if (field == null) {
            problems.add(
                    "topic " + template + " has {" + name + "}, which is not a placeholder; there are " + Field.all());
            return;
        }
        if (!parts.isEmpty() && parts.get(parts.size() - 1).field != null) {
            problems.add("topic " + template + " has {" + name
                    + "} right after another placeholder, so that different values"
                    + " could meet in one topic; put a '.', '_' or '-' between them");
        }
        parts.add(new Part("", field));
    }

    /** Whether every message goes to one topic. */
    boolean isFixed() {
        return parts.stream().allMatch(part -> part.field == null);
    }

    Destination destination(Message message) {
        StringBuilder topic = new StringBuilder();
        for (int n = 0; n < parts.size(); n++) {
            Field field = parts.get(n).field;
            if (field == null) {
                topic.append(parts.get(n).text);
                continue;
            }
            String value = field.of.apply(message);
            String problem = problem(field, value, n);
            if (problem != null) {
                return new Nowhere("could not route message " + message.id() + ": " + problem);
            }
            topic.append(value);
        }
        if (topic.length() > TOPIC_CHARS_MAX) {
            return new Nowhere("could not route message " + message.id() + ": the topic name by " + template + " has "
                    + topic.length() + " characters, a Kafka topic name has at most " + TOPIC_CHARS_MAX);
        }
        String name = topic.toString();
        return name.equals(".") || name.equals("..")
                ? new Nowhere(
                        "could not route message " + message.id() + ": Kafka does not allow the topic name " + name)
                : new Topic(name);
    }

    private @Nullable String problem(Field field, @Nullable String value, int n) {
        if (value == null || value.isEmpty()) {
            return "it has no " + field.words + ", which topic " + template + " asks for";
        }
        if (!LEGAL.matcher(value).matches()) {
            return "its " + field.words + " has the character " + codePoint(value) + "; a topic name is made of "
                    + ALPHABET;
        }
        // "{tenantId}.{aggregateType}" would send (a, b.c) and (a.b, c) to one topic, and so one tenant's messages to
        // another.
        boolean last = parts.stream().skip(n + 1L).allMatch(part -> part.field == null);
        if (!last && value.indexOf(parts.get(n + 1).text.charAt(0)) >= 0) {
            return "its " + field.words + " " + value + " has the '"
                    + parts.get(n + 1).text.charAt(0) + "' that ends it in topic " + template
                    + ", so that different values could meet in one topic; separate them by another character";
        }
        return null;
    }

    private static String firstIllegal(String text) {
        int index = text.codePoints()
                .filter(c -> !LEGAL.matcher(Character.toString(c)).matches())
                .findFirst()
                .orElseThrow();
        return Character.toString(index);
    }

    /** Named by number: the character itself may be a control character, which must not reach a log. */
    private static String codePoint(String value) {
        return String.format("U+%04X", firstIllegal(value).codePointAt(0));
    }

    @Override
    public String toString() {
        return template;
    }

    /** Where a message goes. */
    sealed interface Destination {}

    record Topic(String name) implements Destination {}

    record Nowhere(String reason) implements Destination {}

    /** Either text or a placeholder. */
    private record Part(String text, @Nullable Field field) {}

    private enum Field {
        AGGREGATE_TYPE("aggregateType", "aggregate type", Message::aggregateType),
        EVENT_TYPE("eventType", "event type", Message::eventType),
        TENANT_ID("tenantId", "tenant", Message::tenantId),
        EVENT_VERSION("eventVersion", "event version", message -> Integer.toString(message.eventVersion()));

        private final String placeholder;
        private final String words;
        private final Function<Message, @Nullable String> of;

        Field(String placeholder, String words, Function<Message, @Nullable String> of) {
            this.placeholder = placeholder;
            this.words = words;
            this.of = of;
        }

        static @Nullable Field named(String placeholder) {
            return Arrays.stream(values())
                    .filter(field -> field.placeholder.equals(placeholder))
                    .findFirst()
                    .orElse(null);
        }

        static String all() {
            return Arrays.stream(values())
                    .map(field -> "{" + field.placeholder + "}")
                    .collect(Collectors.joining(", "));
        }
    }
}
