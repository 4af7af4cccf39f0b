package io.postroom.sink.webhook;

import io.postroom.retry.Fault;

/** The beginning of a stranger's text, fit for an operator's eyes: one short line, without what looks like a secret. */
final class Excerpt {
    static final int LENGTH_MAX = 200;

    private Excerpt() {}

    static String of(String text) {
        // A fault redacts what it is given, by rules that all of Postroom shares. Cut afterwards: half a secret looks
        // like none.
        String line = Fault.of("excerpt", text).message();
        if (line.length() <= LENGTH_MAX) {
            return line;
        }
        boolean splits = Character.isHighSurrogate(line.charAt(LENGTH_MAX - 1));
        return line.substring(0, splits ? LENGTH_MAX - 1 : LENGTH_MAX) + "…";
    }
}
