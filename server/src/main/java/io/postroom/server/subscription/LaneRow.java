package io.postroom.server.subscription;

import java.time.Duration;
import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** A lane as it stands, and who has it. {@code lease} is what is left by the database's clock; negative if it ran out. */
public record LaneRow(
        String subscription,
        int lane,
        long position,
        long lagMessages,
        Duration lag,
        @Nullable UUID owner,
        @Nullable String ownerName,
        @Nullable Instant leasedUntil,
        Duration lease,
        long fence) {

    /** Whether some relay may act on it now. */
    public boolean isHeld() {
        return owner != null && !lease.isNegative();
    }
}
