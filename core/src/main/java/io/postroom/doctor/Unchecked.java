package io.postroom.doctor;

/**
 * What could not be looked at.
 *
 * @param grant what would let it be, as a statement; empty where no grant would
 */
public record Unchecked(Check check, String why, String grant) {}
