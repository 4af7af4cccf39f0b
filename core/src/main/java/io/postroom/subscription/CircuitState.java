package io.postroom.subscription;

import java.time.Instant;

/** A destination that takes nothing at the moment, as one relay sees it, and when that relay tries again. */
public record CircuitState(
        String relay, Instant openedAt, Instant probeAt, int failures, String errorClass, String error) {}
