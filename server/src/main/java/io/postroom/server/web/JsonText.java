package io.postroom.server.web;

/** Lays JSON out over lines without reading it: no number is rounded, no key moves, nothing is left out. */
public final class JsonText {
    private static final int DEPTH_MAX = 200;

    private JsonText() {}

    /** The same text with line breaks and indents; what is not JSON comes out somehow, never as an error. */
    public static String pretty(String json) {
        StringBuilder text = new StringBuilder(json.length() + json.length() / 4);
        int depth = 0;
        boolean inString = false;
        for (int i = 0; i < json.length(); i++) {
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
