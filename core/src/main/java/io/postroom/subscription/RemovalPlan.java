package io.postroom.subscription;

import java.util.Map;

/**
 * What goes with a subscription: its lanes, its deliveries by state, its open dead letters, and the claim to what it has not
 * delivered.
 *
 * @param undelivered positions of the journal that its slowest lane has not reached
 */
public record RemovalPlan(String name, int lanes, long undelivered, Map<String, Long> deliveries, long deadLetters) {

    public long deliveriesTotal() {
        return deliveries.values().stream().mapToLong(Long::longValue).sum();
    }
}
