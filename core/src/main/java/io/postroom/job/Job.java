package io.postroom.job;

import io.postroom.message.Codec;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Work for later, as it is enqueued. Immutable; {@link #toString} shows no payload.
 *
 * @param kind what is to be done, by which a worker finds its handler: {@code mail.send}
 * @param queue where it waits; each queue has threads of its own in a worker
 * @param priority from 0 to 999; smaller goes first
 * @param payload JSON, given to the handler exactly as it is here
 * @param headers passed along: a trace, for example
 * @param runAt not before this time, by the database's clock
 * @param runAfter not before so long after it was enqueued, by the database's clock
 * @param retry a retry policy of its own, as {@link io.postroom.retry.RetryPolicy#parse} reads it; null: that of its kind
 * @param deadline for one attempt; null: that of its kind
 * @param unique no other like it meanwhile; null: any number
 * @param limit what it is counted for; null: nothing
 * @param batch the batch it belongs to; see {@link Jobs#batch}
 * @param needs what must have ended before
 */
public record Job(
        String kind,
        String queue,
        int priority,
        @Nullable String tenantId,
        String payload,
        Map<String, String> headers,
        @Nullable Instant runAt,
        @Nullable Duration runAfter,
        @Nullable String retry,
        @Nullable Duration deadline,
        @Nullable Unique unique,
        @Nullable LimitKey limit,
        @Nullable Long batch,
        List<Need> needs) {
    /** The queue of jobs that name none. */
    public static final String DEFAULT_QUEUE = "default";

    /** The priority of jobs that name none. */
    public static final int DEFAULT_PRIORITY = 100;

    public Job {
        Objects.requireNonNull(kind, "kind");
        Objects.requireNonNull(queue, "queue");
        Objects.requireNonNull(payload, "payload");
        headers = Map.copyOf(headers);
        needs = List.copyOf(needs);
    }

    /** Begins a job with a payload of JSON text. */
    public static Builder of(String kind, String json) {
        return new Builder(kind, json);
    }

    /** Begins a job with an object as its payload, written by the given codec. */
    public static Builder of(String kind, Codec codec, Object payload) {
        return new Builder(kind, codec.encode(payload));
    }

    /** Whether others decide about it: whether it is enqueued, or when it may run. */
    boolean isBound() {
        return unique != null || limit != null || batch != null || !needs.isEmpty();
    }

    /** Whether it is only counted with others: nobody else decides whether it is enqueued. */
    boolean isCounted() {
        return (limit != null || batch != null) && unique == null && needs.isEmpty();
    }

    Job withHeaders(Map<String, String> others) {
        return new Job(
                kind, queue, priority, tenantId, payload, others, runAt, runAfter, retry, deadline, unique, limit,
                batch, needs);
    }

    @Override
    public String toString() {
        return "job " + kind + " for queue " + queue;
    }

    /** Collects a job. What it holds is checked when it is enqueued. */
    public static final class Builder {
        private final String kind;
        private final String payload;
        private final Map<String, String> headers = new LinkedHashMap<>();
        private String queue = DEFAULT_QUEUE;
        private int priority = DEFAULT_PRIORITY;
        private @Nullable String tenantId;
        private @Nullable Instant runAt;
        private @Nullable Duration runAfter;
        private @Nullable String retry;
        private @Nullable Duration deadline;
        private final List<Need> needs = new ArrayList<>();
        private @Nullable Unique unique;
        private @Nullable LimitKey limit;
        private @Nullable Long batch;

        private Builder(String kind, String payload) {
            this.kind = kind;
            this.payload = payload;
        }

        /** Where it waits; {@value #DEFAULT_QUEUE} unless given. */
        public Builder queue(String queue) {
            this.queue = queue;
            return this;
        }

        /** From 0 to 999, smaller goes first; {@value #DEFAULT_PRIORITY} unless given. */
        public Builder priority(int priority) {
            this.priority = priority;
            return this;
        }

        public Builder tenantId(@Nullable String tenantId) {
            this.tenantId = tenantId;
            return this;
        }

        public Builder header(String name, String value) {
            headers.put(name, value);
            return this;
        }

        /** Not before this time; at once unless given. */
        public Builder runAt(Instant runAt) {
            this.runAt = runAt;
            return this;
        }

        /** Not before so long from now. */
        public Builder runAfter(Duration runAfter) {
            this.runAfter = runAfter;
            return this;
        }

        /** A retry policy of its own, for example {@code exponential first=1s attempts=8}; that of its kind unless given. */
        public Builder retry(String policy) {
            this.retry = policy;
            return this;
        }

        /** How long one attempt may take; as its kind says unless given. */
        public Builder deadline(Duration deadline) {
            this.deadline = deadline;
            return this;
        }

        /** Enqueued only if no job of this kind and tenant with this key waits or runs. */
        public Builder unique(String key) {
            return unique(Unique.of(key));
        }

        /** Enqueued only if there is no other like it, as the given one says. */
        public Builder unique(Unique unique) {
            this.unique = unique;
            return this;
        }

        /** Waits for its turn by a limit that was declared, among those with the same key: a tenant, a customer. */
        public Builder limit(String name, String key) {
            this.limit = new LimitKey(name, key);
            return this;
        }

        public Builder batch(long batch) {
            this.batch = batch;
            return this;
        }

        /** Not before these jobs are done. It is cancelled if one of them is; if one fails, it waits for its redrive. */
        public Builder after(long... jobs) {
            for (long job : jobs) {
                needs.add(new Need(false, job, false));
            }
            return this;
        }

        /** Not before these jobs have ended, well or not. */
        public Builder afterEnd(long... jobs) {
            for (long job : jobs) {
                needs.add(new Need(false, job, true));
            }
            return this;
        }

        /** Not before all jobs of a batch are done; enqueued after them. */
        public Builder afterBatch(long id) {
            needs.add(new Need(true, id, false));
            return this;
        }

        /** Not before all jobs of a batch have ended, well or not; enqueued after them. */
        public Builder afterBatchEnd(long id) {
            needs.add(new Need(true, id, true));
            return this;
        }

        public Job build() {
            return new Job(
                    kind, queue, priority, tenantId, payload, headers, runAt, runAfter, retry, deadline, unique, limit,
                    batch, needs);
        }
    }
}
