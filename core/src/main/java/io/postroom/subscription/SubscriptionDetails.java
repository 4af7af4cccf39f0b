package io.postroom.subscription;

import java.util.List;
import java.util.Map;

/**
 * Everything about one subscription.
 *
 * @param relays the live relays that serve it, by name
 * @param deliveries how many of its messages did not go through at once, by state, among {@link Subscriptions#COUNT_MAX} of them
 * @param copies the names of its copies
 */
public record SubscriptionDetails(
        SubscriptionState state,
        List<LaneState> lanes,
        List<String> relays,
        Map<String, Long> deliveries,
        List<CircuitState> circuits,
        List<String> copies) {
    public SubscriptionDetails {
        lanes = List.copyOf(lanes);
        relays = List.copyOf(relays);
        circuits = List.copyOf(circuits);
        copies = List.copyOf(copies);
    }

    /** How many dead letters of it are open, counted up to {@link Subscriptions#COUNT_MAX}. */
    public long deadLetters() {
        return state.deadLetters();
    }

    /** How many keys wait for an operator, because one of their messages was buried; counted likewise. */
    public long heldKeys() {
        return state.heldKeys();
    }
}
