package io.postroom.relay;

import io.postroom.PostroomException;
import io.postroom.journal.Filter;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Who wants which messages. It is durable: its lanes remember how far they are, over restarts and on whichever relay.
 *
 * <p>The number of lanes and the order are fixed when it is first made; the filter may change with a release.
 */
public record Subscription(String name, int lanes, Order order, Filter filter, Start start) {
    public static final int LANES_MAX = 256;

    private static final Pattern NAME = Pattern.compile("[a-z][a-z0-9_.-]{0,99}");

    public Subscription {
        List<String> problems = new ArrayList<>();
        if (!NAME.matcher(name).matches()) {
            problems.add("name is '" + name
                    + "', it must be 1 to 100 lower-case letters, digits or _ . -, beginning with a letter");
        }
        if (lanes < 1 || lanes > LANES_MAX) {
            problems.add("lanes is " + lanes + ", the range is 1 to " + LANES_MAX);
        }
        if (!problems.isEmpty()) {
            throw new PostroomException(
                    "subscription.invalid", "could not make subscription " + name + ": " + String.join("; ", problems));
        }
    }

    public static Builder named(String name) {
        return new Builder(name);
    }

    /** Collects a subscription; {@link #build} reports every problem at once. */
    public static final class Builder {
        private final String name;
        private int lanes = 4;
        private Order order = Order.KEY;
        private Set<String> aggregateTypes = Set.of();
        private Set<String> eventTypes = Set.of();
        private Set<String> tenants = Set.of();
        private Start start = Start.beginning();

        private Builder(String name) {
            this.name = name;
        }

        /** How many relays or threads can share it; 4 unless given. */
        public Builder lanes(int lanes) {
            this.lanes = lanes;
            return this;
        }

        public Builder order(Order order) {
            this.order = order;
            return this;
        }

        public Builder aggregateTypes(String... types) {
            this.aggregateTypes = Set.of(types);
            return this;
        }

        public Builder eventTypes(String... types) {
            this.eventTypes = Set.of(types);
            return this;
        }

        public Builder tenants(String... tenants) {
            this.tenants = Set.of(tenants);
            return this;
        }

        /** Where it begins when it is first made: with the oldest message unless given. */
        public Builder start(Start start) {
            this.start = start;
            return this;
        }

        public Subscription build() {
            return new Subscription(name, lanes, order, new Filter(aggregateTypes, eventTypes, tenants), start);
        }
    }
}
