package io.postroom.server.relay;

import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Puts the environment into values: {@code ${NAME}}, or {@code ${NAME:-default}}; {@code $${} stays {@code ${}. Values are
 * replaced after the file was read, so nothing in the environment can change its structure.
 */
final class Variables {
    private static final Pattern FORM = Pattern.compile("\\$?\\$\\{([A-Za-z_][A-Za-z0-9_]*)(:-([^}]*))?}");

    private final Map<String, String> environment;

    Variables(Map<String, String> environment) {
        this.environment = environment;
    }

    /** Whether a value comes from the environment as a whole. */
    static boolean isReference(String text) {
        return !text.startsWith("$$") && FORM.matcher(text.strip()).matches();
    }

    /** The variables that a value names. */
    static List<String> names(String text) {
        return FORM.matcher(text)
                .results()
                .filter(found -> !found.group().startsWith("$$"))
                .map(found -> found.group(1))
                .toList();
    }

    /** The value with its variables replaced; {@code missing} hears the names of those that are not set. */
    String replace(String text, Consumer<String> missing) {
        if (!text.contains("${")) {
            return text;
        }
        StringBuilder replaced = new StringBuilder();
        Matcher matcher = FORM.matcher(text);
        while (matcher.find()) {
            String value;
            if (matcher.group().startsWith("$$")) {
                value = matcher.group().substring(1);
            } else {
                value = environment.get(matcher.group(1));
                if (value == null) {
                    value = matcher.group(3);
                }
                if (value == null) {
                    missing.accept(matcher.group(1));
                    value = "";
                }
            }
            matcher.appendReplacement(replaced, Matcher.quoteReplacement(value));
        }
        return matcher.appendTail(replaced).toString();
    }
}
