package io.postroom.idempotency;

import org.jspecify.annotations.Nullable;

/** Which keys are meant: those that fit everything that is given. What is null fits all. */
public record KeyFilter(
        @Nullable String tenant,
        @Nullable String scope,
        @Nullable KeyState state) {
    /** Those whose steps are not all done. */
    public static final KeyFilter RUNNING = new KeyFilter(null, null, KeyState.RUNNING);
}
