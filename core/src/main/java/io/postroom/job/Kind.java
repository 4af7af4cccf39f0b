package io.postroom.job;

import io.postroom.retry.RetryPolicy;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A kind of job: who does it, how often it is tried, how long one attempt may take. Immutable.
 *
 * <p>A job may have a retry policy and a deadline of its own, which count for more.
 */
public final class Kind {
    /** For one attempt, unless given. */
    public static final Duration DEADLINE = Duration.ofHours(1);

    private final String name;
    private final @Nullable JobHandler handler;
    private final @Nullable TransactionalJobHandler transactional;
    private final RetryPolicy retry;
    private final Duration deadline;

    private Kind(
            String name,
            @Nullable JobHandler handler,
            @Nullable TransactionalJobHandler transactional,
            RetryPolicy retry,
            Duration deadline) {
        this.name = Objects.requireNonNull(name, "name");
        this.handler = handler;
        this.transactional = transactional;
        this.retry = Objects.requireNonNull(retry, "retry");
        this.deadline = Objects.requireNonNull(deadline, "deadline");
    }

    /** A kind that a handler does. */
    public static Kind of(String name, JobHandler handler) {
        return new Kind(name, Objects.requireNonNull(handler, "handler"), null, RetryPolicy.STANDARD, DEADLINE);
    }

    /** A kind that a handler does which gets the payload as an object. */
    public static <T> Kind of(String name, Class<T> type, TypedJobHandler<T> handler) {
        Objects.requireNonNull(handler, "handler");
        return of(name, job -> handler.handle(job.payload(type), job));
    }

    /** A kind whose effect is committed together with the end of the job. */
    public static Kind transactional(String name, TransactionalJobHandler handler) {
        return new Kind(name, null, Objects.requireNonNull(handler, "handler"), RetryPolicy.STANDARD, DEADLINE);
    }

    /** The same with this retry policy; {@link RetryPolicy#STANDARD} unless given. */
    public Kind retry(RetryPolicy policy) {
        return new Kind(name, handler, transactional, policy, deadline);
    }

    /** The same with this deadline for one attempt; an hour unless given. */
    public Kind deadline(Duration limit) {
        return new Kind(name, handler, transactional, retry, limit);
    }

    public String name() {
        return name;
    }

    RetryPolicy retry() {
        return retry;
    }

    Duration deadline() {
        return deadline;
    }

    @Nullable
    JobHandler handler() {
        return handler;
    }

    @Nullable
    TransactionalJobHandler transactionalHandler() {
        return transactional;
    }
}
