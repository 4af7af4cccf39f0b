package io.postroom.deadletter;

import io.postroom.PostroomException;
import io.postroom.postgres.Call;
import io.postroom.postgres.Schema;
import io.postroom.postgres.Sql;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Which dead letters are meant: those that fit everything that is given. What is empty or null fits all. Immutable.
 *
 * @param owner the subscription, or the queue
 * @param sources where they come from: {@link #SUBSCRIPTIONS} or {@link #JOBS}. A subscription and a queue may have the same name
 * @param buriedFrom the first moment that fits
 * @param buriedTo the first moment that fits no more
 */
public record DeadLetterFilter(
        @Nullable String owner,
        SortedSet<String> sources,
        SortedSet<String> eventTypes,
        SortedSet<String> tenants,
        @Nullable String aggregateType,
        @Nullable String aggregateId,
        @Nullable String errorClass,
        @Nullable String fingerprint,
        @Nullable Cause cause,
        SortedSet<Long> ids,
        @Nullable Instant buriedFrom,
        @Nullable Instant buriedTo) {
    public static final int VALUES_MAX = 1_000;
    public static final int IDS_MAX = 10_000;
    public static final int TEXT_LENGTH_MAX = 1_000;

    /** Messages, however they came to their subscription. */
    public static final Set<String> SUBSCRIPTIONS = Set.of("subscription", "kafka");

    public static final Set<String> JOBS = Set.of("job");

    /** Everything. */
    public static final DeadLetterFilter ALL = builder().build();

    public DeadLetterFilter {
        sources = Collections.unmodifiableSortedSet(new TreeSet<>(sources));
        eventTypes = Collections.unmodifiableSortedSet(new TreeSet<>(eventTypes));
        tenants = Collections.unmodifiableSortedSet(new TreeSet<>(tenants));
        ids = Collections.unmodifiableSortedSet(new TreeSet<>(ids));
        List<String> problems = new ArrayList<>();
        text(problems, "owner", owner);
        text(problems, "aggregate type", aggregateType);
        text(problems, "aggregate id", aggregateId);
        text(problems, "error class", errorClass);
        text(problems, "fingerprint", fingerprint);
        sources.forEach(value -> text(problems, "source", value));
        eventTypes.forEach(value -> text(problems, "event type", value));
        tenants.forEach(value -> text(problems, "tenant", value));
        atMost(problems, "sources", sources, VALUES_MAX);
        atMost(problems, "event types", eventTypes, VALUES_MAX);
        atMost(problems, "tenants", tenants, VALUES_MAX);
        atMost(problems, "ids", ids, IDS_MAX);
        if (buriedFrom != null && buriedTo != null && !buriedFrom.isBefore(buriedTo)) {
            problems.add("it begins at " + buriedFrom + " and ends at " + buriedTo + "; let it begin before it ends");
        }
        if (!problems.isEmpty()) {
            throw new PostroomException(
                    "deadletter.filter-invalid", "could not use the filter: " + String.join("; ", problems));
        }
    }

    /** The open dead letters of one subscription. */
    public static DeadLetterFilter ofOwner(String owner) {
        return builder().owner(owner).sources(SUBSCRIPTIONS).build();
    }

    /** The open dead letters of one queue: its jobs. */
    public static DeadLetterFilter ofQueue(String queue) {
        return builder().owner(queue).sources(JOBS).build();
    }

    /** Single dead letters. */
    public static DeadLetterFilter ofIds(Long... ids) {
        return builder().ids(List.of(ids)).build();
    }

    public static Builder builder() {
        return new Builder();
    }

    /** Whether it fits everything. */
    public boolean isEmpty() {
        return equals(ALL);
    }

    /** What is given, for those who read later what was meant: of many values the first ones, and how many there are. */
    public Map<String, Object> summary() {
        return FilterText.summary(this);
    }

    /** The statement in a file beside a class that is about dead letters which fit a filter: {@link #on} sets its parameters. */
    public static Sql statement(Schema schema, Class<?> owner, String file) {
        return schema.sql(owner, file, DeadLetterFilter.class, "filter.sql");
    }

    /** Sets the parameters that every statement with this filter has. */
    public Call on(Call call) {
        Call filled = call.set("owner", owner)
                .set("sources", orNull(sources))
                .set("event_types", orNull(eventTypes))
                .set("tenants", orNull(tenants))
                .set("aggregate_type", aggregateType)
                .set("aggregate_id", aggregateId)
                .set("error_class", errorClass)
                .set("fingerprint", fingerprint)
                .set("cause", cause == null ? null : cause.word())
                .set("buried_from", buriedFrom)
                .set("buried_to", buriedTo);
        return ids.isEmpty() ? filled.set("ids", (String[]) null) : filled.set("ids", ids.toArray(Long[]::new));
    }

    private static String @Nullable [] orNull(Collection<String> values) {
        return values.isEmpty() ? null : values.toArray(String[]::new);
    }

    private static void text(List<String> problems, String name, @Nullable String value) {
        if (value != null && (value.isBlank() || value.length() > TEXT_LENGTH_MAX || value.indexOf('\0') >= 0)) {
            problems.add(name + " is " + (value.isBlank() ? "empty" : value.length() + " characters")
                    + ", the range is 1 to " + TEXT_LENGTH_MAX + " without U+0000");
        }
    }

    private static void atMost(List<String> problems, String name, Collection<?> values, int max) {
        if (values.size() > max) {
            problems.add("there are " + values.size() + " " + name + ", the limit is " + max
                    + "; use several filters, or a wider one");
        }
    }

    /** Collects what is meant. For one thread. */
    public static final class Builder {
        private final SortedSet<String> sources = new TreeSet<>();
        private final SortedSet<String> eventTypes = new TreeSet<>();
        private final SortedSet<String> tenants = new TreeSet<>();
        private final SortedSet<Long> ids = new TreeSet<>();
        private @Nullable String owner;
        private @Nullable String aggregateType;
        private @Nullable String aggregateId;
        private @Nullable String errorClass;
        private @Nullable String fingerprint;
        private @Nullable Cause cause;
        private @Nullable Instant buriedFrom;
        private @Nullable Instant buriedTo;

        private Builder() {}

        /** The subscription or the queue of this name; {@link #sources} says which. */
        public Builder owner(@Nullable String owner) {
            this.owner = owner;
            return this;
        }

        /** {@link #SUBSCRIPTIONS} or {@link #JOBS}. */
        public Builder sources(Collection<String> sources) {
            this.sources.addAll(sources);
            return this;
        }

        public Builder eventTypes(Collection<String> eventTypes) {
            this.eventTypes.addAll(eventTypes);
            return this;
        }

        public Builder tenants(Collection<String> tenants) {
            this.tenants.addAll(tenants);
            return this;
        }

        public Builder aggregateType(@Nullable String aggregateType) {
            this.aggregateType = aggregateType;
            return this;
        }

        public Builder aggregateId(@Nullable String aggregateId) {
            this.aggregateId = aggregateId;
            return this;
        }

        public Builder errorClass(@Nullable String errorClass) {
            this.errorClass = errorClass;
            return this;
        }

        public Builder fingerprint(@Nullable String fingerprint) {
            this.fingerprint = fingerprint;
            return this;
        }

        public Builder cause(@Nullable Cause cause) {
            this.cause = cause;
            return this;
        }

        public Builder ids(Collection<Long> ids) {
            this.ids.addAll(ids);
            return this;
        }

        /** The first moment that fits. */
        public Builder buriedFrom(@Nullable Instant buriedFrom) {
            this.buriedFrom = buriedFrom;
            return this;
        }

        /** The first moment that fits no more. */
        public Builder buriedTo(@Nullable Instant buriedTo) {
            this.buriedTo = buriedTo;
            return this;
        }

        public DeadLetterFilter build() {
            return new DeadLetterFilter(
                    owner,
                    sources,
                    eventTypes,
                    tenants,
                    aggregateType,
                    aggregateId,
                    errorClass,
                    fingerprint,
                    cause,
                    ids,
                    buriedFrom,
                    buriedTo);
        }
    }
}
