package io.postroom.subscription;

import java.util.List;
import java.util.Map;

/**
 * Everything about one subscription.
 *
 * @param relays the live relays that serve it, by name
 * @param deliveries how many of its messages did not go through at once, by state
 * @param deadLetters how many dead letters of it are open
 * @param copies the names of its copies
 */
public record SubscriptionDetails(
        SubscriptionState state,
        List<LaneState> lanes,
        List<String> relays,
        Map<String, Long> deliveries,
        long deadLetters,
        List<CircuitState> circuits,
        List<String> copies) {
    public SubscriptionDetails {
        lanes = List.copyOf(lanes);
        relays = List.copyOf(relays);
        circuits = List.copyOf(circuits);
        copies = List.copyOf(copies);
    }

    /** How many keys wait for an operator, because one of their messages was buried. */
    public long heldKeys() {
        return deliveries.getOrDefault("held", 0L);
    }
}
