package io.postroom.subscription;

import java.util.List;

/**
 * What a replay does: what lies after one position, up to another, is delivered once more, with a header that says so.
 *
 * @param name the subscription that replays; for a copy, the copy
 * @param moves the lanes that replay
 * @param leftAlone lanes that have nothing to replay: they have not come so far
 */
public record ReplayPlan(String name, long after, long upTo, List<LaneMove> moves, List<Integer> leftAlone) {
    public ReplayPlan {
        moves = List.copyOf(moves);
        leftAlone = List.copyOf(leftAlone);
    }
}
