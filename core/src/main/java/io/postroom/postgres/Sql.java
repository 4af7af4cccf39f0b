package io.postroom.postgres;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * One statement from a file, with named parameters. Parsed once, immutable, shared by all threads.
 *
 * <p>{@code :name} is a parameter, except in comments, quoted text and after another colon ({@code ::type}).
 */
public final class Sql {
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
                text.append(source.startsWith("--", i) ? "" : source.substring(i, end));
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

    /** Where the comment, string or dollar quote that begins here ends; the same place if none begins. */
    private static int endOfOpaque(String source, int from) {
        char c = source.charAt(from);
        if (source.startsWith("--", from)) {
            int end = source.indexOf('\n', from);
            return end < 0 ? source.length() : end;
        }
        if (c == '\'' || c == '"') {
            int end = source.indexOf(c, from + 1);
            return end < 0 ? source.length() : end + 1;
        }
        if (source.startsWith("$$", from)) {
            int end = source.indexOf("$$", from + 2);
            return end < 0 ? source.length() : end + 2;
        }
        return from;
    }
}
