package io.postroom.schedule;

import io.postroom.PostroomException;
import io.postroom.retry.Spelling;
import java.time.YearMonth;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * A cron expression, read. Immutable as soon as it is.
 *
 * @param anyDay whether the day of the month does not matter
 * @param anyWeekday whether the day of the week does not matter. If both matter, either will do
 */
record CronText(
        long seconds,
        long minutes,
        long hours,
        long months,
        DayRules days,
        boolean anyDay,
        DayRules weekdays,
        boolean anyWeekday) {
    private static final int EXCERPT_LENGTH_MAX = 100;
    private static final Map<String, String> MACROS = Map.of(
            "@yearly", "0 0 1 1 *",
            "@annually", "0 0 1 1 *",
            "@monthly", "0 0 1 * *",
            "@weekly", "0 0 * * 0",
            "@daily", "0 0 * * *",
            "@midnight", "0 0 * * *",
            "@hourly", "0 * * * *");

    static CronText read(String expression) {
        if (expression.length() > Cron.EXPRESSION_LENGTH_MAX) {
            throw invalid(
                    expression,
                    "it is " + expression.length() + " characters, the most is " + Cron.EXPRESSION_LENGTH_MAX);
        }
        if (expression.startsWith("@")) {
            String fields = MACROS.get(expression.toLowerCase(Locale.ROOT));
            if (fields == null) {
                List<String> known = MACROS.keySet().stream().sorted().toList();
                throw invalid(
                        expression,
                        "there is no such word; the words are " + String.join(", ", known)
                                + Spelling.didYouMean(expression, known));
            }
            return readFields(expression, fields);
        }
        return readFields(expression, expression);
    }

    private static CronText readFields(String expression, String text) {
        String[] fields = text.isEmpty() ? new String[0] : text.split(" ");
        if (fields.length != 5 && fields.length != 6) {
            throw invalid(
                    expression,
                    "it has " + fields.length + (fields.length == 1 ? " field" : " fields")
                            + ", it must have 5 (minute, hour, day of month, month, day of week), or 6 with seconds before them"
                            + (fields.length == 7 ? "; leave out the year" : ""));
        }
        int at = fields.length - 5;
        List<String> problems = new ArrayList<>();
        CronText read = new CronText(
                at == 0 ? Bits.of(0) : new FieldReader(Field.SECOND, fields[0], problems).readNumbers(),
                new FieldReader(Field.MINUTE, fields[at], problems).readNumbers(),
                new FieldReader(Field.HOUR, fields[at + 1], problems).readNumbers(),
                new FieldReader(Field.MONTH, fields[at + 3], problems).readNumbers(),
                new FieldReader(Field.DAY_OF_MONTH, fields[at + 2], problems).readDays(),
                isAny(fields[at + 2]),
                new FieldReader(Field.DAY_OF_WEEK, fields[at + 4], problems).readDays(),
                isAny(fields[at + 4]));
        checkDays(fields[at + 2], fields[at + 4], at > 0, problems);
        if (!problems.isEmpty()) {
            throw invalid(expression, String.join("; ", problems));
        }
        return read;
    }

    /** Two fields for days are either to crontab and both to Spring; with a step on a star not even crontabs agree. */
    private static void checkDays(String day, String weekday, boolean hasSeconds, List<String> problems) {
        if (isAny(day) || isAny(weekday)) {
            return;
        }
        if (hasSeconds || day.contains("*") || weekday.contains("*")) {
            problems.add("day of month is " + day + " and day of week is " + weekday
                    + ": to some programs both must fit, to others either; write one of them as *"
                    + (hasSeconds ? ", or two schedules" : ", or lists without *, of which either must fit"));
        }
    }

    private static boolean isAny(String field) {
        return field.equals("*") || field.equals("?");
    }

    LocalTimes times() {
        return new LocalTimes(seconds, minutes, hours, months, this::daysIn);
    }

    private long daysIn(YearMonth month) {
        if (anyWeekday) {
            return days.byMonth(month);
        }
        return anyDay ? weekdays.byWeek(month) : days.byMonth(month) | weekdays.byWeek(month);
    }

    static String attempt(String expression) {
        return "could not read schedule '" + excerpt(expression) + "'";
    }

    /** The beginning of what somebody wrote, for an error that quotes it. */
    static String excerpt(String text) {
        String cut = text.length() > EXCERPT_LENGTH_MAX ? text.substring(0, EXCERPT_LENGTH_MAX) + "…" : text;
        return cut.replaceAll("[\\p{Cntrl}\\p{Cs}]", "?");
    }

    private static PostroomException invalid(String expression, String fact) {
        return new PostroomException("schedule.cron-invalid", attempt(expression) + ": " + fact);
    }
}
