package io.postroom.subscription;

import java.time.Instant;

/** Since when a subscription is paused, by whom, and why. */
public record Pause(Instant at, String by, String reason) {}
