/**
 * Consumers whose messages come from a broker: the same projections, behind the same inbox, as relays run on the journal.
 *
 * <p>Protocol. A source (Kafka's is in a module of its own) hands over what it polled, in the order of each key. {@link
 * io.postroom.source.Reception} applies it in transactions: lock the subscription of the consumer's name against being moved, leave out
 * what is a dead letter already, accept the rest in the inbox, let the projection apply what came for the first time, note how far the
 * partition is, commit. Only then may the source tell its broker. A batch that fails is halved, down to the message at fault; that one is tried again by the policy while
 * the rest of its partition waits behind it, then buried, and the partition goes on. What PostgreSQL ended because of others, or could
 * not do at all, is nobody's fault and costs no attempt.
 *
 * <p>How far a partition is, is a compare-and-set in {@code source_offset} on what this process last wrote there. More than that: another
 * process has gone on with it, the transaction is undone and looked at anew. Less: the database has gone back, {@link
 * io.postroom.source.WentBackException}, and the source begins anew from there, whatever its broker was told.
 *
 * <p>An inbox row means that a message took effect; a dead letter means that an operator has it. A message has one or the other. An
 * operator who redrives puts the dead letter into {@code redriven_letter}; any process of the consumer applies it, in one transaction
 * with the inbox and the end of that row. Those of a key are applied by their {@code turn}: the position, where the journal has the message,
 * and else when it was given up first. Offsets tell less: they begin anew with a topic, and a key changes its partition with their number.
 *
 * <p>Who writes what: {@code dead_letter} with source {@code kafka} the source; {@code redriven_letter} the operator inserts, the source
 * postpones and deletes; {@code source_offset} the source, and a switch, which puts it at the cut or drops it;
 * {@code subscription.served_by} and {@code subscription_move} the operator who moves.
 *
 * <p>What a crash leaves behind: before the commit, nothing, so the messages come again. After it and before the broker was told, the
 * same messages come again and are duplicates, or known as dead letters. A process that was taken for dead, a zombie, may still commit
 * what it was at after its partitions were given to another: that transaction and the other's meet at the inbox, so each message takes
 * effect in one of them. Both go through their messages in order, and each waits at a message that the other has open, so order per key
 * holds, too. Attempts that failed are kept with the offset, so whoever has the partition next counts on.
 *
 * <p>A process that ends in the middle leaves its partitions {@code held}. Whoever has them next suspects as many messages as may have been
 * in its hands: each is tried alone, and its attempt is counted, and committed, before it is made. One that has no attempts left then is
 * buried as {@code crashed}.
 *
 * <p>A move, {@link io.postroom.source.Moves}, has one durable fact, the cut in {@code subscription_move}, noted before anything changes.
 * To Kafka it is where the topics ended, then where the journal ended: everything later lies beyond those offsets. To PostgreSQL it is how
 * far the feed was, with what waited in it, then where the topics ended: everything earlier lies before those offsets. The rest is
 * waiting, and one transaction that switches. What both sides bring is known to the inbox, as long as it remembers. Sources share a lock of
 * the subscription's row in each transaction ({@code for key share}, which holds up neither operators nor relays); whoever switches takes it
 * alone ({@code for update}), and says so first ({@code switching_until}), because who shares would keep joining others who share. What a
 * crash of whoever moves leaves behind, step by step:
 *
 * <ol>
 *   <li>after the offsets were read: nothing;
 *   <li>after the cut was noted: the cut, and towards PostgreSQL a delivery for each that waited in the feed. Everybody goes on as before, but
 *       lanes are left alone: no replay, skip, removal or change of their number. Asking again goes on from this cut; cancelling drops it;
 *   <li>after the group was positioned: the offsets of a group without members, set again by whoever goes on;
 *   <li>while it waits: nothing more;
 *   <li>after the switch was announced: sources that begin no transaction for some seconds, then go on;
 *   <li>after relays were asked for their lanes: a request that ends by itself within seconds;
 *   <li>in the middle of the switch: nothing of it. After its commit all of it: who serves, lanes with new fences, deliveries, open dead
 *       letters, offsets, the audit. Relays find out at their next beat, sources within a second; asking again finds that it is done.
 * </ol>
 */
@NullMarked
package io.postroom.source;

import org.jspecify.annotations.NullMarked;
