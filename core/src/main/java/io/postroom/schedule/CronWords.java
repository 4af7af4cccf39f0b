package io.postroom.schedule;

import java.time.DayOfWeek;
import java.time.Month;
import java.time.format.TextStyle;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.IntFunction;

/** A cron expression in plain English. */
final class CronWords {
    /** More times of day than these are told as minutes of hours. */
    private static final int TIMES_MAX = 6;

    private static final long ZERO = Bits.of(0);
    private static final String OF_MONTH = " of the month";

    private final CronText text;

    private CronWords(CronText text) {
        this.text = text;
    }

    static String describe(CronText text) {
        CronWords words = new CronWords(text);
        boolean ofDay = words.isTimeOfDay();
        String time = ofDay ? words.timesOfDay() : words.interval();
        String days = words.days(ofDay);
        return time + (days.isEmpty() ? "" : " " + days) + words.months();
    }

    private boolean isTimeOfDay() {
        int times = Long.bitCount(text.seconds()) * Long.bitCount(text.minutes()) * Long.bitCount(text.hours());
        return text.hours() != Field.HOUR.all() && times <= TIMES_MAX;
    }

    private String timesOfDay() {
        List<String> times = new ArrayList<>();
        for (int hour : Bits.list(text.hours())) {
            for (int minute : Bits.list(text.minutes())) {
                for (int second : Bits.list(text.seconds())) {
                    times.add(time(hour, minute, second, text.seconds() != ZERO));
                }
            }
        }
        return "at " + join(times);
    }

    private String interval() {
        if (text.seconds() == ZERO && text.minutes() == ZERO) {
            return hoursAlone();
        }
        boolean fromSeconds = text.seconds() != ZERO;
        String words = fromSeconds ? unit(Field.SECOND, text.seconds()) : unit(Field.MINUTE, text.minutes());
        boolean listed = words.startsWith("at ");
        if (fromSeconds) {
            boolean all = text.minutes() == Field.MINUTE.all();
            words += all ? (listed ? " of every minute" : "") : " of " + within(Field.MINUTE, text.minutes());
            listed = all ? false : !isStep(Field.MINUTE, text.minutes());
        }
        if (text.hours() == Field.HOUR.all()) {
            return words + (listed ? " of every hour" : "");
        }
        return words + hoursAround(listed);
    }

    private String hoursAlone() {
        if (text.hours() == Field.HOUR.all()) {
            return "every hour";
        }
        if (isStep(Field.HOUR, text.hours())) {
            return unit(Field.HOUR, text.hours()) + " from 00:00";
        }
        List<Integer> hours = Bits.list(text.hours());
        if (isRun(hours)) {
            return "every hour from " + time(hours.get(0), 0, 0, false) + " to "
                    + time(hours.get(hours.size() - 1), 0, 0, false);
        }
        return "at " + join(hours.stream().map(hour -> time(hour, 0, 0, false)).toList());
    }

    private String hoursAround(boolean listed) {
        List<Integer> hours = Bits.list(text.hours());
        if (!listed && isRun(hours)) {
            return " from " + time(hours.get(0), 0, 0, false) + " to "
                    + time(hours.get(hours.size() - 1), 59, 0, false);
        }
        return " of " + within(Field.HOUR, text.hours());
    }

    /** {@code every minute}, {@code every 15 minutes}, {@code at minute 5}, {@code at minutes 5 and 20}. */
    private static String unit(Field field, long numbers) {
        if (numbers == field.all()) {
            return "every " + field.word;
        }
        List<Integer> list = Bits.list(numbers);
        if (isStep(field, numbers)) {
            return "every " + list.get(1) + " " + field.word + "s";
        }
        return "at " + within(field, numbers);
    }

    private static String within(Field field, long numbers) {
        if (isStep(field, numbers)) {
            return "every " + ordinal(Bits.list(numbers).get(1)) + " " + field.word;
        }
        return field.word + (Long.bitCount(numbers) == 1 ? " " : "s ") + runs(numbers, Integer::toString);
    }

    /** Whether they are those from zero on with a step that comes out even: an interval that goes on over the end. */
    private static boolean isStep(Field field, long numbers) {
        List<Integer> list = Bits.list(numbers);
        int step = list.size() < 2 ? 0 : list.get(1);
        return step > 1 && (field.max + 1) % step == 0 && numbers == Bits.range(0, field.max, step);
    }

    private static boolean isRun(List<Integer> list) {
        return list.size() > 1 && list.get(list.size() - 1) - list.get(0) == list.size() - 1;
    }

    private String days(boolean ofDay) {
        if (text.anyDay() && text.anyWeekday()) {
            return ofDay ? "every day" : "";
        }
        List<String> parts = new ArrayList<>();
        if (!text.anyDay()) {
            parts.add("on " + join(daysOfMonth()) + (text.months() == Field.MONTH.all() ? OF_MONTH : ""));
        }
        if (!text.anyWeekday()) {
            parts.addAll(daysOfWeek());
        }
        return join(parts);
    }

    private List<String> daysOfMonth() {
        DayRules days = text.days();
        List<String> parts = new ArrayList<>();
        if (days.numbers != 0) {
            parts.add((Long.bitCount(days.numbers) == 1 ? "day " : "days ") + runs(days.numbers, Integer::toString));
        }
        for (int day : Bits.list(days.nearest)) {
            parts.add("the weekday nearest to day " + day);
        }
        for (int before : Bits.list(days.beforeLast)) {
            parts.add(
                    before == 0
                            ? "the last day"
                            : "the day " + before + (before == 1 ? " day" : " days") + " before the last");
        }
        if (days.lastWeekday) {
            parts.add("the last weekday");
        }
        return parts;
    }

    private List<String> daysOfWeek() {
        DayRules days = text.weekdays();
        List<String> parts = new ArrayList<>();
        if (days.numbers == Field.DAY_OF_WEEK.all()) {
            parts.add("every day");
        } else if (days.numbers != 0) {
            // The week begins with Monday, so that weekends are one run.
            long fromMonday = days.numbers >> 1 | (Bits.has(days.numbers, 0) ? Bits.of(6) : 0);
            parts.add("every " + runs(fromMonday, number -> weekday((number + 1) % 7)));
        }
        String month = text.months() == Field.MONTH.all() ? OF_MONTH : "";
        for (int number = 1; number < days.nth.length; number++) {
            for (int day : Bits.list(days.nth[number])) {
                parts.add("on the " + ordinal(number) + " " + weekday(day) + month);
            }
        }
        for (int day : Bits.list(days.lastOfWeek)) {
            parts.add("on the last " + weekday(day) + month);
        }
        return parts;
    }

    private String months() {
        return text.months() == Field.MONTH.all()
                ? ""
                : " in " + runs(text.months(), month -> Month.of(month).getDisplayName(TextStyle.FULL, Locale.ENGLISH));
    }

    private static String weekday(int number) {
        return DayOfWeek.of(number == 0 ? 7 : number).getDisplayName(TextStyle.FULL, Locale.ENGLISH);
    }

    private static String time(int hour, int minute, int second, boolean withSeconds) {
        return String.format(Locale.ROOT, withSeconds ? "%02d:%02d:%02d" : "%02d:%02d", hour, minute, second);
    }

    private static String ordinal(int number) {
        String end = switch (number % 100 / 10 == 1 ? 0 : number % 10) {
            case 1 -> "st";
            case 2 -> "nd";
            case 3 -> "rd";
            default -> "th";
        };
        return number + end;
    }

    /** {@code 1, 3 and 5 to 9}: three and more in a row are told by the first and the last. */
    private static String runs(long numbers, IntFunction<String> word) {
        List<String> parts = new ArrayList<>();
        for (int first = Bits.next(numbers, 0); first >= 0; ) {
            int last = first;
            while (Bits.has(numbers, last + 1)) {
                last++;
            }
            if (last - first >= 2) {
                parts.add(word.apply(first) + " to " + word.apply(last));
            } else {
                for (int i = first; i <= last; i++) {
                    parts.add(word.apply(i));
                }
            }
            first = Bits.next(numbers, last + 1);
        }
        return join(parts);
    }

    private static String join(List<String> parts) {
        int last = parts.size() - 1;
        return last <= 0
                ? String.join("", parts)
                : String.join(", ", parts.subList(0, last)) + " and " + parts.get(last);
    }
}
