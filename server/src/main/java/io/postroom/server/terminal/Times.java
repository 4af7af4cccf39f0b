package io.postroom.server.terminal;

import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Points in time as people write them, always in the past or now. */
public final class Times {
    /** What is said wherever a time cannot be read. */
    public static final String FORMS =
            "write 2026-11-15T10:00:00Z (with Z or an offset), 15m for that long ago, or now-2h";

    /** PostgreSQL has no earlier years without another calendar. */
    private static final Instant EARLIEST = Instant.parse("0001-01-01T00:00:00Z");

    private static final Pattern AGO = Pattern.compile("(now-)?\\d+[a-z]+");

    private Times() {}

    /** Whether it is a time that depends on when it is read: that long ago. */
    public static boolean isAgo(String text) {
        return AGO.matcher(text.strip()).matches();
    }

    /** Reads a time; throws with the option's name if it is none. */
    public static @Nullable Instant option(String option, @Nullable String text) {
        try {
            return text == null ? null : parse(text, Instant.now());
        } catch (IllegalArgumentException e) {
            throw new CommandException(ExitCode.USAGE, "could not read " + option + ": " + e.getMessage(), e);
        }
    }

    /** Reads a time; throws an {@link IllegalArgumentException} that shows the accepted forms. */
    public static Instant parse(String text, Instant now) {
        String stripped = text.strip();
        try {
            Instant time = isAgo(stripped)
                    ? now.minus(Durations.parse(stripped.startsWith("now-") ? stripped.substring(4) : stripped))
                    : OffsetDateTime.parse(stripped).toInstant();
            if (time.isAfter(now)) {
                throw new IllegalArgumentException("'" + Quoted.text(text, 40) + "' is in the future; " + FORMS);
            }
            if (time.isBefore(EARLIEST)) {
                throw new IllegalArgumentException(
                        "'" + Quoted.text(text, 40) + "' is too long ago, the earliest is " + EARLIEST + "; " + FORMS);
            }
            return time;
        } catch (DateTimeException e) {
            throw new IllegalArgumentException("'" + Quoted.text(text, 40) + "' is not a time; " + FORMS, e);
        }
    }
}
