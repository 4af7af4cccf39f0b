package io.postroom.message;

import java.time.LocalDate;

/**
 * A version of an event type that is stored: how many messages of the outbox have it, how many open dead letters, and the first and the
 * last day on which one was published or buried.
 */
public record StoredVersion(
        String eventType,
        int eventVersion,
        long messages,
        long deadLetters,
        LocalDate oldestDay,
        LocalDate newestDay) {}
