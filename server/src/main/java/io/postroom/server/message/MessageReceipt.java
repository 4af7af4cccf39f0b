package io.postroom.server.message;

import java.time.Instant;

/** A consumer that has accepted a message. */
public record MessageReceipt(String consumer, Instant acceptedAt) {}
