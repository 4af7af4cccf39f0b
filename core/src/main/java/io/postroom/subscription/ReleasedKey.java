package io.postroom.subscription;

/**
 * A key that goes on without the message that was buried; its dead letter stays open.
 *
 * @param released how many messages that waited are due now; more follow
 * @param already whether the key was not held any more, and nothing was done now
 */
public record ReleasedKey(String aggregateType, String aggregateId, int released, boolean already) {}
