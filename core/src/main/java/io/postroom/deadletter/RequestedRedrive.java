package io.postroom.deadletter;

/**
 * A redrive that somebody asked for.
 *
 * @param isNew false if the same was asked for before, with the same id
 */
public record RequestedRedrive(Redrive redrive, boolean isNew) {}
