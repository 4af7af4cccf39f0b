package io.postroom.subscription;

import io.postroom.PostroomException;
import org.jspecify.annotations.Nullable;

/**
 * Which messages of a subscription are to be delivered once more.
 *
 * @param from with this one the replay begins
 * @param to with this one it ends; null: with the last that was delivered, or for a copy with the last there is
 * @param rate so many messages a second at most, over all lanes; null: as fast as it goes
 */
public record ReplayRequest(
        String name,
        Point from,
        @Nullable Point to,
        @Nullable Double rate) {
    public static final double RATE_MAX = 1_000_000;

    public ReplayRequest {
        if (rate != null && !(rate > 0 && rate <= RATE_MAX)) {
            throw new PostroomException(
                    "subscription.rate-invalid",
                    "could not replay subscription " + name + ": rate is " + rate
                            + " messages a second, it must be more than" + " 0 and at most " + (long) RATE_MAX);
        }
    }
}
