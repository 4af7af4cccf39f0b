package io.postroom.subscription;

import java.util.UUID;

/**
 * A message that is not delivered, because an operator said so. It is kept as a dead letter that is discarded.
 *
 * @param released how many messages that waited behind it are due now; more follow
 * @param already whether it had been skipped before, and nothing was done now
 */
public record SkippedMessage(UUID messageId, long deadLetter, int released, boolean already) {}
