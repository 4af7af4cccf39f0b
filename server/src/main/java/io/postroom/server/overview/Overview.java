package io.postroom.server.overview;

import io.postroom.server.web.Shown;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.ToDoubleBiFunction;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * What the first page shows.
 *
 * @param published per second, during the last half minute
 * @param delivered to every subscription, per second, during the same
 * @param drained when the backlog is gone if it goes on like this; null if it does not shrink
 */
public record Overview(
        Sample sample,
        String sentence,
        List<Trouble> troubles,
        double published,
        double delivered,
        @Nullable Duration drained,
        @Nullable Duration delayMedian,
        @Nullable Duration delayMost,
        List<Chart> charts) {
    private static final int RECENT = 6;

    /** Less is what is on its way, and no backlog. */
    private static final int BACKLOG_MIN = 1_000;

    public String style() {
        if (sample.subscriptions().isEmpty() && troubles.isEmpty()) {
            return "idle";
        }
        return troubles.isEmpty() ? "good" : troubles.get(0).level().style();
    }

    static Overview of(Sample sample, List<Moment> history) {
        Moment now = Moment.of(sample);
        List<Trouble> troubles = Troubles.of(sample);
        double in = recentRate(history, Overview::published);
        double out = recentRate(history, Overview::delivered);
        long backlog = sample.backlog();
        Duration drained =
                backlog > BACKLOG_MIN && out > in ? Duration.ofMillis(Math.round(backlog / (out - in) * 1000)) : null;
        return new Overview(
                sample,
                Troubles.sentence(sample, troubles),
                troubles,
                in,
                out,
                drained,
                now.delayMedian(),
                now.delayMost(),
                charts(sample, history));
    }

    private static List<Chart> charts(Sample sample, List<Moment> history) {
        return List.of(
                Chart.of(
                        "In and out",
                        sample.at(),
                        Shown::rate,
                        List.of(
                                new Chart.Series("published", rates(history, Overview::published)),
                                new Chart.Series("delivered to all", rates(history, Overview::delivered)))),
                Chart.of(
                        "Backlog",
                        sample.at(),
                        value -> Shown.count(Math.round(value), "message"),
                        List.of(new Chart.Series("slowest subscription", points(history, each -> each.backlog())))),
                Chart.of(
                        "Stamp to settlement",
                        sample.at(),
                        value -> Shown.duration(Duration.ofNanos(Math.round(value * 1e9))),
                        List.of(
                                new Chart.Series("median", delays(history, Moment::delayMedian)),
                                new Chart.Series("99 of 100", delays(history, Moment::delayMost)))));
    }

    private static List<Chart.Point> points(List<Moment> history, ToDoubleFunction<Moment> value) {
        return history.stream()
                .map(each -> new Chart.Point(each.at(), value.applyAsDouble(each)))
                .toList();
    }

    private static List<Chart.Point> delays(List<Moment> history, Function<Moment, @Nullable Duration> delay) {
        List<Chart.Point> points = new ArrayList<>();
        for (Moment each : history) {
            Duration value = delay.apply(each);
            if (value != null) {
                points.add(new Chart.Point(each.at(), value.toNanos() / 1e9));
            }
        }
        return points;
    }

    private static List<Chart.Point> rates(List<Moment> history, ToDoubleBiFunction<Moment, Moment> rate) {
        List<Chart.Point> points = new ArrayList<>();
        for (int i = 1; i < history.size(); i++) {
            points.add(new Chart.Point(history.get(i).at(), rate.applyAsDouble(history.get(i - 1), history.get(i))));
        }
        return points;
    }

    private static double recentRate(List<Moment> history, ToDoubleBiFunction<Moment, Moment> rate) {
        int last = history.size() - 1;
        return last < 1 ? 0 : rate.applyAsDouble(history.get(Math.max(0, last - RECENT)), history.get(last));
    }

    private static double published(Moment from, Moment to) {
        return rate(from, to, from.position(), to.position());
    }

    /** As fast as the slowest of those that were to flow at both times. */
    private static double delivered(Moment from, Moment to) {
        return to.positions().entrySet().stream()
                .filter(each -> from.positions().containsKey(each.getKey()))
                .mapToDouble(each -> rate(from, to, from.positions().get(each.getKey()), each.getValue()))
                .min()
                .orElse(0);
    }

    /** Positions go back when a subscription is moved back; then nothing was delivered. */
    static double rate(Moment from, Moment to, long before, long after) {
        double seconds = Duration.between(from.at(), to.at()).toMillis() / 1000.0;
        return seconds <= 0 ? 0 : Math.max(0, (after - before) / seconds);
    }
}
