package io.postroom.server.web;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.util.RawValue;

/**
 * Lays JSON out over lines without reading it: no number is rounded, no key moves, nothing is left out before the limit. Indents
 * may make a text a hundred times as long as it is stored, so what is shown ends somewhere.
 */
public final class JsonText {
    /** So much of a text is shown. */
    public static final int LENGTH_MAX = 65_536;

    private static final int DEPTH_MAX = 200;

    private JsonText() {}

    /**
     * The beginning of the text with line breaks and indents, ended by {@code …} if that is not all; what is not JSON comes out somehow,
     * never as an error.
     */
    public static String pretty(String json) {
        return pretty(json, LENGTH_MAX);
    }

    /** As a part of a larger answer, byte for byte. */
    public static @Nullable RawValue raw(@Nullable String json) {
        return json == null ? null : new RawValue(json);
    }

    /** Whether {@link #pretty} shows less than all of it. */
    public static boolean isCut(String shown) {
        return shown.length() > LENGTH_MAX;
    }

    static String pretty(String json, int lengthMax) {
        StringBuilder text =
                new StringBuilder(Math.min(json.length() + json.length() / 4, lengthMax + DEPTH_MAX * 2 + 2));
        int depth = 0;
        boolean inString = false;
        for (int i = 0; i < json.length(); i++) {
            if (text.length() > lengthMax) {
                text.setLength(lengthMax);
                return text.append("\n…").toString();
            }
            char c = json.charAt(i);
            if (inString) {
                text.append(c);
                if (c == '\\' && i + 1 < json.length()) {
                    text.append(json.charAt(++i));
                } else if (c == '"') {
                    inString = false;
                }
            } else if (c == '"') {
                text.append(c);
                inString = true;
            } else if (c == '{' || c == '[') {
                char close = c == '{' ? '}' : ']';
                int next = skipSpace(json, i + 1);
                if (next < json.length() && json.charAt(next) == close) {
                    text.append(c).append(close);
                    i = next;
                } else {
                    newLine(text.append(c), ++depth);
                }
            } else if (c == '}' || c == ']') {
                newLine(text, --depth);
                text.append(c);
            } else if (c == ',') {
                newLine(text.append(c), depth);
            } else if (c == ':') {
                text.append(": ");
            } else if (!isSpace(c)) {
                text.append(c);
            }
        }
        return text.toString();
    }

    private static void newLine(StringBuilder text, int depth) {
        text.append('\n').append("  ".repeat(Math.max(0, Math.min(depth, DEPTH_MAX))));
    }

    private static int skipSpace(String json, int from) {
        int i = from;
        while (i < json.length() && isSpace(json.charAt(i))) {
            i++;
        }
        return i;
    }

    private static boolean isSpace(char c) {
        return c == ' ' || c == '\t' || c == '\n' || c == '\r';
    }
}
