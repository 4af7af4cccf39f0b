package io.postroom.schedule;

import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.YearMonth;
import org.jspecify.annotations.Nullable;

/**
 * What a cron expression means on a calendar, whatever clock is hung beside it. Immutable.
 *
 * @param days for a month of a year, a bit for each day
 */
record LocalTimes(long seconds, long minutes, long hours, long months, Days days) {
    /** After so many years weekdays and leap years repeat. */
    private static final int CYCLE_YEARS = 400;

    /** The days of a month, as far as its number is not in question. */
    @FunctionalInterface
    interface Days {
        long in(YearMonth month);
    }

    boolean isEveryHour() {
        return hours == Field.HOUR.all();
    }

    /** Whether there is such a day in any year. */
    boolean isPossible() {
        YearMonth month = YearMonth.of(2000, 1);
        for (int i = 0; i < CYCLE_YEARS * 12; i++) {
            if (daysOf(month) != 0) {
                return true;
            }
            month = month.plusMonths(1);
        }
        return false;
    }

    /** The first that is not before the given one. Ends because it is possible. */
    LocalDateTime nextOrSame(LocalDateTime from) {
        YearMonth month = YearMonth.from(from);
        long days = daysOf(month);
        LocalTime time = Bits.has(days, from.getDayOfMonth()) ? nextOrSame(from.toLocalTime()) : null;
        if (time != null) {
            return from.toLocalDate().atTime(time);
        }
        int day = Bits.next(days, from.getDayOfMonth() + 1);
        while (day < 0) {
            month = month.plusMonths(1);
            day = Bits.next(daysOf(month), 1);
        }
        return month.atDay(day).atTime(Bits.first(hours), Bits.first(minutes), Bits.first(seconds));
    }

    private long daysOf(YearMonth month) {
        return Bits.has(months, month.getMonthValue()) ? days.in(month) : 0;
    }

    private @Nullable LocalTime nextOrSame(LocalTime from) {
        int hour = Bits.next(hours, from.getHour());
        if (hour == from.getHour()) {
            int minute = Bits.next(minutes, from.getMinute());
            if (minute == from.getMinute()) {
                int second = Bits.next(seconds, from.getSecond());
                if (second >= 0) {
                    return LocalTime.of(hour, minute, second);
                }
                minute = Bits.next(minutes, minute + 1);
            }
            if (minute >= 0) {
                return LocalTime.of(hour, minute, Bits.first(seconds));
            }
            hour = Bits.next(hours, hour + 1);
        }
        return hour < 0 ? null : LocalTime.of(hour, Bits.first(minutes), Bits.first(seconds));
    }
}
