package io.postroom.server.overview;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What ticks and settlements tell of the hour before a console began: how far the journal and the subscriptions had come, and how long
 * messages waited. What was put aside then and has gone through since they do not tell.
 */
final class Past {
    static final Duration STEP = Duration.ofSeconds(30);

    /** Lanes settle about once a second: one that settled so short a time ago stands still only between two settlements. */
    private static final Duration UNDERWAY = Duration.ofSeconds(2);

    /**
     * How far something had come.
     *
     * @param subscription whose lane; null for the journal
     * @param at at the end of which half minute; null: now
     * @param settledAt when a lane came there; null for the journal, and for now
     */
    record Reached(
            @Nullable String subscription,
            int lane,
            long position,
            @Nullable Instant at,
            @Nullable Instant settledAt) {}

    private record Lane(String subscription, int number) {}

    /** Where the slowest lane of a subscription stood; {@code since} is null if it has stood there all the time. */
    private record Stand(long position, @Nullable Instant since) {}

    /**
     * How everything stood at the end of a half minute.
     *
     * @param due up to which message delivery could have been expected
     */
    private record Step(Instant at, long position, long due, Map<String, Stand> slowest) {
        long behind(Stand stand) {
            return Math.max(0, due - stand.position());
        }

        /** How long the first message behind a stand had waited, if it came by then. */
        Duration lag(Stand stand, Map<Long, Instant> stamps) {
            Instant stamped = stamps.get(stand.position());
            Instant since = stand.since();
            Instant seen = since != null && since.isAfter(at.minus(UNDERWAY)) ? since : at;
            return stamped == null || stamped.isAfter(seen) ? Duration.ZERO : Duration.between(stamped, seen);
        }
    }

    private final List<Step> steps = new ArrayList<>();
    /** Since when what was put aside and still is has waited: the oldest of each subscription. */
    private final List<Instant> aside;

    private Past(List<Instant> aside) {
        this.aside = aside;
    }

    /** Before a sample, with the subscriptions that are meant to flow in it. */
    static Past of(List<Reached> reached, Sample sample) {
        Set<String> current = new HashSet<>(Moment.of(sample).positions().keySet());
        TreeMap<Instant, Long> journal = new TreeMap<>();
        TreeMap<Instant, Map<Lane, Stand>> settled = new TreeMap<>();
        Map<Lane, Stand> known = new HashMap<>();
        Set<Lane> moved = new HashSet<>();
        for (Reached each : reached) {
            String subscription = each.subscription();
            Instant at = each.at();
            if (subscription == null) {
                if (at != null) {
                    journal.put(at, each.position());
                }
            } else if (current.contains(subscription)) {
                Lane lane = new Lane(subscription, each.lane());
                Stand stand = new Stand(each.position(), each.settledAt());
                if (at == null) {
                    known.put(lane, stand);
                } else {
                    settled.computeIfAbsent(at, ignored -> new HashMap<>()).put(lane, stand);
                    moved.add(lane);
                }
            }
        }
        Set<Lane> all = Set.copyOf(known.keySet());
        // A lane that has settled nothing stands where it stood. Where the others stood before they did, nobody knows.
        known.keySet().removeAll(moved);
        Past past = new Past(sample.current().stream()
                .filter(state -> state.putAside().total() > 0)
                .map(state -> sample.at().minus(state.putAside().oldest()))
                .toList());
        if (journal.isEmpty()) {
            return past;
        }
        long position = journal.firstEntry().getValue();
        for (Instant at = journal.firstKey(); at.isBefore(sample.at()); at = at.plus(STEP)) {
            long before = position;
            position = journal.getOrDefault(at, position);
            // What came during the last two seconds is on its way, and no backlog.
            long underway = (position - before) * UNDERWAY.toSeconds() / STEP.toSeconds();
            known.putAll(settled.getOrDefault(at, Map.of()));
            past.steps.add(new Step(at, position, position - underway, slowest(known, all)));
        }
        return past;
    }

    /** Of the subscriptions of which every lane is known. */
    private static Map<String, Stand> slowest(Map<Lane, Stand> known, Set<Lane> all) {
        Map<String, Stand> slowest = new HashMap<>();
        Set<String> unknown = new HashSet<>();
        for (Lane lane : all) {
            Stand stand = known.get(lane);
            if (stand == null) {
                unknown.add(lane.subscription());
            } else {
                slowest.merge(
                        lane.subscription(), stand, (one, other) -> one.position() <= other.position() ? one : other);
            }
        }
        slowest.keySet().removeAll(unknown);
        return slowest;
    }

    /** Where lanes stood, so many at most: when the messages after these were stamped has to be asked. Those of the slowest first. */
    long[] stood(int max) {
        Stream<Long> slowest = steps.stream()
                .flatMap(step -> step.slowest().values().stream().map(Stand::position).min(Long::compare).stream());
        Stream<Long> others = steps.stream()
                .map(Step::slowest)
                .map(Map::values)
                .flatMap(Collection::stream)
                .map(Stand::position);
        return Stream.concat(slowest, others)
                .distinct()
                .limit(max)
                .mapToLong(Long::longValue)
                .toArray();
    }

    /**
     * Moments, oldest first.
     *
     * @param stamps when the first message after a position was stamped; null if nobody knows, and so how long anything waited
     * @param delays of what was settled, by the end of a half minute
     */
    List<Moment> moments(@Nullable Map<Long, Instant> stamps, Map<Instant, List<Delay>> delays) {
        return steps.stream()
                .map(step -> moment(step, stamps, delays.getOrDefault(step.at(), List.of())))
                .toList();
    }

    private Moment moment(Step step, @Nullable Map<Long, Instant> stamps, List<Delay> settled) {
        Map<String, Long> positions = new HashMap<>();
        long backlog = 0;
        for (Map.Entry<String, Stand> each : step.slowest().entrySet()) {
            positions.put(each.getKey(), each.getValue().position());
            backlog = Math.max(backlog, step.behind(each.getValue()));
        }
        if (stamps == null) {
            // What waits would count as long as it has waited: without it the others tell too little.
            Delay.Percentiles taken = backlog > 0 ? null : Delay.percentiles(settled);
            return new Moment(step.at(), step.position(), Moment.UNKNOWN, backlog, null, taken, positions);
        }
        List<Delay> delays = new ArrayList<>(settled);
        Duration lag = null;
        for (Stand stand : step.slowest().values()) {
            Duration waited = step.lag(stand, stamps);
            lag = lag == null || waited.compareTo(lag) > 0 ? waited : lag;
            if (!waited.isZero() && step.behind(stand) > 0) {
                delays.addAll(Delay.stretch(Duration.ZERO, waited, step.behind(stand)));
            }
        }
        for (Instant since : aside) {
            Duration waited = Duration.between(since, step.at());
            lag = !waited.isNegative() && (lag == null || waited.compareTo(lag) > 0) ? waited : lag;
        }
        return new Moment(
                step.at(), step.position(), Moment.UNKNOWN, backlog, lag, Delay.percentiles(delays), positions);
    }
}
