package io.postroom.sink.webhook;

import java.util.regex.Pattern;

/** Makes a stranger's text fit for an operator's eyes: one short line, without what looks like a secret. */
final class Redaction {
    static final int LENGTH_MAX = 200;

    private static final Pattern SECRET =
            Pattern.compile("(?is)-----BEGIN.*|whs(?:ec|k)_\\S*|\\b(?:bearer|basic)\\s+\\S+"
                    + "|\\b(?:password|passwd|pwd|secret|token|api[-_]?key|authorization|signature)\\b[\"']?\\s*[=:]\\s*[^\\s,;}]+"
                    + "|://[^\\s/@]+@|v1a?,[A-Za-z0-9+/=]{20,}|\\d(?:[ -]?\\d){11,}|\\beyJ[\\w-]+\\.[\\w-]+\\.[\\w-]*");
    private static final Pattern UNPRINTABLE = Pattern.compile("[\\p{Cc}\\p{Cf}\\p{Co}\\p{Cn}\\u2028\\u2029]+");

    private Redaction() {}

    static String redact(String text) {
        String line = UNPRINTABLE
                .matcher(SECRET.matcher(text).replaceAll("***"))
                .replaceAll(" ")
                .strip();
        return line.length() <= LENGTH_MAX ? line : line.substring(0, LENGTH_MAX) + "…";
    }
}
