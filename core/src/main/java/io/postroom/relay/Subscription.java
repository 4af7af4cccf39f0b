package io.postroom.relay;

import io.postroom.PostroomException;
import io.postroom.journal.Filter;
import io.postroom.retry.RetryPolicy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Who wants which messages. It is durable: its lanes remember how far they are, over restarts and on whichever relay.
 *
 * <p>The order is fixed when it is first made, and so is the number of lanes, which operators may change; everything else may
 * change with a release.
 */
public record Subscription(
        String name,
        int lanes,
        Order order,
        Filter filter,
        Start start,
        RetryPolicy retry,
        OnBurial onBurial,
        Duration deadline,
        int outageKeys) {
    public static final int LANES_MAX = 256;
    public static final Duration DEADLINE_MAX = Duration.ofDays(1);
    public static final int OUTAGE_KEYS_MIN = 2;
    public static final int OUTAGE_KEYS_MAX = 10_000;

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
        if (Stream.of(filter.aggregateTypes(), filter.eventTypes(), filter.tenants())
                .flatMap(Set::stream)
                .anyMatch(word -> word.isBlank() || word.indexOf('\0') >= 0)) {
            problems.add(
                    "filter has an empty type or tenant or one with a NUL, which no message has; name it, or leave it out");
        }
        if (onBurial == OnBurial.HOLD && order == Order.NONE) {
            problems.add("on burial is hold, which needs order key: without order there is nothing to hold");
        }
        if (deadline.compareTo(Duration.ofMillis(1)) < 0 || deadline.compareTo(DEADLINE_MAX) > 0) {
            problems.add("deadline is " + deadline + ", the range is 1 ms to 1 day");
        }
        if (outageKeys != 0 && (outageKeys < OUTAGE_KEYS_MIN || outageKeys > OUTAGE_KEYS_MAX)) {
            problems.add("outage keys is " + outageKeys + ", the range is " + OUTAGE_KEYS_MIN + " to " + OUTAGE_KEYS_MAX
                    + ", or 0 for never");
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
        private RetryPolicy retry = RetryPolicy.STANDARD;
        private OnBurial onBurial = OnBurial.CONTINUE;
        private Duration deadline = Duration.ofMinutes(5);
        private int outageKeys = 20;

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

        /** When a message that failed is tried again, and when it is given up; {@link RetryPolicy#STANDARD} unless given. */
        public Builder retry(RetryPolicy retry) {
            this.retry = retry;
            return this;
        }

        /** What becomes of the key of a message that was given up; it goes on unless given. */
        public Builder onBurial(OnBurial onBurial) {
            this.onBurial = onBurial;
            return this;
        }

        /** How long the sink may take to answer for a message before the attempt counts as failed; 5 minutes unless given. */
        public Builder deadline(Duration deadline) {
            this.deadline = deadline;
            return this;
        }

        /**
         * When messages of so many different keys have failed one after the other, each of which would be tried again, and none was
         * accepted in between and for two seconds, the destination is held to be at fault, not they: no more attempts are counted. 20
         * unless given, 0 for never.
         */
        public Builder outageKeys(int keys) {
            this.outageKeys = keys;
            return this;
        }

        public Subscription build() {
            return new Subscription(
                    name,
                    lanes,
                    order,
                    new Filter(aggregateTypes, eventTypes, tenants),
                    start,
                    retry,
                    onBurial,
                    deadline,
                    outageKeys);
        }
    }
}
