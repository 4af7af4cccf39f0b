package io.postroom.server.web;

import io.javalin.http.Context;
import io.postroom.server.terminal.Quoted;
import io.postroom.server.terminal.Times;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Reads what a request asks for; a bad value is a {@link Refusal} that names it, its limit, and what to do. */
public final class Asked {
    private static final int TEXT_LENGTH_MAX = 1_000;
    private static final int SHOWN_LENGTH_MAX = 60;

    private Asked() {}

    /** Refuses names that nobody reads, or that come twice: a filter that is misspelt must not mean everything. */
    public static void only(Context context, Set<String> names) {
        only(context.queryParamMap().keySet(), "a parameter", names);
        context.queryParamMap().forEach((name, values) -> {
            if (values.size() > 1) {
                throw Refusal.invalid("'" + shown(name) + "' is given " + values.size() + " times; give it once");
            }
        });
    }

    static void only(Iterable<String> given, String what, Set<String> names) {
        for (String name : given) {
            if (!names.contains(name)) {
                throw Refusal.invalid("'" + shown(name) + "' is not " + what + " here; those are "
                        + (names.isEmpty()
                                ? "none"
                                : String.join(", ", names.stream().sorted().toList())));
            }
        }
    }

    /** A text of the query; null if it is missing or empty. */
    public static @Nullable String text(Context context, String name) {
        return checked(name, context.queryParam(name));
    }

    /** A text of a form; null if it is missing or empty. */
    public static @Nullable String formText(Context context, String name) {
        return checked(name, context.formParam(name));
    }

    static @Nullable String checked(String name, @Nullable String value) {
        if (value == null || value.isBlank()) {
            return null;
        }
        if (value.length() > TEXT_LENGTH_MAX) {
            throw Refusal.invalid(name + " is " + value.length() + " characters, the limit is " + TEXT_LENGTH_MAX);
        }
        if (value.indexOf('\0') >= 0) {
            throw Refusal.invalid(name + " has the character U+0000; leave it out");
        }
        return value.strip();
    }

    public static String required(@Nullable String value, String name) {
        if (value == null) {
            throw Refusal.invalid(name + " is missing");
        }
        return value;
    }

    /** A number of a path, which is always there. */
    public static long required(@Nullable Long value) {
        return value == null ? 0 : value;
    }

    public static @Nullable Long number(@Nullable String value, String name) {
        if (value == null) {
            return null;
        }
        if (!value.matches("\\d{1,18}")) {
            throw Refusal.invalid(name + " is '" + shown(value) + "', not a whole number from 0 on");
        }
        return Long.valueOf(value);
    }

    public static int limit(Context context, int usual, int max) {
        Long given = number(text(context, "limit"), "limit");
        if (given == null) {
            return usual;
        }
        if (given < 1 || given > max) {
            throw Refusal.invalid("limit is " + given + ", the range is 1 to " + max);
        }
        return given.intValue();
    }

    public static UUID uuid(String value, String name) {
        try {
            if (value.length() == 36) {
                return UUID.fromString(value);
            }
        } catch (IllegalArgumentException e) {
            // Said below.
        }
        throw Refusal.invalid(name + " is '" + shown(value) + "', not a UUID");
    }

    /** A time with its zone, or how long ago it was: {@code 15m}, {@code now-2h}. */
    public static @Nullable Instant time(@Nullable String value, String name) {
        if (value == null) {
            return null;
        }
        try {
            return Times.isAgo(value) ? Times.parse(value, Instant.now()) : Instant.parse(value);
        } catch (DateTimeException | IllegalArgumentException e) {
            throw Refusal.invalid(
                    name + " is '" + shown(value)
                            + "', not a time with its zone; write 2026-11-15T10:00:00Z, or +01:00 for the Z, or 15m for that long ago");
        }
    }

    /** One of some words; null if it is missing. */
    public static @Nullable String word(@Nullable String value, String name, List<String> words) {
        if (value != null && !words.contains(value)) {
            throw Refusal.invalid(name + " is '" + shown(value) + "', it is one of " + String.join(", ", words));
        }
        return value;
    }

    public static String shown(String text) {
        return Quoted.text(text, SHOWN_LENGTH_MAX);
    }
}
