package io.postroom.server.overview;

import io.postroom.server.web.Shown;
import io.postroom.subscription.SubscriptionState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.ToDoubleBiFunction;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
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
        if (sample.subscriptions().isEmpty()) {
            return "idle";
        }
        return troubles.isEmpty() ? "good" : troubles.get(0).level().style();
    }

    static Overview of(Sample sample, List<Sample> history) {
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
                percentile(sample.delays(), 0.5).orElse(null),
                percentile(sample.delays(), 0.99).orElse(null),
                charts(sample, history));
    }

    private static List<Chart> charts(Sample sample, List<Sample> history) {
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
                                new Chart.Series("median", delays(history, 0.5)),
                                new Chart.Series("99 of 100", delays(history, 0.99)))));
    }

    private static List<Chart.Point> points(List<Sample> history, ToDoubleFunction<Sample> value) {
        return history.stream()
                .map(each -> new Chart.Point(each.at(), value.applyAsDouble(each)))
                .toList();
    }

    private static List<Chart.Point> delays(List<Sample> history, double share) {
        return points(
                history.stream().filter(each -> !each.delays().isEmpty()).toList(),
                each -> percentile(each.delays(), share).orElse(Duration.ZERO).toNanos() / 1e9);
    }

    private static List<Chart.Point> rates(List<Sample> history, ToDoubleBiFunction<Sample, Sample> rate) {
        List<Chart.Point> points = new ArrayList<>();
        for (int i = 1; i < history.size(); i++) {
            points.add(new Chart.Point(history.get(i).at(), rate.applyAsDouble(history.get(i - 1), history.get(i))));
        }
        return points;
    }

    private static double recentRate(List<Sample> history, ToDoubleBiFunction<Sample, Sample> rate) {
        int last = history.size() - 1;
        return last < 1 ? 0 : rate.applyAsDouble(history.get(Math.max(0, last - RECENT)), history.get(last));
    }

    private static double published(Sample from, Sample to) {
        return rate(from, to, from.position(), to.position());
    }

    /** As fast as the slowest of those that were to flow at both times. */
    private static double delivered(Sample from, Sample to) {
        Map<String, SubscriptionState> before =
                from.current().stream().collect(Collectors.toMap(SubscriptionState::name, Function.identity()));
        return to.current().stream()
                .filter(state -> state.copyOf() == null && before.containsKey(state.name()))
                .mapToDouble(state -> rate(from, to, before.get(state.name()).position(), state.position()))
                .min()
                .orElse(0);
    }

    /** Positions go back when a subscription is moved back; then nothing was delivered. */
    private static double rate(Sample from, Sample to, long before, long after) {
        double seconds = Duration.between(from.at(), to.at()).toMillis() / 1000.0;
        return seconds <= 0 ? 0 : Math.max(0, (after - before) / seconds);
    }

    private static Optional<Duration> percentile(List<Duration> sorted, double share) {
        return sorted.isEmpty()
                ? Optional.empty()
                : Optional.of(sorted.get((int) Math.min(sorted.size() - 1, Math.floor(share * sorted.size()))));
    }
}
