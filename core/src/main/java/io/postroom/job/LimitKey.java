package io.postroom.job;

import java.util.Objects;

/** What a job is counted for: a {@link Limit} by its name, and the key among which it is counted. */
public record LimitKey(String name, String key) {
    public LimitKey {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(key, "key");
    }
}
