package io.postroom.deadletter;

import java.time.Instant;

/** Why, when and by whom a message was given up; {@code error} and {@code fingerprint} are those of its last attempt. */
public record Burial(
        Cause cause,
        int attempts,
        String errorClass,
        String error,
        String fingerprint,
        Instant buriedAt,
        String buriedBy) {}
