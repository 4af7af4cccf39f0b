package io.postroom.relay;

import java.time.Duration;

/**
 * How far a subscription is behind: messages past its slowest lane or without a position yet, and how long the oldest of them waits.
 */
public record Lag(String subscription, long messages, Duration age) {}
