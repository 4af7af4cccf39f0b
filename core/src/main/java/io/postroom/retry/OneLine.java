package io.postroom.retry;

/** Makes a stranger's text fit for one line of a log, a terminal and a column of text. */
final class OneLine {
    private static final int EXCERPT_LENGTH_MAX = 100;
    private static final int ESCAPE_LENGTH_MAX = 200;
    private static final char ESCAPE = '\u001b';
    private static final char CSI = '\u009b';
    private static final char BELL = '\u0007';

    private OneLine() {}

    /** The beginning of what somebody wrote, for an error that quotes it. */
    static String excerpt(String text) {
        return cut(
                join(clean(text.substring(0, Math.min(text.length(), 10 * EXCERPT_LENGTH_MAX)))), EXCERPT_LENGTH_MAX);
    }

    /**
     * Turns terminal sequences, control and invisible characters into spaces, and halves of a character into a replacement.
     * Every kind of line end becomes a line feed: the redaction has to know where a header ends.
     */
    static String clean(String text) {
        StringBuilder out = new StringBuilder(text.length());
        int i = 0;
        while (i < text.length()) {
            int c = text.codePointAt(i);
            if (c == ESCAPE || c == CSI) {
                out.append(' ');
                i = escapeEnd(text, i);
                continue;
            }
            out.appendCodePoint(clean(c));
            i += Character.charCount(c);
        }
        return out.toString();
    }

    private static int clean(int c) {
        return switch (Character.getType(c)) {
            case Character.LINE_SEPARATOR, Character.PARAGRAPH_SEPARATOR -> '\n';
            case Character.CONTROL -> c >= '\n' && c <= '\r' || c == 0x85 ? '\n' : ' ';
            case Character.FORMAT, Character.SPACE_SEPARATOR -> ' ';
            case Character.SURROGATE -> 0xFFFD;
            default -> c;
        };
    }

    /** Where a terminal sequence ends: a colour (ESC [ 3 1 m) or a title (ESC ] … BEL); the escape alone if it has no end. */
    private static int escapeEnd(String text, int start) {
        int i = start + 1;
        int end = Math.min(text.length(), start + ESCAPE_LENGTH_MAX);
        boolean isTitle = false;
        if (text.charAt(start) == ESCAPE) {
            if (i >= end || text.charAt(i) != '[' && text.charAt(i) != ']') {
                return i;
            }
            isTitle = text.charAt(i) == ']';
            i++;
        }
        while (i < end) {
            char c = text.charAt(i++);
            if (isTitle ? c == BELL || c == ESCAPE : c >= '@' && c <= '~') {
                return isTitle && c == ESCAPE && i < end && text.charAt(i) == '\\' ? i + 1 : i;
            }
            if (!isTitle && (c < ' ' || c > '~')) {
                break;
            }
        }
        return start + 1;
    }

    /** Line feeds and runs of spaces become one space. */
    static String join(String lines) {
        StringBuilder out = new StringBuilder(lines.length());
        for (int i = 0; i < lines.length(); i++) {
            char c = lines.charAt(i);
            if (c != ' ' && c != '\n') {
                out.append(c);
            } else if (out.length() > 0 && out.charAt(out.length() - 1) != ' ') {
                out.append(' ');
            }
        }
        return out.toString().strip();
    }

    /** At most so many characters, with an ellipsis if some are missing, and never half of one. */
    static String cut(String text, int lengthMax) {
        if (text.length() <= lengthMax) {
            return text;
        }
        int end = lengthMax - 1;
        return text.substring(0, Character.isHighSurrogate(text.charAt(end - 1)) ? end - 1 : end) + "…";
    }
}
