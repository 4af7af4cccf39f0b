package io.postroom.advice;

import io.postroom.PostroomException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What no figure tells: what is wanted of the system.
 *
 * @param latency how soon after its commit a message must arrive; null if nobody said
 * @param replayDays how far back messages must be replayable; 0 if nobody said
 * @param regions in how many regions consumers are
 */
public record Wishes(@Nullable Duration latency, int replayDays, int regions) {
    public static final Wishes NONE = new Wishes(null, 0, 1);

    private static final int REPLAY_DAYS_MAX = 36_600;
    private static final int REGIONS_MAX = 1_000;

    public Wishes {
        if (latency != null && (latency.isNegative() || latency.isZero())) {
            throw new PostroomException(
                    "advice.latency-invalid", "could not advise: the latency is " + latency + ", it must be above 0");
        }
        range("replay-days", replayDays, 0, REPLAY_DAYS_MAX);
        range("regions", regions, 1, REGIONS_MAX);
    }

    private static void range(String name, int value, int min, int max) {
        if (value < min || value > max) {
            throw new PostroomException(
                    "advice." + name + "-invalid",
                    "could not advise: " + name + " is " + value + ", the range is " + min + " to " + max);
        }
    }
}
