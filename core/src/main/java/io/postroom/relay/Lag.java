package io.postroom.relay;

import java.time.Duration;

/** How far a subscription is behind the journal: messages past its slowest lane, and how long the oldest of them waits. */
public record Lag(String subscription, long messages, Duration age) {}
