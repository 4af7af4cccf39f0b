package io.postroom.server.relay;

import io.postroom.server.terminal.Quoted;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.dataformat.yaml.YAMLFactory;
import tools.jackson.dataformat.yaml.YAMLParser;

/**
 * Reads YAML as far as settings need it: blocks, lists and values, each with its line. Anchors and aliases are refused, so a
 * small file cannot grow; so is a name that is there twice, of which one would be ignored.
 */
final class Yaml {
    static final int TEXT_LENGTH_MAX = 1_048_576;
    private static final int DEPTH_MAX = 20;
    private static final int FACTS_LENGTH_MAX = 200;
    private static final Pattern PLACE = Pattern.compile("line (\\d+)");

    private final YAMLParser parser;
    private final Problems problems;

    private Yaml(YAMLParser parser, Problems problems) {
        this.parser = parser;
        this.problems = problems;
    }

    /** Reads a whole file; null if there is nothing in it or it cannot be read, and then the problems say why. */
    static @Nullable Node read(String text, Problems problems) {
        if (text.length() > TEXT_LENGTH_MAX) {
            problems.add(0, "the file has " + text.length() + " characters, the limit is " + TEXT_LENGTH_MAX);
            return null;
        }
        YAMLFactory factory = YAMLFactory.builder().build();
        try (YAMLParser parser = (YAMLParser) factory.createParser(ObjectReadContext.empty(), text)) {
            Yaml yaml = new Yaml(parser, problems);
            if (parser.nextToken() == null) {
                return null;
            }
            Node node = yaml.node(0);
            if (parser.nextToken() != null) {
                problems.add(yaml.line(), "a second document begins; a file has one");
            }
            return node;
        } catch (JacksonException e) {
            explain(text, e, problems);
            return null;
        }
    }

    /** The parser tells a story of several lines: what it was doing, where, what it found, and where again. */
    private static void explain(String text, JacksonException e, Problems problems) {
        OptionalInt tab = IntStream.range(0, (int) text.lines().count())
                .filter(i -> text.lines().skip(i).findFirst().orElse("").matches(" *\\t.*"))
                .findFirst();
        if (tab.isPresent()) {
            problems.add(tab.getAsInt() + 1, "this is not YAML: a line begins with a tab; indent with spaces");
            return;
        }
        String story = e.getOriginalMessage();
        int line = e.getLocation() == null ? 0 : e.getLocation().getLineNr();
        for (Matcher place = PLACE.matcher(story); place.find(); ) {
            line = Integer.parseInt(place.group(1));
        }
        String facts = story.lines()
                .filter(part -> !part.isBlank() && !part.startsWith(" "))
                .collect(Collectors.joining(", "));
        problems.add(line, "this is not YAML: " + Quoted.text(facts, FACTS_LENGTH_MAX));
    }

    private Node node(int depth) {
        int line = line();
        if (parser.isCurrentAlias() || parser.getObjectId() != null) {
            problems.add(line, "anchors and aliases (& and *) are not taken; write the value out, or quote it");
        }
        JsonToken token = parser.currentToken();
        if (depth > DEPTH_MAX && token.isStructStart()) {
            problems.add(line, "blocks are nested deeper than " + DEPTH_MAX);
            parser.skipChildren();
            return new Node.Scalar(line, null);
        }
        if (token == JsonToken.START_OBJECT) {
            return mapping(line, depth);
        }
        if (token == JsonToken.START_ARRAY) {
            List<Node> items = new ArrayList<>();
            while (parser.nextToken() != JsonToken.END_ARRAY) {
                items.add(node(depth + 1));
            }
            return new Node.Sequence(line, items);
        }
        return new Node.Scalar(line, token == JsonToken.VALUE_NULL ? null : parser.getString());
    }

    private Node mapping(int line, int depth) {
        Map<String, Node> entries = new LinkedHashMap<>();
        while (parser.nextToken() != JsonToken.END_OBJECT) {
            String name = Objects.requireNonNull(parser.currentName());
            int nameLine = line();
            parser.nextToken();
            if (entries.put(name, node(depth + 1)) != null) {
                problems.add(nameLine, Quoted.text(name, 60) + " is there twice; remove one");
            }
        }
        return new Node.Mapping(line, entries);
    }

    private int line() {
        return parser.currentTokenLocation().getLineNr();
    }
}
