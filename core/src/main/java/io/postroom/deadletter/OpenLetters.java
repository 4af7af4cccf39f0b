package io.postroom.deadletter;

/**
 * How many open dead letters of one owner have a type and a cause in common.
 *
 * @param source what kind of owner it is: subscription, kafka, job
 * @param owner the subscription, or the queue
 * @param eventType the event type, or the kind of the job
 * @param letters counted up to {@link DeadLetters#COUNT_MAX} for all of an owner
 */
public record OpenLetters(String source, String owner, String eventType, Cause cause, long letters) {}
