package io.postroom.server.overview;

import io.postroom.server.web.Shown;
import io.postroom.subscription.SubscriptionState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.function.DoubleFunction;
import java.util.function.Function;
import java.util.function.ToDoubleBiFunction;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * What the first page shows.
 *
 * @param published per second, during the last half minute
 * @param delivered to the slowest subscription, per second, during the same
 * @param slowest which subscription that is; null if there is none
 * @param backlogSlope by how many messages a second its backlog grows; below 0 if it shrinks
 */
public record Overview(
        Sample sample,
        String sentence,
        List<Trouble> troubles,
        double published,
        double delivered,
        @Nullable String slowest,
        double backlogSlope,
        Delay.@Nullable Percentiles commitToDelivery,
        List<Chart> charts) {
    private static final int RECENT = 6;

    /** Less is what is on its way, and no backlog. */
    private static final int BACKLOG_MIN = 100;

    /** Less a second is no growth. */
    private static final double SLOPE_MIN = 0.5;

    private static final Chart.Unit RATE = new Chart.Unit(Shown::rate, Shown::rate, 0);
    private static final Chart.Unit MESSAGES = new Chart.Unit(
            value -> Shown.count(Math.round(value), "message"), value -> Shown.number(Math.round(value)), 10);
    private static final DoubleFunction<String> SECONDS =
            value -> value == 0 ? "0" : Shown.duration(Duration.ofNanos(Math.round(value * 1e9)));
    private static final Chart.Unit TIME = new Chart.Unit(SECONDS, SECONDS, 0.01);

    public String style() {
        if (sample.subscriptions().isEmpty() && troubles.isEmpty()) {
            return "idle";
        }
        return troubles.isEmpty() ? "good" : troubles.get(0).level().style();
    }

    static Overview of(Sample sample, List<Moment> history) {
        List<Trouble> troubles = Troubles.of(sample);
        double slope = sample.backlog() > BACKLOG_MIN ? recentSlope(history) : 0;
        return new Overview(
                sample,
                Troubles.sentence(sample, troubles),
                troubles,
                recentRate(history, Overview::published),
                recentRate(history, Overview::delivered),
                slowest(history),
                slope,
                sample.commitToDelivery(),
                charts(sample, history, slope));
    }

    /** The one subscription that has messages put aside; null if none has any, or several have. */
    public @Nullable String retryingAt() {
        List<String> names = sample.current().stream()
                .filter(state -> state.putAside().total() > 0)
                .map(SubscriptionState::name)
                .toList();
        return names.size() == 1 ? names.get(0) : null;
    }

    /** When the backlog is gone if it goes on like this; null if it does not shrink. */
    public @Nullable Duration drained() {
        return backlogSlope < 0 ? Duration.ofMillis(Math.round(sample.backlog() / -backlogSlope * 1000)) : null;
    }

    /** What becomes of the backlog if it goes on like this; empty if there is none. */
    public String forecast() {
        return forecast(sample.backlog(), backlogSlope);
    }

    private static String forecast(long backlog, double slope) {
        if (slope < 0) {
            return "gone in " + Shown.duration(rounded(backlog / -slope));
        }
        return slope < SLOPE_MIN
                ? ""
                : "grows by " + Shown.rate(slope) + ", twice as much in " + Shown.duration(rounded(backlog / slope));
    }

    private static Duration rounded(double seconds) {
        return Duration.ofSeconds(Math.max(1, Math.round(seconds)));
    }

    private static List<Chart> charts(Sample sample, List<Moment> history, double slope) {
        String slowest = slowest(history);
        return List.of(
                Chart.of(
                        "In and out",
                        sample.at(),
                        RATE,
                        List.of(
                                new Chart.Series("published", rates(history, Overview::published)),
                                new Chart.Series(
                                        slowest == null ? "delivered" : "slowest: " + slowest,
                                        rates(history, Overview::delivered))),
                        Chart.Forecast.NONE),
                Chart.of(
                        "Backlog",
                        sample.at(),
                        MESSAGES,
                        List.of(new Chart.Series("slowest subscription", points(history, each -> each.backlog()))),
                        new Chart.Forecast(slope, forecast(sample.backlog(), slope))),
                Chart.of(
                        "Lag",
                        sample.at(),
                        TIME,
                        List.of(new Chart.Series("oldest undelivered", lags(history))),
                        Chart.Forecast.NONE),
                Chart.of(
                        "Commit to delivery",
                        sample.at(),
                        TIME,
                        List.of(
                                new Chart.Series("p50", delays(history, Delay.Percentiles::p50)),
                                new Chart.Series("p95", delays(history, Delay.Percentiles::p95)),
                                new Chart.Series("p99", delays(history, Delay.Percentiles::p99))),
                        Chart.Forecast.NONE));
    }

    private static List<Chart.Point> points(List<Moment> history, ToDoubleFunction<Moment> value) {
        return history.stream()
                .map(each -> new Chart.Point(each.at(), value.applyAsDouble(each)))
                .toList();
    }

    private static List<Chart.Point> lags(List<Moment> history) {
        List<Chart.Point> points = new ArrayList<>();
        for (Moment each : history) {
            Duration lag = each.lag();
            if (lag != null) {
                points.add(new Chart.Point(each.at(), lag.toNanos() / 1e9));
            }
        }
        return points;
    }

    private static List<Chart.Point> delays(List<Moment> history, Function<Delay.Percentiles, Duration> delay) {
        List<Chart.Point> points = new ArrayList<>();
        for (Moment each : history) {
            Delay.Percentiles value = each.commitToDelivery();
            if (value != null) {
                points.add(new Chart.Point(each.at(), delay.apply(value).toNanos() / 1e9));
            }
        }
        return points;
    }

    private static List<Chart.Point> rates(List<Moment> history, ToDoubleBiFunction<Moment, Moment> rate) {
        List<Chart.Point> points = new ArrayList<>();
        for (int i = 1; i < history.size(); i++) {
            double value = rate.applyAsDouble(history.get(i - 1), history.get(i));
            if (!Double.isNaN(value)) {
                points.add(new Chart.Point(history.get(i).at(), value));
            }
        }
        return points;
    }

    private static double recentRate(List<Moment> history, ToDoubleBiFunction<Moment, Moment> rate) {
        int last = history.size() - 1;
        double value = last < 1 ? 0 : rate.applyAsDouble(history.get(Math.max(0, last - RECENT)), history.get(last));
        return Double.isNaN(value) ? 0 : value;
    }

    private static double recentSlope(List<Moment> history) {
        int last = history.size() - 1;
        if (last < 1) {
            return 0;
        }
        Moment from = history.get(Math.max(0, last - RECENT));
        Moment to = history.get(last);
        double seconds = Duration.between(from.at(), to.at()).toMillis() / 1000.0;
        return seconds <= 0 ? 0 : (to.backlog() - from.backlog()) / seconds;
    }

    /** Whose rate {@link #delivered} is, lately. */
    private static @Nullable String slowest(List<Moment> history) {
        int last = history.size() - 1;
        if (last < 0) {
            return null;
        }
        Moment from = history.get(Math.max(0, last - RECENT));
        Moment to = history.get(last);
        return to.positions().entrySet().stream()
                .filter(each -> from.positions().containsKey(each.getKey()))
                .min(Comparator.<Map.Entry<String, Long>>comparingDouble(
                                each -> rate(from, to, from.positions().get(each.getKey()), each.getValue()))
                        .thenComparing(Map.Entry.comparingByValue())
                        .thenComparing(Map.Entry.comparingByKey()))
                .map(Map.Entry::getKey)
                .orElse(null);
    }

    private static double published(Moment from, Moment to) {
        return rate(from, to, from.position(), to.position());
    }

    /** As fast as the slowest of those that were to flow at both times: the one furthest behind. Not a number if there is none. */
    private static double delivered(Moment from, Moment to) {
        return to.positions().entrySet().stream()
                .filter(each -> from.positions().containsKey(each.getKey()))
                .mapToDouble(each -> rate(from, to, from.positions().get(each.getKey()), each.getValue()))
                .min()
                .orElse(Double.NaN);
    }

    /** Positions go back when a subscription is moved back; then nothing was delivered. */
    static double rate(Moment from, Moment to, long before, long after) {
        double seconds = Duration.between(from.at(), to.at()).toMillis() / 1000.0;
        return seconds <= 0 ? 0 : Math.max(0, (after - before) / seconds);
    }
}
