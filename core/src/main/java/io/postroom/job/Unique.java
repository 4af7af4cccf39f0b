package io.postroom.job;

import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * No two jobs of one kind and tenant with the same key, at the same time. An index of the database decides, whoever enqueues at once.
 *
 * @param whileReady only until the job is claimed, and for good then: what comes in while it runs is enqueued. Otherwise until it ends
 * @param within nor if such a job was done so short a while ago; null: that does not matter
 */
public record Unique(
        String key, boolean whileReady, @Nullable Duration within) {
    public Unique {
        Objects.requireNonNull(key, "key");
    }

    /** While the other waits or runs. */
    public static Unique of(String key) {
        return new Unique(key, false, null);
    }

    /** While the other waits for a worker; not while it runs. */
    public static Unique whileReady(String key) {
        return new Unique(key, true, null);
    }

    /** And for so long after the other was done. A job that failed or was cancelled does not count. */
    public Unique within(Duration period) {
        return new Unique(key, whileReady, period);
    }

    String scope() {
        return whileReady ? "ready" : "open";
    }
}
