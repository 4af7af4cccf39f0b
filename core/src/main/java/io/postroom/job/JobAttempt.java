package io.postroom.job;

import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * An attempt that did not end with the job done.
 *
 * @param at when it ended
 * @param outcome failed, timed_out, lost, interrupted, snoozed, unavailable or cancelled
 * @param error redacted, in one line
 */
public record JobAttempt(
        int attempt,
        Instant at,
        Duration duration,
        String worker,
        String outcome,
        @Nullable String errorClass,
        @Nullable String error,
        @Nullable String fingerprint) {}
