package io.postroom.schedule;

import java.util.List;
import java.util.Random;

/** Makes up cron expressions of five fields. */
final class RandomCron {
    private static final List<String> WEEKDAYS = List.of("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT");

    private RandomCron() {}

    static String make(Random random) {
        String days = days(random);
        return numbers(random, 0, 59) + " " + hours(random) + " " + days.split(" ")[0] + " " + months(random) + " "
                + days.split(" ")[1];
    }

    /** Often the small hours, in which clocks are changed. */
    private static String hours(Random random) {
        return switch (random.nextInt(4)) {
            case 0 -> "*";
            case 1 -> numbers(random, 0, 4);
            default -> numbers(random, 0, 23);
        };
    }

    private static String months(Random random) {
        return random.nextInt(5) == 0 ? numbers(random, 1, 12) : "*";
    }

    private static String days(Random random) {
        String day = switch (random.nextInt(6)) {
            case 0 -> "L";
            case 1 -> "L-" + (1 + random.nextInt(5));
            case 2 -> (1 + random.nextInt(31)) + "W";
            case 3 -> "LW";
            default -> numbers(random, 1, 31);
        };
        String weekday = switch (random.nextInt(4)) {
            case 0 -> WEEKDAYS.get(random.nextInt(7)) + "L";
            case 1 -> random.nextInt(8) + "#" + (1 + random.nextInt(5));
            case 2 -> WEEKDAYS.get(random.nextInt(6)) + ",7";
            default -> "MON-FRI/" + (1 + random.nextInt(3));
        };
        return switch (random.nextInt(8)) {
            case 0 -> day + " *";
            case 1 -> "* " + weekday;
            case 2 -> (day.contains("*") ? "1" : day) + " " + weekday;
            default -> "* *";
        };
    }

    private static String numbers(Random random, int min, int max) {
        int first = min + random.nextInt(max - min + 1);
        int last = first + random.nextInt(max - first + 1);
        int step = 1 + random.nextInt(max);
        return switch (random.nextInt(6)) {
            case 0 -> "*";
            case 1 -> "*/" + step;
            case 2 -> first + "-" + last;
            case 3 -> first + "-" + last + "/" + step;
            case 4 -> first + "," + last;
            default -> Integer.toString(first);
        };
    }
}
