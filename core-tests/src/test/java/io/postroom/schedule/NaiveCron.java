package io.postroom.schedule;

import java.time.DayOfWeek;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Whether a local time fits an expression of five fields: written for its plainness, from the definition, to be compared with. */
final class NaiveCron {
    private static final List<String> WEEKDAYS = List.of("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT");

    private final String[] fields;
    private final Set<Integer> minutes;
    private final Set<Integer> hours;
    private final Set<Integer> months;

    NaiveCron(String expression) {
        fields = expression.split(" ");
        minutes = all(fields[0], 59);
        hours = all(fields[1], 23);
        months = all(fields[3], 12);
    }

    private static Set<Integer> all(String field, int max) {
        return IntStream.rangeClosed(0, max)
                .filter(value -> fits(field, value, max))
                .boxed()
                .collect(Collectors.toSet());
    }

    boolean isEveryHour() {
        return hours.size() == 24;
    }

    boolean fits(LocalDateTime time) {
        LocalDate date = time.toLocalDate();
        if (!minutes.contains(time.getMinute())
                || !hours.contains(time.getHour())
                || !months.contains(date.getMonthValue())) {
            return false;
        }
        boolean day = Arrays.stream(fields[2].split(",")).anyMatch(item -> isDay(item, date));
        boolean weekday = Arrays.stream(fields[4].split(",")).anyMatch(item -> isWeekday(item, date));
        boolean either = !fields[2].equals("*") && !fields[4].equals("*");
        return either ? day || weekday : day && weekday;
    }

    private static boolean isDay(String item, LocalDate date) {
        LocalDate last = date.withDayOfMonth(date.lengthOfMonth());
        if (item.equals("L")) {
            return date.equals(last);
        }
        if (item.equals("LW")) {
            return isWorkday(date)
                    && IntStream.rangeClosed(1, 6).noneMatch(n -> {
                        LocalDate later = date.plusDays(n);
                        return later.getMonth() == date.getMonth() && isWorkday(later);
                    });
        }
        if (item.startsWith("L-")) {
            return date.equals(last.minusDays(Integer.parseInt(item.substring(2))));
        }
        if (item.endsWith("W")) {
            return isNearest(Integer.parseInt(item.replace("W", "")), date);
        }
        return fits(item, date.getDayOfMonth(), 31);
    }

    /** A workday, and none of the month is nearer to the day; of two as near, on a Saturday the earlier, on a Sunday the later. */
    private static boolean isNearest(int day, LocalDate date) {
        if (day > date.lengthOfMonth() || !isWorkday(date)) {
            return false;
        }
        LocalDate wanted = date.withDayOfMonth(day);
        return IntStream.rangeClosed(1, date.lengthOfMonth())
                        .mapToObj(date::withDayOfMonth)
                        .filter(NaiveCron::isWorkday)
                        .noneMatch(
                                other -> Math.abs(other.getDayOfMonth() - day) < Math.abs(date.getDayOfMonth() - day))
                && (wanted.equals(date) || !isWorkday(wanted));
    }

    private static boolean isWorkday(LocalDate date) {
        return date.getDayOfWeek() != DayOfWeek.SATURDAY && date.getDayOfWeek() != DayOfWeek.SUNDAY;
    }

    private static boolean isWeekday(String item, LocalDate date) {
        if (item.equals("*")) {
            return true;
        }
        int weekday = date.getDayOfWeek().getValue() % 7;
        if (item.endsWith("L")) {
            return weekday == number(item.replace("L", "")) && date.plusDays(7).getMonth() != date.getMonth();
        }
        if (item.contains("#")) {
            int which = Integer.parseInt(item.split("#")[1]);
            return weekday == number(item.split("#")[0])
                    && date.minusDays(7L * (which - 1)).getMonth() == date.getMonth()
                    && date.minusDays(7L * which).getMonth() != date.getMonth();
        }
        if (item.contains("-")) {
            return fits(item.replace("MON", "1").replace("FRI", "5"), weekday, 6);
        }
        return weekday == number(item);
    }

    private static int number(String weekday) {
        return WEEKDAYS.contains(weekday) ? WEEKDAYS.indexOf(weekday) : Integer.parseInt(weekday) % 7;
    }

    private static boolean fits(String field, int value, int max) {
        for (String item : field.split(",")) {
            String range = item.split("/")[0];
            int step = item.contains("/") ? Integer.parseInt(item.split("/")[1]) : 1;
            int min = max == 12 || max == 31 ? 1 : 0;
            int first = range.equals("*") ? min : Integer.parseInt(range.split("-")[0]);
            int last = range.equals("*") ? max : Integer.parseInt(range.contains("-") ? range.split("-")[1] : range);
            if (value >= first && value <= last && (value - first) % step == 0) {
                return true;
            }
        }
        return false;
    }
}
