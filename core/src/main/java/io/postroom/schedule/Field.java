package io.postroom.schedule;

import java.util.List;

/** A place in a cron expression: which numbers and names may stand there. */
enum Field {
    SECOND("second", 0, 59, List.of()),
    MINUTE("minute", 0, 59, List.of()),
    HOUR("hour", 0, 23, List.of()),
    DAY_OF_MONTH("day of month", 1, 31, List.of()),
    MONTH("month", 1, 12, List.of("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")),
    /** Sunday is 0 or 7. */
    DAY_OF_WEEK("day of week", 0, 7, List.of("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"));

    final String word;
    final int min;
    final int max;
    final List<String> names;

    Field(String word, int min, int max, List<String> names) {
        this.word = word;
        this.min = min;
        this.max = max;
        this.names = names;
    }

    boolean isDay() {
        return this == DAY_OF_MONTH || this == DAY_OF_WEEK;
    }

    /** The greatest step that makes a difference. */
    int stepMax() {
        return this == DAY_OF_WEEK ? 6 : max;
    }

    /** {@code 0 to 59}, or with names {@code 1 to 12 or JAN to DEC}. */
    String range() {
        return min + " to " + max
                + (names.isEmpty() ? "" : " or " + names.get(0) + " to " + names.get(names.size() - 1));
    }

    /** All numbers, a bit for each; Sunday is 0. */
    long all() {
        return Bits.range(min, this == DAY_OF_WEEK ? 6 : max, 1);
    }
}
