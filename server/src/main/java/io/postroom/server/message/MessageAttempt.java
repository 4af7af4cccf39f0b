package io.postroom.server.message;

import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** One attempt at delivering a message. */
public record MessageAttempt(
        String subscription,
        int attempt,
        Instant at,
        Duration took,
        String node,
        String outcome,
        @Nullable String errorClass,
        @Nullable String error) {}
