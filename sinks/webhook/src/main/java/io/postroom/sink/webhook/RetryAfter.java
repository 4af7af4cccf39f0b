package io.postroom.sink.webhook;

import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import org.jspecify.annotations.Nullable;

/** Reads the Retry-After header: seconds or an HTTP date. */
final class RetryAfter {

    private RetryAfter() {}

    /** How long the endpoint asks us to wait, at most the given limit; null if it asks for nothing or for nonsense. */
    static @Nullable Duration parse(@Nullable String header, Instant now, Duration limit) {
        if (header == null) {
            return null;
        }
        Duration wanted = header.matches("\\d+") ? seconds(header) : untilDate(header, now);
        if (wanted == null || wanted.isNegative() || wanted.isZero()) {
            return null;
        }
        return wanted.compareTo(limit) > 0 ? limit : wanted;
    }

    private static Duration seconds(String digits) {
        return Duration.ofSeconds(digits.length() > 9 ? Integer.MAX_VALUE : Long.parseLong(digits));
    }

    private static @Nullable Duration untilDate(String date, Instant now) {
        try {
            return Duration.between(now, ZonedDateTime.parse(date, DateTimeFormatter.RFC_1123_DATE_TIME));
        } catch (DateTimeException e) {
            return null;
        }
    }
}
