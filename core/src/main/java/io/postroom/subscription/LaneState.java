package io.postroom.subscription;

import java.time.Duration;
import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A lane as it stands, and who has it. {@code lease} is what is left by the database's clock; negative if it ran out. While it
 * replays, {@code replayTo} is where that ends and {@code resumeAt} where it goes on.
 */
public record LaneState(
        String subscription,
        int lane,
        long position,
        long lagMessages,
        Duration lag,
        @Nullable UUID owner,
        @Nullable String ownerName,
        @Nullable Instant leasedUntil,
        Duration lease,
        long fence,
        @Nullable Long replayTo,
        @Nullable Long resumeAt) {

    /** Whether some relay may act on it now. */
    public boolean isHeld() {
        return owner != null && !lease.isNegative();
    }
}
