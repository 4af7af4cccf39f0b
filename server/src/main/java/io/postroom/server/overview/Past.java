package io.postroom.server.overview;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What ticks and settlements tell of the hour before a console began: how far the journal and the subscriptions had come. How long messages
 * waited then they do not tell.
 */
final class Past {
    static final Duration STEP = Duration.ofSeconds(30);
    private static final Duration UNDERWAY = Duration.ofSeconds(2);

    /**
     * How far something had come.
     *
     * @param subscription whose lane; null for the journal
     * @param at when; null: now
     */
    record Reached(
            @Nullable String subscription,
            int lane,
            long position,
            @Nullable Instant at) {}

    private record Lane(String subscription, int number) {}

    private Past() {}

    /** Moments before a sample, oldest first, with the subscriptions that are meant to flow in it. */
    static List<Moment> of(List<Reached> reached, Sample sample) {
        Set<String> current = new HashSet<>(Moment.of(sample).positions().keySet());
        TreeMap<Instant, Long> journal = new TreeMap<>();
        TreeMap<Instant, Map<Lane, Long>> settled = new TreeMap<>();
        Map<Lane, Long> known = new HashMap<>();
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
                if (at == null) {
                    known.put(lane, each.position());
                } else {
                    settled.computeIfAbsent(at, ignored -> new HashMap<>()).put(lane, each.position());
                    moved.add(lane);
                }
            }
        }
        Set<Lane> all = Set.copyOf(known.keySet());
        // A lane that has settled nothing stands where it stood. Where the others stood before they did, nobody knows.
        known.keySet().removeAll(moved);
        List<Moment> moments = new ArrayList<>();
        if (journal.isEmpty()) {
            return moments;
        }
        long position = 0;
        for (Instant at = journal.firstKey(); at.isBefore(sample.at()); at = at.plus(STEP)) {
            long before = moments.isEmpty() ? journal.firstEntry().getValue() : position;
            position = journal.getOrDefault(at, position);
            // Lanes settle about once a second: what came during the last two is on its way, and no backlog.
            long underway = (position - before) * UNDERWAY.toSeconds() / STEP.toSeconds();
            known.putAll(settled.getOrDefault(at, Map.of()));
            moments.add(moment(at, position, position - underway, known, all));
        }
        return moments;
    }

    private static Moment moment(Instant at, long position, long due, Map<Lane, Long> known, Set<Lane> all) {
        Map<String, Long> positions = new HashMap<>();
        all.forEach(lane -> positions.merge(lane.subscription(), known.getOrDefault(lane, -1L), Math::min));
        positions.values().removeIf(each -> each < 0);
        long backlog = positions.values().stream()
                .mapToLong(each -> Math.max(0, due - each))
                .max()
                .orElse(0);
        return new Moment(at, position, Moment.UNKNOWN, backlog, null, null, positions);
    }
}
