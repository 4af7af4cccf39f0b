package io.postroom.server.terminal;

import java.time.Duration;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Durations as people write them: a number and a unit. */
public final class Durations {
    /** What is said wherever a duration cannot be read. */
    public static final String FORMS = "write a number and a unit: 500ms, 30s, 5m, 2h or 7d";

    private static final Pattern FORM = Pattern.compile("(\\d{1,9})(ms|s|m|h|d)");
    private static final int TEXT_LENGTH_MAX = 30;

    /** Longer than anybody means, and short enough to be counted in nanoseconds. */
    private static final Duration MAX = Duration.ofDays(36_500);

    private Durations() {}

    /** Reads a duration; throws an {@link IllegalArgumentException} that shows the accepted forms. */
    public static Duration parse(String text) {
        Matcher matcher = FORM.matcher(text.strip().toLowerCase(Locale.ROOT));
        if (!matcher.matches()) {
            throw new IllegalArgumentException(
                    "'" + Quoted.text(text, TEXT_LENGTH_MAX) + "' is not a duration; " + FORMS);
        }
        long number = Long.parseLong(matcher.group(1));
        Duration duration = switch (matcher.group(2)) {
            case "ms" -> Duration.ofMillis(number);
            case "s" -> Duration.ofSeconds(number);
            case "m" -> Duration.ofMinutes(number);
            case "h" -> Duration.ofHours(number);
            default -> Duration.ofDays(number);
        };
        if (duration.compareTo(MAX) > 0) {
            throw new IllegalArgumentException("'" + Quoted.text(text, TEXT_LENGTH_MAX) + "' is too long, the most is "
                    + MAX.toDays() + "d; " + FORMS);
        }
        return duration;
    }

    /** A duration as a person would say it: {@code 450ms}, {@code 2.3s}, {@code 5m 10s}. */
    public static String show(Duration duration) {
        long millis = Math.max(0, duration.toMillis());
        if (millis < 1_000) {
            return millis + "ms";
        }
        if (millis < 60_000) {
            String seconds = String.format(Locale.ROOT, "%.1fs", millis / 1000.0);
            return seconds.replace(".0s", "s");
        }
        if (millis < 3_600_000) {
            return millis / 60_000 + "m " + millis / 1_000 % 60 + "s";
        }
        return millis / 3_600_000 + "h " + millis / 60_000 % 60 + "m";
    }
}
