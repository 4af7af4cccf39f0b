package io.postroom.diagnosis;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;

/** Facts as a sentence says them. */
final class Words {
    private static final int NAMES_MAX = 5;
    private static final int ERROR_LENGTH_MAX = 300;

    private Words() {}

    static String at(Instant time) {
        return time.truncatedTo(ChronoUnit.SECONDS).toString();
    }

    /** {@code 450 ms}, {@code 2.3 s}, {@code 5 min}, {@code 3 h 20 min}, {@code 2 days}. */
    static String length(Duration duration) {
        long millis = Math.max(0, duration.toMillis());
        if (millis < 1_000) {
            return millis + " ms";
        }
        if (millis < 60_000) {
            return String.format(Locale.ROOT, "%.1f s", millis / 1000.0).replace(".0 s", " s");
        }
        if (millis < 3_600_000) {
            return millis / 60_000 + " min";
        }
        if (millis < 2 * 86_400_000L) {
            return millis / 3_600_000 + " h " + millis / 60_000 % 60 + " min";
        }
        return millis / 86_400_000L + " days";
    }

    static String count(long number, String one, String many) {
        return number == 1 ? "1 " + one : number + " " + many;
    }

    /** Some names, and how many more there are. */
    static String some(List<String> names) {
        String shown = String.join(", ", names.subList(0, Math.min(names.size(), NAMES_MAX)));
        return names.size() <= NAMES_MAX ? shown : shown + " and " + (names.size() - NAMES_MAX) + " more";
    }

    static String error(DiagnosisTable.Error error) {
        String line = error.line();
        return line.length() <= ERROR_LENGTH_MAX ? line : line.substring(0, ERROR_LENGTH_MAX) + "…";
    }
}
