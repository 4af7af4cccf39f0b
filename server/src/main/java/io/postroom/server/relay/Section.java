package io.postroom.server.relay;

import io.postroom.PostroomException;
import io.postroom.server.terminal.Durations;
import io.postroom.server.terminal.Quoted;
import io.postroom.server.terminal.Suggestion;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A block of settings. Settings are asked for by name; {@link #close} complains about those that nobody asked for. A name is
 * {@code batch-size} in the file, and {@code batchSize} is read as the same.
 *
 * <p>Every getter adds its problem and returns empty instead of failing, so that one reading finds all of them.
 */
final class Section {
    private static final Pattern BYTES = Pattern.compile("(\\d{1,12})(B|KiB|MiB|GiB)?");
    private static final int VALUE_LENGTH_MAX = 60;

    private final String path;
    private final int line;
    private final Map<String, Node> entries = new LinkedHashMap<>();
    private final Map<String, String> spellings = new LinkedHashMap<>();
    private final Set<String> asked = new TreeSet<>();
    private final Map<String, String> renamed = new HashMap<>();
    private final Variables variables;
    private final Problems problems;

    private Section(String path, int line, Variables variables, Problems problems) {
        this.path = path;
        this.line = line;
        this.variables = variables;
        this.problems = problems;
    }

    /** The file as a whole. */
    static Section root(@Nullable Node node, Variables variables, Problems problems) {
        return of("", node == null ? new Node.Scalar(1, null) : node, variables, problems);
    }

    private static Section of(String path, Node node, Variables variables, Problems problems) {
        Section section = new Section(path, node.line(), variables, problems);
        if (node instanceof Node.Mapping mapping) {
            mapping.entries().forEach((name, value) -> {
                section.spellings.put(kebab(name), name);
                if (section.entries.put(kebab(name), value) != null) {
                    problems.add(value.line(), section.name(kebab(name)) + " is there twice; remove one");
                }
            });
        } else if (!(node instanceof Node.Scalar scalar) || scalar.text() != null) {
            problems.add(
                    node.line(),
                    (path.isEmpty() ? "the file" : path) + " is " + node.kind() + ", not a block of settings");
        }
        return section;
    }

    private static String kebab(String name) {
        return name.replaceAll("(?<=[a-z0-9])([A-Z])", "-$1").toLowerCase(Locale.ROOT);
    }

    int line() {
        return line;
    }

    /** The full name of a setting of this block. */
    String name(String setting) {
        return path.isEmpty() ? setting : path + "." + setting;
    }

    String path() {
        return path;
    }

    void problem(int line, String text) {
        problems.add(line, text);
    }

    /** The line of a setting, or of the block if it is not there. */
    int lineOf(String setting) {
        Node node = entries.get(setting);
        return node == null ? line : node.line();
    }

    boolean has(String setting) {
        asked.add(setting);
        return entries.containsKey(setting);
    }

    /** A block within this one; empty if it is not there. */
    Optional<Section> section(String setting) {
        asked.add(setting);
        return Optional.ofNullable(entries.get(setting)).map(node -> of(name(setting), node, variables, problems));
    }

    /** Blocks within this one whose names are the user's own, as they are spelt. */
    Map<String, Section> sections() {
        Map<String, Section> sections = new LinkedHashMap<>();
        entries.forEach((setting, node) -> {
            asked.add(setting);
            String name = spellings.getOrDefault(setting, setting);
            sections.put(name, of(name(name), node, variables, problems));
        });
        return sections;
    }

    /** Lists within this block whose names are the user's own, as they are spelt. */
    Map<String, List<String>> lists() {
        Map<String, List<String>> lists = new LinkedHashMap<>();
        List.copyOf(entries.keySet())
                .forEach(setting -> lists.put(spellings.getOrDefault(setting, setting), texts(setting)));
        return lists;
    }

    Optional<String> text(String setting) {
        return raw(setting).map(scalar -> resolve(setting, scalar));
    }

    /** A list of values; a single one counts as a list of one. */
    List<String> texts(String setting) {
        return scalars(setting).stream().map(scalar -> resolve(setting, scalar)).toList();
    }

    /** The same, before variables are replaced. */
    List<Node.Scalar> scalars(String setting) {
        asked.add(setting);
        Node node = entries.get(setting);
        if (node == null) {
            return List.of();
        }
        List<Node.Scalar> values = new ArrayList<>();
        for (Node item : node instanceof Node.Sequence list ? list.items() : List.of(node)) {
            if (item instanceof Node.Scalar scalar && scalar.text() != null) {
                values.add(scalar);
            } else {
                problems.add(item.line(), name(setting) + " has " + item.kind() + " where a value is expected");
            }
        }
        return values;
    }

    /** Names and values of the user's own. */
    Map<String, String> map(String setting) {
        Map<String, String> values = new LinkedHashMap<>();
        each(setting, values::put);
        return values;
    }

    /** The same, read by a rule; what the rule throws becomes a problem of the line. */
    void each(String setting, BiConsumer<String, String> rule) {
        asked.add(setting);
        Node node = entries.get(setting);
        if (node instanceof Node.Mapping mapping) {
            mapping.entries().forEach((name, value) -> {
                String full = setting + "." + shown(name);
                if (value instanceof Node.Scalar scalar && scalar.text() != null) {
                    apply(full, value.line(), () -> rule.accept(name, resolve(full, scalar)));
                } else {
                    problems.add(value.line(), name(full) + " is " + value.kind() + ", not a single value");
                }
            });
        } else if (node != null) {
            problems.add(node.line(), name(setting) + " is " + node.kind() + ", not names and values");
        }
    }

    void duration(String setting, Consumer<Duration> use) {
        read(setting, text -> use.accept(Durations.parse(text)));
    }

    void integer(String setting, Consumer<Integer> use) {
        read(setting, text -> {
            if (!text.matches("-?\\d{1,9}")) {
                throw new IllegalArgumentException("'" + shown(text) + "' is not a whole number"
                        + (text.matches("-?\\d+") ? " of 9 digits at most" : ""));
            }
            use.accept(Integer.parseInt(text));
        });
    }

    void bytes(String setting, Consumer<Long> use) {
        read(setting, text -> {
            Matcher matcher = BYTES.matcher(text);
            if (!matcher.matches()) {
                throw new IllegalArgumentException(
                        "'" + shown(text) + "' is not a size; write a number of bytes, or 64KiB, 1MiB");
            }
            int shift = matcher.group(2) == null
                    ? 0
                    : List.of("B", "KiB", "MiB", "GiB").indexOf(matcher.group(2)) * 10;
            long number = Long.parseLong(matcher.group(1));
            if (number > Long.MAX_VALUE >> shift) {
                throw new IllegalArgumentException("'" + shown(text) + "' is too large; write less");
            }
            use.accept(number << shift);
        });
    }

    boolean bool(String setting) {
        boolean[] value = {false};
        read(setting, text -> {
            if (!text.equals("true") && !text.equals("false")) {
                throw new IllegalArgumentException("'" + shown(text) + "' is neither true nor false");
            }
            value[0] = text.equals("true");
        });
        return value[0];
    }

    /** Reads a text by a rule of its own; what the rule throws becomes a problem of this setting. */
    void read(String setting, Consumer<String> rule) {
        text(setting).ifPresent(text -> apply(setting, lineOf(setting), () -> rule.accept(text)));
    }

    private void apply(String setting, int at, Runnable rule) {
        try {
            rule.run();
        } catch (IllegalArgumentException | PostroomException e) {
            problems.add(at, name(setting) + ": " + e.getMessage());
        }
    }

    /** Says that a setting once had another name, for whoever still writes that. */
    void renamed(String former, String setting) {
        renamed.put(former, setting);
    }

    /** Complains about settings that are none. */
    void close() {
        Set<String> unknown = new HashSet<>(entries.keySet());
        unknown.removeAll(asked);
        unknown.forEach(setting -> problems.add(
                lineOf(setting),
                name(Quoted.text(setting, VALUE_LENGTH_MAX)) + " is not a setting"
                        + Optional.ofNullable(renamed.get(setting))
                                .or(() -> Suggestion.nearest(setting, asked))
                                .map(best -> "; did you mean " + name(best) + "?")
                                .orElse(
                                        asked.isEmpty()
                                                ? "; there is none here"
                                                : "; those here are " + String.join(", ", asked))));
    }

    private Optional<Node.Scalar> raw(String setting) {
        asked.add(setting);
        Node node = entries.get(setting);
        if (node == null) {
            return Optional.empty();
        }
        if (node instanceof Node.Scalar scalar && scalar.text() != null) {
            return Optional.of(scalar);
        }
        problems.add(node.line(), name(setting) + " is " + node.kind() + ", not a single value");
        return Optional.empty();
    }

    String resolve(String setting, Node.Scalar scalar) {
        return variables.replace(
                scalar.text() == null ? "" : scalar.text(),
                missing -> problems.add(
                        scalar.line(), name(setting) + ": variable " + missing + " is not set, and has no default"));
    }

    private static String shown(String text) {
        return Quoted.text(text, VALUE_LENGTH_MAX);
    }
}
