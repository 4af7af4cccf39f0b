package io.postroom.subscription;

import java.util.List;

/**
 * What a skip does: the lanes that are moved, past messages that are then never delivered. Lanes that are beyond already stay. A lane
 * that replays goes to the end of its replay at most. What is among the deliveries is not touched.
 */
public record SkipPlan(String name, long to, List<LaneMove> moves) {
    public SkipPlan {
        moves = List.copyOf(moves);
    }

    /** How many positions of the journal the slowest lane passes; those of other lanes are among them. */
    public long positions() {
        return moves.stream().mapToLong(LaneMove::positions).max().orElse(0);
    }
}
