package io.postroom.deadletter;

import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * An operator's act on many dead letters, as it stands: what was asked for, and how far it is.
 *
 * @param total how many dead letters were meant when it was asked for
 * @param done how many it has resolved
 * @param skipped how many it left open, or found resolved by others
 * @param skips why, and how many each
 * @param note why it ended, where that is not plain
 */
public record Redrive(
        RedriveRequest request,
        RedriveState state,
        long total,
        long done,
        long skipped,
        Map<String, Long> skips,
        Instant createdAt,
        @Nullable Instant endedAt,
        @Nullable String note) {

    public Redrive {
        skips = Map.copyOf(skips);
    }

    public boolean isEnded() {
        return state.isEnd();
    }
}
