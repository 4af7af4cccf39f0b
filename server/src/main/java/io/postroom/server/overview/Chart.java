package io.postroom.server.overview;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.DoubleFunction;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Lines over time, drawn as SVG by the server: they need no script, follow the theme, and print.
 *
 * @param top what the upper edge means, with its unit; {@code half} what the middle means, {@code zero} the lower edge
 * @param to the time of the right edge
 * @param now the same, unless a forecast goes beyond
 * @param ahead a dashed line beyond now; empty without a forecast
 * @param from the time of the left edge
 * @param readings for the script that shows values under the pointer: times, and for each the labels of all lines
 */
public record Chart(
        String title,
        List<Line> lines,
        String top,
        String half,
        String zero,
        Instant from,
        Instant to,
        Instant now,
        String readings,
        boolean isEmpty,
        String ahead,
        String forecast) {
    static final int WIDTH = 600;
    static final int HEIGHT = 120;
    private static final int POINTS_MAX = 120;
    /** Fewer are a cliff at the right edge, and say nothing. */
    private static final int POINTS_MIN = 5;

    private static final Duration GAP = Duration.ofSeconds(75);
    private static final List<Duration> WINDOWS =
            List.of(Duration.ofMinutes(5), Duration.ofMinutes(15), Duration.ofMinutes(30), Duration.ofHours(1));

    /** One line: its name, its newest and its highest value, its path and the area under it. */
    public record Line(String name, String last, String peak, String path, String area, int style) {}

    /** How values are read: beside a line, and at the axis; and what the upper edge is at least. */
    record Unit(DoubleFunction<String> label, DoubleFunction<String> axis, double topMin) {}

    /** What becomes of the first line, by so much a second. */
    record Forecast(double slope, String words) {
        static final Forecast NONE = new Forecast(0, "");

        boolean isNone() {
            return words.isEmpty();
        }
    }

    /** A value at a time. */
    record Point(Instant at, double value) {}

    /** How long ago the left edge is. */
    public String span() {
        long minutes = Duration.between(from, now).toMinutes();
        return minutes == 60 ? "1 h ago" : minutes + " min ago";
    }

    /** How long ago the middle is. */
    public String middle() {
        return words(Duration.between(from, now).dividedBy(2)) + " ago";
    }

    /** When the right edge is, if a forecast goes beyond now. */
    public String end() {
        return "in " + words(Duration.between(now, to));
    }

    private static String words(Duration value) {
        long minutes = value.toMinutes();
        int seconds = value.toSecondsPart();
        return minutes == 0 ? seconds + " s" : seconds == 0 ? minutes + " min" : minutes + " min " + seconds + " s";
    }

    /** The values, for those who do not see the lines. */
    public String described() {
        return title + " from " + span() + " to now: "
                + lines.stream()
                        .map(line -> line.name() + " now " + line.last() + ", at most " + line.peak())
                        .collect(Collectors.joining("; "))
                + (forecast.isEmpty() ? "" : "; " + forecast);
    }

    /** What a line shows. */
    record Series(String name, List<Point> points) {}

    /** Over the shortest of some windows that has room for everything. */
    static Chart of(String title, Instant now, Unit unit, List<Series> series, Forecast forecast) {
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
        long step = Math.max(Sampler.EVERY.toMillis(), window.toMillis() / POINTS_MAX);
        List<Series> thinned = series.stream()
                .map(each -> new Series(each.name(), thin(each.points(), from, step)))
                .toList();
        double max = thinned.stream()
                .flatMap(each -> each.points().stream())
                .mapToDouble(Point::value)
                .max()
                .orElse(0);
        double top = nice(Math.max(unit.topMin(), max));
        DoubleFunction<String> label = unit.label();
        boolean isEmpty = thinned.stream().allMatch(each -> each.points().size() < POINTS_MIN);
        boolean isAhead = !forecast.isNone() && !isEmpty;
        // A quarter of the width is for what is to come.
        Instant to = isAhead ? now.plus(window.dividedBy(3)) : now;
        List<Line> lines = new ArrayList<>();
        for (int i = 0; i < thinned.size(); i++) {
            lines.add(line(thinned.get(i), from, to, top, label, i + 1));
        }
        return new Chart(
                title,
                lines,
                unit.axis().apply(top),
                unit.axis().apply(top / 2),
                unit.axis().apply(0),
                from,
                to,
                now,
                readings(thinned, from, to, step, label),
                isEmpty,
                isAhead ? ahead(thinned.get(0).points(), from, to, top, forecast.slope()) : "",
                isAhead ? forecast.words() : "");
    }

    /** From the last point on, until nothing is left, or to the edge. */
    private static String ahead(List<Point> points, Instant from, Instant to, double top, double slope) {
        Point last = points.get(points.size() - 1);
        double room = Duration.between(last.at(), to).toMillis() / 1000.0;
        double bound = slope < 0 ? 0 : top;
        double seconds = slope == 0 ? room : Math.min(room, (bound - last.value()) / slope);
        Instant end = last.at().plusMillis(Math.round(seconds * 1000));
        return "M" + number(x(last.at(), from, to)) + "," + number(y(last.value(), top)) + " L"
                + number(x(end, from, to)) + "," + number(y(last.value() + slope * seconds, top));
    }

    private static Line line(
            Series series, Instant from, Instant to, double top, DoubleFunction<String> label, int style) {
        List<Point> points = series.points();
        String last = points.isEmpty()
                ? "–"
                : label.apply(points.get(points.size() - 1).value());
        String peak = points.isEmpty()
                ? "–"
                : label.apply(points.stream().mapToDouble(Point::value).max().orElse(0));
        if (points.size() < POINTS_MIN) {
            return new Line(series.name(), last, peak, "", "", style);
        }
        List<String> paths = new ArrayList<>();
        List<String> areas = new ArrayList<>();
        for (List<Point> part : parts(points)) {
            String path = part.stream()
                    .map(point -> number(x(point.at(), from, to)) + "," + number(y(point.value(), top)))
                    .collect(Collectors.joining(" L", "M", ""));
            paths.add(path);
            areas.add(path + " L" + number(x(part.get(part.size() - 1).at(), from, to)) + "," + HEIGHT + " L"
                    + number(x(part.get(0).at(), from, to)) + "," + HEIGHT + " Z");
        }
        return new Line(series.name(), last, peak, String.join(" ", paths), String.join(" ", areas), style);
    }

    /** What belongs together: while nobody could look there is no line. */
    private static List<List<Point>> parts(List<Point> points) {
        List<List<Point>> parts = new ArrayList<>();
        List<Point> part = new ArrayList<>();
        for (Point point : points) {
            if (!part.isEmpty()
                    && Duration.between(part.get(part.size() - 1).at(), point.at())
                                    .compareTo(GAP)
                            > 0) {
                parts.add(part);
                part = new ArrayList<>();
            }
            part.add(point);
        }
        parts.add(part);
        return parts;
    }

    /**
     * As many points as can be told apart: of each stretch its highest, so that no peak is lost. Stretches are those of the clock, the
     * same for all lines, and the same when the next sample comes.
     */
    private static List<Point> thin(List<Point> points, Instant from, long step) {
        Map<Long, Point> highest = new TreeMap<>();
        points.stream()
                .filter(each -> !each.at().isBefore(from))
                .forEach(each -> highest.merge(
                        stretch(each, step), each, (one, other) -> one.value() >= other.value() ? one : other));
        return List.copyOf(highest.values());
    }

    private static long stretch(Point point, long step) {
        return Math.floorDiv(point.at().toEpochMilli(), step);
    }

    private static String readings(
            List<Series> series, Instant from, Instant to, long step, DoubleFunction<String> label) {
        Map<Long, @Nullable Point[]> rows = new TreeMap<>();
        for (int i = 0; i < series.size(); i++) {
            for (Point point : series.get(i).points()) {
                rows.computeIfAbsent(stretch(point, step), ignored -> new Point[series.size()])[i] = point;
            }
        }
        return rows.values().stream()
                .map(row -> {
                    Instant at = Arrays.stream(row)
                            .filter(Objects::nonNull)
                            .findFirst()
                            .orElseThrow()
                            .at();
                    return number(x(at, from, to) / WIDTH) + "|" + at.truncatedTo(ChronoUnit.SECONDS)
                            + Arrays.stream(row)
                                    .map(point -> "|" + (point == null ? "–" : label.apply(point.value())))
                                    .collect(Collectors.joining());
                })
                .collect(Collectors.joining(";"));
    }

    /** The next of 1, 2, 4, 6, 8, 10, 20 …: its half is as round. */
    private static double nice(double max) {
        if (max <= 0) {
            return 1;
        }
        double power = Math.pow(10, Math.floor(Math.log10(max)));
        for (double step : new double[] {1, 2, 4, 6, 8, 10}) {
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
