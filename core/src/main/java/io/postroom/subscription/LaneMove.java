package io.postroom.subscription;

import org.jspecify.annotations.Nullable;

/**
 * Where a lane is moved: what lies in it between {@code after} and {@code upTo} is skipped, or replayed. {@code replayTo} and {@code resumeAt} are set if it replays afterwards. {@code messages} is how many messages
 * of the lane are skipped or replayed, whatever the subscription's filter says; null where there are too many to count.
 */
public record LaneMove(
        int lane,
        long from,
        long to,
        @Nullable Long replayTo,
        @Nullable Long resumeAt,
        long after,
        long upTo,
        @Nullable Long messages) {

    /** Skips what lies before a position. */
    static LaneMove skip(int lane, long from, long to) {
        return new LaneMove(lane, from, to, null, null, from, to, null);
    }

    /** Skips some of a replay that goes on. */
    static LaneMove skipReplayed(int lane, long from, long to, long replayTo, long resumeAt) {
        return new LaneMove(lane, from, to, replayTo, resumeAt, from, to, null);
    }

    /** Skips the rest of a replay: the lane goes on where it was before. */
    static LaneMove endReplay(int lane, long from, long replayTo, long resumeAt) {
        return new LaneMove(lane, from, resumeAt, null, null, from, replayTo, null);
    }

    /** Goes back and replays up to a position. */
    static LaneMove replay(int lane, long from, long to, long replayTo) {
        return new LaneMove(lane, from, to, replayTo, from, to, replayTo, null);
    }

    LaneMove counted(long messages) {
        return new LaneMove(lane, from, to, replayTo, resumeAt, after, upTo, messages);
    }

    /** How many positions of the journal are skipped or replayed; those of other lanes are among them. */
    public long positions() {
        return upTo - after;
    }
}
