package io.postroom.subscription;

import java.util.List;
import java.util.Map;

/** Says how much a move of lanes means. */
final class LaneCounter {
    /** A longer stretch of the journal is not counted: it would take seconds. */
    static final long POSITIONS_MAX = 1_000_000;

    private LaneCounter() {}

    /**
     * The moves with how many messages each skips or replays; without, where there are too many to count. Not under locks: it may take
     * a second or two, and relays would wait.
     */
    static List<LaneMove> counted(Acts acts, LaneTable table, String name, List<LaneMove> moves) {
        long first = moves.stream().mapToLong(LaneMove::after).min().orElse(0);
        long last = moves.stream().mapToLong(LaneMove::upTo).max().orElse(0);
        if (moves.isEmpty() || last - first > POSITIONS_MAX) {
            return moves;
        }
        Map<Integer, Long> counts = acts.database().run(tx -> {
            int lanes =
                    acts.table().find(tx, name).map(SubscriptionState::lanes).orElse(1);
            return table.countEntries(tx, lanes, moves);
        });
        return moves.stream()
                .map(move -> move.counted(counts.getOrDefault(move.lane(), 0L)))
                .toList();
    }

    /** The moves as the audit keeps them. */
    static List<Map<String, Long>> details(List<LaneMove> moves) {
        return moves.stream()
                .map(move -> Map.of("lane", (long) move.lane(), "from", move.from(), "to", move.to()))
                .toList();
    }
}
