/**
 * Consumers whose messages come from a broker: the same projections, behind the same inbox, as relays run on the journal.
 *
 * <p>Protocol. A source (Kafka's is in a module of its own) hands over what it polled, in the order of each key. {@link
 * io.postroom.source.Reception} applies it in transactions: lock the subscription of the consumer's name against being moved, leave out
 * what is a dead letter already, accept the rest in the inbox, let the projection apply what came for the first time, commit. Only then
 * may the source tell its broker. A batch that fails is halved, down to the message at fault; that one is tried again by the policy while
 * the rest of its partition waits behind it, then buried, and the partition goes on. What PostgreSQL ended because of others, or could
 * not do at all, is nobody's fault and costs no attempt.
 *
 * <p>An inbox row means that a message took effect; a dead letter means that an operator has it. A message has one or the other. An
 * operator who redrives puts the dead letter into {@code redriven_letter}; any process of the consumer applies it, in one transaction
 * with the inbox and the end of that row.
 *
 * <p>Who writes what: {@code dead_letter} with source {@code kafka} the source; {@code redriven_letter} the operator inserts, the source
 * postpones and deletes; {@code subscription.served_by} and {@code subscription_move} the operator who moves.
 *
 * <p>What a crash leaves behind: before the commit, nothing, so the messages come again. After it and before the broker was told, the
 * same messages come again and are duplicates, or known as dead letters. A process that was taken for dead, a zombie, may still commit
 * what it was at after its partitions were given to another: that transaction and the other's meet at the inbox, so each message takes
 * effect in one of them. Both go through their messages in order, and each waits at a message that the other has open, so order per key
 * holds, too. Attempts are counted in memory: a message that ends the process each time is not buried for it.
 *
 * <p>A move has one durable fact, the cut, noted before anything changes; then it waits; then one transaction switches who serves and
 * moves all that belongs to it. A process that dies in between leaves the cut, and whoever asks again goes on from there.
 */
@NullMarked
package io.postroom.source;

import org.jspecify.annotations.NullMarked;
