package io.postroom.postgres;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One statement from a file, with named parameters. Parsed once, immutable, shared by all threads.
 *
 * <p>{@code :name} is a parameter, except in comments, quoted text and after another colon ({@code ::type}). An array slice needs
 * a space after its colon. Everything else reaches PostgreSQL as it stands in the file, only without the comments.
 */
public final class Sql {
    private static final Pattern DOLLAR_TAG = Pattern.compile("\\$(?:[A-Za-z_][A-Za-z0-9_]*)?\\$");

    private final String name;
    private final String text;
    private final Map<String, int[]> indexes;

    private Sql(String name, String text, Map<String, int[]> indexes) {
        this.name = name;
        this.text = text;
        this.indexes = indexes;
    }

    static Sql parse(String name, String source) {
        StringBuilder text = new StringBuilder(source.length());
        Map<String, List<Integer>> found = new LinkedHashMap<>();
        int count = 0;
        int i = 0;
        while (i < source.length()) {
            int end = endOfOpaque(source, i);
            if (end > i) {
                // Comments are left out of what the server sees: they would be sent with every call.
                text.append(isComment(source, i) ? " " : source.substring(i, end));
                i = end;
            } else if (source.startsWith("::", i)) {
                text.append("::");
                i += 2;
            } else if (source.charAt(i) == ':' && i + 1 < source.length() && Character.isLetter(source.charAt(i + 1))) {
                int stop = i + 1;
                while (stop < source.length() && isNamePart(source.charAt(stop))) {
                    stop++;
                }
                found.computeIfAbsent(source.substring(i + 1, stop), ignored -> new ArrayList<>())
                        .add(++count);
                text.append('?');
                i = stop;
            } else {
                // A question mark is an operator in PostgreSQL and a parameter in JDBC.
                text.append(source.charAt(i) == '?' ? "??" : source.substring(i, i + 1));
                i++;
            }
        }
        Map<String, int[]> indexes = new LinkedHashMap<>();
        found.forEach((key, value) ->
                indexes.put(key, value.stream().mapToInt(Integer::intValue).toArray()));
        return new Sql(name, text.toString().strip(), indexes);
    }

    /** Prepares the statement on the caller's connection. */
    public Call on(Connection tx) {
        try {
            return new Call(this, tx, tx.prepareStatement(text));
        } catch (SQLException e) {
            throw DatabaseException.of("prepare " + name, e);
        }
    }

    /** The statement as the driver gets it. */
    public String text() {
        return text;
    }

    String name() {
        return name;
    }

    int[] indexesOf(String parameter) {
        int[] found = indexes.get(parameter);
        if (found == null) {
            throw new IllegalArgumentException(
                    name + " has no parameter :" + parameter + "; it has " + indexes.keySet());
        }
        return found;
    }

    private static boolean isNamePart(char c) {
        return Character.isLetterOrDigit(c) || c == '_';
    }

    private static boolean isComment(String source, int from) {
        return source.startsWith("--", from) || source.startsWith("/*", from);
    }

    /** Where the comment, string or dollar quote that begins here ends; the same place if none begins. */
    private static int endOfOpaque(String source, int from) {
        char c = source.charAt(from);
        if (source.startsWith("--", from)) {
            return orEnd(source, source.indexOf('\n', from), 0);
        }
        if (source.startsWith("/*", from)) {
            return endOfBlockComment(source, from);
        }
        if (c == '\'' && isEscapeString(source, from)) {
            return endOfEscapeString(source, from);
        }
        if (c == '\'' || c == '"') {
            return orEnd(source, source.indexOf(c, from + 1), 1);
        }
        Matcher tag = DOLLAR_TAG.matcher(source).region(from, source.length());
        if (c == '$' && tag.lookingAt() && (from == 0 || !isNamePart(source.charAt(from - 1)))) {
            return orEnd(
                    source, source.indexOf(tag.group(), tag.end()), tag.group().length());
        }
        return from;
    }

    /** Block comments nest in PostgreSQL. */
    private static int endOfBlockComment(String source, int from) {
        int depth = 0;
        int i = from;
        while (i < source.length()) {
            if (source.startsWith("/*", i)) {
                depth++;
                i += 2;
            } else if (source.startsWith("*/", i)) {
                depth--;
                i += 2;
                if (depth == 0) {
                    return i;
                }
            } else {
                i++;
            }
        }
        return i;
    }

    /** {@code E'…'}, in which a backslash may stand before a quote. */
    private static boolean isEscapeString(String source, int quote) {
        return quote > 0
                && (source.charAt(quote - 1) == 'E' || source.charAt(quote - 1) == 'e')
                && (quote == 1 || !isNamePart(source.charAt(quote - 2)));
    }

    private static int endOfEscapeString(String source, int from) {
        int i = from + 1;
        while (i < source.length() && source.charAt(i) != '\'') {
            i += source.charAt(i) == '\\' ? 2 : 1;
        }
        return Math.min(i + 1, source.length());
    }

    private static int orEnd(String source, int found, int length) {
        return found < 0 ? source.length() : found + length;
    }
}
