package io.postroom.server.terminal;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** So many in so long, as people write it: {@code 50/s}. */
public final class Rate {
    private static final Pattern FORM = Pattern.compile("(\\d{1,9}(?:\\.\\d{1,9})?)/(s|m|h)");

    private Rate() {}

    /** How many a second; throws an {@link IllegalArgumentException} that shows the accepted forms. */
    public static double parse(String text) {
        Matcher matcher = FORM.matcher(text.strip().toLowerCase(Locale.ROOT));
        if (!matcher.matches()) {
            throw new IllegalArgumentException(
                    "'" + Quoted.text(text, 30) + "' is not a rate; write a number and a unit: 50/s, 10/m or 100/h");
        }
        double number = Double.parseDouble(matcher.group(1));
        return switch (matcher.group(2)) {
            case "s" -> number;
            case "m" -> number / 60;
            default -> number / 3600;
        };
    }
}
