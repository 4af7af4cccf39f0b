package io.postroom.schedule;

import java.time.DayOfWeek;
import java.time.LocalDate;
import java.time.YearMonth;

/**
 * Which days of a month one field for days means: plain numbers (days of the month, or of the week with Sunday as 0), and what can only be
 * said of a certain month. Filled while an expression is read, and not changed after.
 */
final class DayRules {
    long numbers;

    /** {@code L}, {@code L-3}: so many days before the last. */
    long beforeLast;

    /** {@code LW}: the last day from Monday to Friday. */
    boolean lastWeekday;

    /** {@code 15W}: the day from Monday to Friday that is nearest, in the same month. */
    long nearest;

    /** {@code FRIL}: the last such day. */
    long lastOfWeek;

    /** {@code FRI#2}: days of the week, by which of the month they are. */
    final long[] nth = new long[6];

    /** The days of a month as a field for days of the month means them. */
    long byMonth(YearMonth month) {
        int length = month.lengthOfMonth();
        long days = numbers;
        for (int before : Bits.list(beforeLast)) {
            days |= before < length ? Bits.of(length - before) : 0;
        }
        for (int day : Bits.list(nearest)) {
            days |= day <= length ? Bits.of(nearestWeekday(month, day)) : 0;
        }
        if (lastWeekday) {
            days |= Bits.of(nearestWeekday(month, length));
        }
        return days & Bits.range(1, length, 1);
    }

    /** The days of a month as a field for days of the week means them. */
    long byWeek(YearMonth month) {
        int length = month.lengthOfMonth();
        long days = 0;
        for (int day = 1; day <= length; day++) {
            int weekday = weekday(month.atDay(day));
            boolean fits = Bits.has(numbers, weekday)
                    || Bits.has(lastOfWeek, weekday) && day > length - 7
                    || Bits.has(nth[(day + 6) / 7], weekday);
            days |= fits ? Bits.of(day) : 0;
        }
        return days;
    }

    private static int nearestWeekday(YearMonth month, int day) {
        DayOfWeek weekday = month.atDay(day).getDayOfWeek();
        if (weekday == DayOfWeek.SATURDAY) {
            return day == 1 ? 3 : day - 1;
        }
        if (weekday == DayOfWeek.SUNDAY) {
            return day == month.lengthOfMonth() ? day - 2 : day + 1;
        }
        return day;
    }

    private static int weekday(LocalDate date) {
        return date.getDayOfWeek().getValue() % 7;
    }
}
