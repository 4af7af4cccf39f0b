package io.postroom.subscription;

import org.jspecify.annotations.Nullable;

/**
 * How many lanes a subscription has.
 *
 * @param former how many it had before they were asked to change; 0 if that is not known
 * @param wanted how many it gets as soon as relays have given back the ones they have; null if no change is under way
 * @param leased how many relays still have
 */
public record LaneCount(
        String name, int former, int lanes, @Nullable Integer wanted, int leased) {}
