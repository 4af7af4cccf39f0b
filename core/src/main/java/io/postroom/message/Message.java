package io.postroom.message;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * An event about one aggregate: what an application publishes and what subscribers receive.
 *
 * <p>The key of a message is its tenant, aggregate type and aggregate id; messages of one key arrive in the order in which
 * their transactions committed, if those exclude each other: each changes or locks the aggregate's row before it publishes. If not,
 * either may come first, for every subscription alike. The payload is JSON text and is delivered byte for byte as it was published. Messages are
 * immutable and may be shared between threads. Times are kept to the microsecond, as PostgreSQL keeps them. {@link #toString}
 * shows neither payload nor headers.
 */
public record Message(
        UUID id,
        @Nullable String tenantId,
        String aggregateType,
        String aggregateId,
        @Nullable Long aggregateVersion,
        String eventType,
        int eventVersion,
        String payload,
        Map<String, String> headers,
        Instant occurredAt,
        @Nullable Instant availableAt) {

    public Message {
        Objects.requireNonNull(id, "id");
        Objects.requireNonNull(aggregateType, "aggregateType");
        Objects.requireNonNull(aggregateId, "aggregateId");
        Objects.requireNonNull(eventType, "eventType");
        Objects.requireNonNull(payload, "payload");
        Objects.requireNonNull(occurredAt, "occurredAt");
        headers = Map.copyOf(headers);
        occurredAt = occurredAt.truncatedTo(ChronoUnit.MICROS);
        availableAt = availableAt == null ? null : availableAt.truncatedTo(ChronoUnit.MICROS);
    }

    /** Starts a message about the aggregate that the caller's transaction changes. */
    public static Builder about(String aggregateType, String aggregateId) {
        return new Builder(aggregateType, aggregateId);
    }

    /** What is kept in order: two messages with equal keys are never overtaken by each other. */
    public Key key() {
        return new Key(tenantId, aggregateType, aggregateId);
    }

    /** The payload as an object, read by the given codec. */
    public <T> T payload(Codec codec, Class<T> type) {
        return codec.decode(payload, type);
    }

    /** The same message with one more header. */
    public Message withHeader(String name, String value) {
        Map<String, String> more = new LinkedHashMap<>(headers);
        more.put(name, value);
        return new Message(
                id,
                tenantId,
                aggregateType,
                aggregateId,
                aggregateVersion,
                eventType,
                eventVersion,
                payload,
                more,
                occurredAt,
                availableAt);
    }

    @Override
    public String toString() {
        return "message " + id + " (" + eventType + " of " + aggregateType + " " + aggregateId + ")";
    }

    /** The ordering key of a message. */
    public record Key(@Nullable String tenantId, String aggregateType, String aggregateId) {}

    /** Collects a message; ids and times that are not given are made by {@link #build}. */
    public static final class Builder {
        private final String aggregateType;
        private final String aggregateId;
        private final Map<String, String> headers = new LinkedHashMap<>();
        private @Nullable UUID id;
        private @Nullable String tenantId;
        private @Nullable Long aggregateVersion;
        private @Nullable String eventType;
        private int eventVersion = 1;
        private @Nullable String payload;
        private @Nullable Instant occurredAt;
        private @Nullable Instant availableAt;

        private Builder(String aggregateType, String aggregateId) {
            this.aggregateType = aggregateType;
            this.aggregateId = aggregateId;
        }

        /** What happened, in the past tense: {@code OrderConfirmed}. */
        public Builder event(String eventType) {
            this.eventType = eventType;
            return this;
        }

        /** The version of the payload's shape; 1 unless given. */
        public Builder eventVersion(int eventVersion) {
            this.eventVersion = eventVersion;
            return this;
        }

        /** The payload as JSON text, delivered exactly as given. */
        public Builder payload(String json) {
            this.payload = json;
            return this;
        }

        /** The payload as an object, written by the given codec. */
        public Builder payload(Codec codec, Object payload) {
            this.payload = codec.encode(payload);
            return this;
        }

        public Builder tenantId(@Nullable String tenantId) {
            this.tenantId = tenantId;
            return this;
        }

        /** The version of the aggregate after the change, where the application counts one. */
        public Builder aggregateVersion(long aggregateVersion) {
            this.aggregateVersion = aggregateVersion;
            return this;
        }

        /** Names that begin with {@code postroom-} cannot be published: Postroom writes them itself, on the way to receivers. */
        public Builder header(String name, String value) {
            headers.put(name, value);
            return this;
        }

        public Builder headers(Map<String, String> headers) {
            this.headers.putAll(headers);
            return this;
        }

        /** The identity of the message; a time-ordered UUID is made if none is given. */
        public Builder id(UUID id) {
            this.id = id;
            return this;
        }

        public Builder occurredAt(Instant occurredAt) {
            this.occurredAt = occurredAt;
            return this;
        }

        /** Not to be delivered before this time, by the database's clock. */
        public Builder availableAt(Instant availableAt) {
            this.availableAt = availableAt;
            return this;
        }

        public Message build() {
            return new Message(
                    id == null ? TimeOrderedId.next() : id,
                    tenantId,
                    Objects.requireNonNull(aggregateType, "aggregateType"),
                    Objects.requireNonNull(aggregateId, "aggregateId"),
                    aggregateVersion,
                    Objects.requireNonNull(eventType, "event"),
                    eventVersion,
                    Objects.requireNonNull(payload, "payload"),
                    headers,
                    occurredAt == null ? Instant.now() : occurredAt,
                    availableAt);
        }
    }
}
