package io.postroom.server.terminal;

/** Text of others as it may be shown: nothing that a terminal obeys, and no more than needed. */
public final class Quoted {
    private Quoted() {}

    /** Control characters and others that a terminal does not print are shown by their number; long text is cut. */
    public static String text(String text, int lengthMax) {
        StringBuilder shown = new StringBuilder();
        text.codePoints().limit(lengthMax).forEach(point -> {
            if (isHarmless(point)) {
                shown.appendCodePoint(point);
            } else {
                shown.append(String.format("\\u%04x", point));
            }
        });
        return text.codePointCount(0, text.length()) > lengthMax
                ? shown.append('…').toString()
                : shown.toString();
    }

    /** False for control characters, and for those that change the direction or are not seen. */
    public static boolean isHarmless(int codePoint) {
        int type = Character.getType(codePoint);
        return type != Character.CONTROL
                && type != Character.FORMAT
                && type != Character.LINE_SEPARATOR
                && type != Character.PARAGRAPH_SEPARATOR
                && type != Character.SURROGATE;
    }
}
