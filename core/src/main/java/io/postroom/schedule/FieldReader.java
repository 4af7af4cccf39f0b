package io.postroom.schedule;

import io.postroom.retry.Spelling;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads one field of a cron expression, and notes what is wrong with it. */
final class FieldReader {
    private static final Pattern NUMBER = Pattern.compile("\\d{1,9}");
    private static final Pattern LAST_DAY = Pattern.compile("L(?:-(\\d{1,9}))?");
    private static final Pattern NEAR = Pattern.compile("(\\d{1,9})W");
    private static final Pattern LAST_OF_WEEK = Pattern.compile("([A-Z]+|\\d{1,9})L");
    private static final Pattern NTH = Pattern.compile("([A-Z]+|\\d{1,9})#(\\d{1,9})");

    private final Field field;
    private final String text;
    private final List<String> problems;

    FieldReader(Field field, String text, List<String> problems) {
        this.field = field;
        this.text = text.toUpperCase(Locale.ROOT);
        this.problems = problems;
    }

    /** The numbers of a field without rules of its own for days. */
    long readNumbers() {
        long numbers = 0;
        for (String item : text.split(",", -1)) {
            numbers |= item(item);
        }
        return numbers;
    }

    /** The days of a field for days. */
    DayRules readDays() {
        DayRules rules = new DayRules();
        for (String item : text.split(",", -1)) {
            if (!readRule(item, rules)) {
                rules.numbers |= item(item);
            }
        }
        return rules;
    }

    private boolean readRule(String item, DayRules rules) {
        return field == Field.DAY_OF_MONTH ? readDayRule(item, rules) : readWeekdayRule(item, rules);
    }

    private boolean readDayRule(String item, DayRules rules) {
        Matcher last = LAST_DAY.matcher(item);
        Matcher near = NEAR.matcher(item);
        if (item.equals("LW")) {
            rules.lastWeekday = true;
        } else if (last.matches()) {
            int before = last.group(1) == null ? 0 : within(last.group(1), 1, 30, "days before L");
            rules.beforeLast |= before < 0 ? 0 : Bits.of(before);
        } else if (near.matches()) {
            int day = within(near.group(1), 1, 31, "the day before W");
            rules.nearest |= day < 0 ? 0 : Bits.of(day);
        } else {
            return false;
        }
        return true;
    }

    private boolean readWeekdayRule(String item, DayRules rules) {
        Matcher last = LAST_OF_WEEK.matcher(item);
        Matcher nth = NTH.matcher(item);
        if (item.equals("L")) {
            problem(
                    "L alone is Saturday to some programs and Sunday to others; write the day, or with L after it the last such day"
                            + " of the month: 5L or FRIL");
        } else if (last.matches()) {
            int day = value(last.group(1));
            rules.lastOfWeek |= day < 0 ? 0 : Bits.of(day % 7);
        } else if (nth.matches()) {
            int day = value(nth.group(1));
            int number = within(nth.group(2), 1, 5, "the number after #");
            if (day >= 0 && number >= 0) {
                rules.nth[number] |= Bits.of(day % 7);
            }
        } else {
            return false;
        }
        return true;
    }

    /** {@code *}, a number, a range, each perhaps with a step. */
    private long item(String item) {
        int slash = item.indexOf('/');
        int step = slash < 0 ? 1 : within(item.substring(slash + 1), 1, field.stepMax(), "the step");
        String range = slash < 0 ? item : item.substring(0, slash);
        int dash = range.indexOf('-');
        if (field == Field.DAY_OF_WEEK && slash >= 0 && dash < 0) {
            problem("'" + item
                    + "' is other days to other programs; list the days, or write a range such as MON-FRI/2");
            return 0;
        }
        int first;
        int last;
        if (range.equals("*") || range.equals("?") && field.isDay() && slash < 0) {
            first = field.min;
            last = field.max;
        } else if (dash > 0) {
            first = value(range.substring(0, dash));
            last = value(range.substring(dash + 1));
            // The week of a range may end with Sunday.
            last = field == Field.DAY_OF_WEEK && last == 0 && first > 0 ? 7 : last;
        } else {
            first = value(range);
            last = slash < 0 ? first : field.max;
        }
        if (step < 0 || first < 0 || last < 0) {
            return 0;
        }
        if (first > last) {
            problem("the range " + range + " goes backwards; write it as two, such as "
                    + range.substring(0, dash) + "-" + (field == Field.DAY_OF_WEEK ? 6 : field.max) + "," + field.min
                    + "-"
                    + range.substring(dash + 1));
            return 0;
        }
        long numbers = Bits.range(first, last, step);
        return field == Field.DAY_OF_WEEK && Bits.has(numbers, 7) ? numbers & ~Bits.of(7) | Bits.of(0) : numbers;
    }

    /** A number or name of this field; -1 if it is none. */
    private int value(String value) {
        int named = field.names.indexOf(value);
        if (named >= 0) {
            return named + field.min;
        }
        if (!NUMBER.matcher(value).matches()) {
            problem(
                    value.isEmpty()
                            ? "a value is missing, the range is " + field.range()
                            : "'" + value + "' is none, the range is " + field.range() + didYouMean(value));
            return -1;
        }
        return within(value, field.min, field.max, "");
    }

    private String didYouMean(String value) {
        return field.names.isEmpty()
                ? ""
                : Spelling.didYouMean(
                        value,
                        field.names.stream()
                                .map(name -> name.toLowerCase(Locale.ROOT))
                                .toList());
    }

    private int within(String text, int min, int max, String what) {
        String subject = what.isEmpty() ? "" : what + " ";
        if (!NUMBER.matcher(text).matches()) {
            problem(subject + "is '" + text + "', it must be a number from " + min + " to " + max);
            return -1;
        }
        int number = Integer.parseInt(text);
        if (number < min || number > max) {
            problem(subject + "is " + text + ", the range is " + (what.isEmpty() ? field.range() : min + " to " + max)
                    + (what.equals("the step") ? "; for a longer interval use a fixed rate" : ""));
            return -1;
        }
        return number;
    }

    private void problem(String fact) {
        problems.add(field.word + (fact.startsWith("is ") ? " " : ": ") + fact);
    }
}
