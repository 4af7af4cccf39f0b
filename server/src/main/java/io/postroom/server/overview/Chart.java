package io.postroom.server.overview;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.DoubleFunction;
import java.util.stream.Collectors;

/**
 * Lines over time, drawn as SVG by the server: they need no script, follow the theme, and print.
 *
 * @param top what the upper edge means, with its unit
 * @param from the time of the left edge
 * @param readings for the script that shows values under the pointer: times, and for each the labels of all lines
 */
public record Chart(
        String title, List<Line> lines, String top, Instant from, Instant to, String readings, boolean isEmpty) {
    static final int WIDTH = 600;
    static final int HEIGHT = 120;
    private static final int POINTS_MAX = 120;
    private static final List<Duration> WINDOWS =
            List.of(Duration.ofMinutes(5), Duration.ofMinutes(15), Duration.ofMinutes(30), Duration.ofHours(1));

    /** One line: its name, its newest value, its path and the area under it. */
    public record Line(String name, String last, String path, String area, int style) {}

    /** A value at a time. */
    record Point(Instant at, double value) {}

    /** How long ago the left edge is. */
    public String span() {
        long minutes = Duration.between(from, to).toMinutes();
        return minutes == 60 ? "1 h ago" : minutes + " min ago";
    }

    /** What a line shows. */
    record Series(String name, List<Point> points) {}

    /** Over the shortest of some windows that has room for everything. */
    static Chart of(String title, Instant now, DoubleFunction<String> label, List<Series> series) {
        Duration age = series.stream()
                .flatMap(each -> each.points().stream())
                .map(point -> Duration.between(point.at(), now))
                .max(Duration::compareTo)
                .orElse(Duration.ZERO);
        Duration window = WINDOWS.stream()
                .filter(each -> each.compareTo(age) >= 0)
                .findFirst()
                .orElse(WINDOWS.get(WINDOWS.size() - 1));
        Instant from = now.minus(window);
        List<Series> thinned = series.stream()
                .map(each -> new Series(each.name(), thin(each.points(), from)))
                .toList();
        double max = thinned.stream()
                .flatMap(each -> each.points().stream())
                .mapToDouble(Point::value)
                .max()
                .orElse(0);
        double top = nice(max);
        List<Line> lines = new ArrayList<>();
        for (int i = 0; i < thinned.size(); i++) {
            lines.add(line(thinned.get(i), from, now, top, label, i + 1));
        }
        boolean isEmpty = thinned.stream().allMatch(each -> each.points().size() < 2);
        return new Chart(title, lines, label.apply(top), from, now, readings(thinned, from, now, label), isEmpty);
    }

    private static Line line(
            Series series, Instant from, Instant to, double top, DoubleFunction<String> label, int style) {
        List<Point> points = series.points();
        String path = points.stream()
                .map(point -> number(x(point.at(), from, to)) + "," + number(y(point.value(), top)))
                .collect(Collectors.joining(" L", "M", ""));
        String last = points.isEmpty()
                ? "–"
                : label.apply(points.get(points.size() - 1).value());
        if (points.size() < 2) {
            return new Line(series.name(), last, "", "", style);
        }
        String area = path + " L" + number(x(points.get(points.size() - 1).at(), from, to)) + "," + HEIGHT + " L"
                + number(x(points.get(0).at(), from, to)) + "," + HEIGHT + " Z";
        return new Line(series.name(), last, path, area, style);
    }

    /** As many points as can be told apart: of each stretch its highest, so that no peak is lost. */
    private static List<Point> thin(List<Point> points, Instant from) {
        List<Point> inside =
                points.stream().filter(each -> !each.at().isBefore(from)).toList();
        int stretch = Math.max(1, (inside.size() + POINTS_MAX - 1) / POINTS_MAX);
        List<Point> thinned = new ArrayList<>();
        for (int i = 0; i < inside.size(); i += stretch) {
            thinned.add(inside.subList(i, Math.min(i + stretch, inside.size())).stream()
                    .max(java.util.Comparator.comparingDouble(Point::value))
                    .orElseThrow());
        }
        return thinned;
    }

    private static String readings(List<Series> series, Instant from, Instant to, DoubleFunction<String> label) {
        if (series.isEmpty()) {
            return "";
        }
        List<String> rows = new ArrayList<>();
        for (int i = 0; i < series.get(0).points().size(); i++) {
            int index = i;
            Point first = series.get(0).points().get(i);
            rows.add(number(x(first.at(), from, to) / WIDTH) + "|"
                    + first.at().truncatedTo(java.time.temporal.ChronoUnit.SECONDS)
                    + series.stream()
                            .map(each -> index < each.points().size()
                                    ? "|" + label.apply(each.points().get(index).value())
                                    : "|–")
                            .collect(Collectors.joining()));
        }
        return String.join(";", rows);
    }

    /** The next of 1, 2, 5, 10, 20 … */
    private static double nice(double max) {
        if (max <= 0) {
            return 1;
        }
        double power = Math.pow(10, Math.floor(Math.log10(max)));
        for (double step : new double[] {1, 2, 5, 10}) {
            if (max <= step * power) {
                return step * power;
            }
        }
        return max;
    }

    private static double x(Instant at, Instant from, Instant to) {
        return WIDTH
                * (double) Duration.between(from, at).toMillis()
                / Duration.between(from, to).toMillis();
    }

    private static double y(double value, double top) {
        return HEIGHT - (HEIGHT - 4) * value / top;
    }

    private static String number(double value) {
        return String.format(Locale.ROOT, "%.3f", value);
    }
}
