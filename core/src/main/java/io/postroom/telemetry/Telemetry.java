package io.postroom.telemetry;

import java.time.Duration;

/**
 * Hears what happens, as it happens; a bridge to a metrics library implements what it wants to keep.
 *
 * <p>Called on hot paths by many threads: implementations return at once and never throw. Nothing is passed that could identify
 * a tenant or a message.
 */
public interface Telemetry {
    /** Hears nothing. */
    Telemetry NONE = new Telemetry() {};

    /** A relay or a source of this process is made that serves a subscription: what is counted of it begins at zero, not with an event. */
    default void serves(String subscription) {}

    /** A worker of this process is made that does a kind of job and works on a queue. Likewise. */
    default void worksOn(String queue, String kind) {}

    /** Messages were inserted into a transaction that may still roll back. */
    default void published(int messages) {}

    /** One insert of messages came to its end, after so many nanoseconds; {@code outcome} is one of two words: inserted, refused. */
    default void appended(String outcome, long tookNanos) {}

    /** One stamp gave positions to this many messages. */
    default void stamped(long messages, Duration took) {}

    /** The journal was made whole in a new cluster. */
    default void restamped(long messages) {}

    /** A lane's sink accepted this many messages since the last report. */
    default void delivered(String subscription, long messages) {}

    /**
     * A sink, a handler or a projection has taken one message. Called for each message: no objects are made for it.
     *
     * @param attempt the number of the attempt, from one
     * @param tookNanos from handing over to the answer
     * @param ageMillis how long before the answer the message occurred, or could go first if it was scheduled, by the clocks of its
     *     writer and of this process; -1 for what is sent once more on purpose, by a replay or a redrive
     */
    default void accepted(String subscription, int attempt, long tookNanos, long ageMillis) {}

    /** One attempt failed. */
    default void failed(Failure failure) {}

    /**
     * An attempt that failed.
     *
     * @param reason one of a few words: retry, rejected, unavailable
     * @param errorClass the class of the exception, or the sink's word for it; there may be many
     * @param attempt the number of the attempt, from one
     */
    record Failure(
            String subscription, String eventType, String reason, String errorClass, int attempt, long tookNanos) {}

    /** A message was given up; {@code cause} is one of a few words: rejected, exhausted, crashed. */
    default void buried(String subscription, String cause) {}

    /** A destination takes nothing, or takes messages again. */
    default void circuit(String subscription, boolean open) {}

    /** A lane's position was written. */
    default void settled(String subscription, int lane, long position) {}

    /** A settle came too late: another relay had taken the lane. Nothing was changed. */
    default void staleSettle(String subscription, int lane) {}

    /** A lane was taken; {@code takeover} if its former owner let the lease expire. */
    default void laneAcquired(String subscription, int lane, boolean takeover) {}

    /** A lane was given back, or lost. */
    default void laneReleased(String subscription, int lane, boolean lost) {}

    /**
     * An inbox answered so many messages of a consumer, in a transaction that may still roll back; {@code outcome} is one of a few
     * words: first, duplicate, conflict.
     */
    default void received(String consumer, String outcome, long messages) {}

    /**
     * An external call began or ended; {@code outcome} is one of a few words: called, done, declined, unknown, parked, reconciled. What
     * is noted in the caller's transaction may still roll back.
     */
    default void externalCall(String name, String outcome) {}

    /**
     * A request of a scope, such as {@code order.create}, came to its end; {@code outcome} is one of a few words: executed; failed, which
     * is rolled back or threw, and is tried again; replayed; in_progress; mismatch; missing, invalid, too_large, which were refused; unkeyed,
     * which needed no key and had none.
     */
    default void requested(String scope, String outcome) {}

    /** Steps of a scope changed hands; {@code event} is one of two words: resumed, by whoever went on, and lost, by whoever had them. */
    default void steps(String scope, String event) {}

    /** So many idempotency keys were left in the middle of their steps, and nobody goes on with them; counted up to a limit. */
    default void lapsedKeys(long keys) {}

    /** Jobs were inserted into a transaction that may still roll back. */
    default void enqueued(String queue, int jobs) {}

    /** A worker has claimed jobs. */
    default void claimed(String queue, int jobs) {}

    /** One of them was claimed so long after it was due, by the database's clock. */
    default void jobWaited(String queue, String kind, Duration waited) {}

    /**
     * A claim of a job is over; {@code outcome} is one of a few words: done, failed, timed_out, snoozed, unavailable, interrupted,
     * handed_back, buried, cancelled.
     */
    default void jobRan(String queue, String kind, String outcome, Duration took) {}

    /** The end of a job came too late: it was taken away from its worker. Nothing was changed. */
    default void staleJob(String queue, String kind) {}

    /** Jobs were taken away from workers that died or hang. */
    default void reaped(int jobs) {}

    /** So many times of a schedule were left out, because no node saw them in time; counted up to a limit. */
    default void timesMissed(String schedule, long times) {}

    /** Whether messages lie in the outbox's default partition, because nobody made their day's own in time. */
    default void strays(boolean present) {}

    /**
     * How many days are archived; how many are old enough for it and are not; and how many of the archived are older than they are kept.
     * After a round of archiving or dropping.
     */
    default void archiveDays(long archived, long stuck, long undropped) {}

    /** The age of the oldest message that a read model has not applied, and how old it may be. */
    default void readModelAge(String readModel, Duration age, Duration ageMax) {}

    /** How far a subscription is behind: messages that wait, and the age of the oldest of them. */
    default void lag(String subscription, long messages, Duration age) {}
}
