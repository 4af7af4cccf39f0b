package io.postroom.subscription;

import org.jspecify.annotations.Nullable;

/**
 * A message that is not delivered, because an operator said so. It is kept as a dead letter that is discarded.
 *
 * @param deadLetter its number; null if nothing of the message was left to keep, because its partition is gone
 * @param released how many messages that waited behind it are due now; more follow
 * @param already whether it had been skipped before, and nothing was done now
 */
public record SkippedMessage(long position, @Nullable Long deadLetter, int released, boolean already) {}
