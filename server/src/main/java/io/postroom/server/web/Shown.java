package io.postroom.server.web;

import io.postroom.server.terminal.Durations;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Numbers, times and sizes as a page shows them. */
public final class Shown {
    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss", Locale.ROOT);
    private static final DateTimeFormatter SHORT_TIME = DateTimeFormatter.ofPattern("MM-dd HH:mm:ss.SSS", Locale.ROOT);
    private static final String[] SIZES = {"B", "kB", "MB", "GB", "TB", "PB"};
    private static final int THIN_SPACE_FROM = 10_000;

    private Shown() {}

    /** {@code 1 234 567}, with thin spaces that do not break. */
    public static String number(long value) {
        if (Math.abs(value) < THIN_SPACE_FROM) {
            return Long.toString(value);
        }
        return String.format(Locale.ROOT, "%,d", value).replace(',', '\u202f');
    }

    /** With a capital at its beginning. */
    public static String sentence(String text) {
        return text.isEmpty() ? text : text.substring(0, 1).toUpperCase(Locale.ROOT) + text.substring(1);
    }

    /** A number that was counted no further than a limit. */
    public static String bounded(long value, long max) {
        return value >= max ? number(max) + "+" : number(value);
    }

    /** A rate that somebody asked for, by the unit in which it is a readable number. */
    public static String pace(double perSecond) {
        double perMinute = perSecond * 60;
        return perSecond >= 1
                ? plain(perSecond) + "/s"
                : perMinute >= 1 ? plain(perMinute) + "/min" : plain(perMinute * 60) + "/h";
    }

    private static String plain(double value) {
        long whole = Math.round(value);
        return Math.abs(value - whole) < 0.05 ? number(whole) : String.format(Locale.ROOT, "%.1f", value);
    }

    public static String rate(double value) {
        if (value >= 100) {
            return number(Math.round(value)) + "/s";
        }
        return String.format(Locale.ROOT, value == 0 ? "%.0f/s" : "%.1f/s", value);
    }

    public static String duration(@Nullable Duration value) {
        if (value == null) {
            return "–";
        }
        if (value.compareTo(Duration.ofDays(2)) >= 0) {
            return value.toDays() + "d " + value.toHoursPart() + "h";
        }
        return Durations.show(value);
    }

    public static String size(long bytes) {
        double value = bytes;
        int unit = 0;
        while (value >= 1000 && unit < SIZES.length - 1) {
            value /= 1000;
            unit++;
        }
        return String.format(Locale.ROOT, unit == 0 || value >= 100 ? "%.0f %s" : "%.1f %s", value, SIZES[unit]);
    }

    public static String percent(double share) {
        return String.format(Locale.ROOT, share < 0.1 ? "%.1f %%" : "%.0f %%", share * 100);
    }

    /** A time in UTC, to the second. */
    public static String time(Instant at) {
        return TIME.format(at.atOffset(ZoneOffset.UTC));
    }

    /** A time in UTC without its year, to the millisecond, for long lists. */
    public static String shortTime(Instant at) {
        return SHORT_TIME.format(at.atOffset(ZoneOffset.UTC));
    }

    /** Both ends of a text that is longer. */
    public static String middle(String text, int lengthMax) {
        int side = (lengthMax - 1) / 2;
        return text.length() <= lengthMax
                ? text
                : text.substring(0, lengthMax - 1 - side) + "…" + text.substring(text.length() - side);
    }

    /** The beginning of a text. */
    public static String cut(@Nullable String text, int lengthMax) {
        if (text == null) {
            return "";
        }
        return text.length() <= lengthMax ? text : text.substring(0, lengthMax - 1) + "…";
    }

    /** An argument of a command, quoted where a shell would take it for something else. */
    public static String argument(String value) {
        return value.matches("[\\w.:/@+-]+") ? value : "'" + value.replace("'", "'\\''") + "'";
    }

    /** An error without its class, which stands above it. */
    public static String without(@Nullable String errorClass, @Nullable String error) {
        if (error == null) {
            return "";
        }
        String prefix = errorClass + ": ";
        return error.startsWith(prefix) ? error.substring(prefix.length()) : error;
    }

    /** {@code 1 key}, {@code 17 keys}. */
    public static String count(long number, String noun) {
        return number(number) + " " + (number == 1 ? noun : noun + "s");
    }
}
