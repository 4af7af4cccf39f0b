/**
 * The outbox in delivery order: every committed message gets one dense position, and readers follow positions.
 *
 * <p>Readers cannot follow {@code outbox.seq}: it is drawn at insert and visible at commit, so whoever reads past a number loses
 * the ones below it that commit later. A stamp therefore asks what the last stamp's snapshot could not see.
 *
 * <p>Protocol of {@code stamp}, one transaction by whichever node gets the advisory lock:
 *
 * <ol>
 *   <li>read the last tick: its position and its snapshot;
 *   <li>insert into {@code journal} the committed outbox rows that snapshot could not see, ordered by {@code seq};
 *   <li>insert a tick with the new last position and the snapshot of that same statement.
 * </ol>
 *
 * <p>What a crash leaves behind: after step 1 or 2, nothing, because all of it is one transaction and the lock goes with it.
 * After the commit, the whole stamp. A long transaction is stamped when it commits and holds up nobody else meanwhile. A
 * backlog too large for one transaction is cut at a {@code seq}; the unfinished tick says where, and the next stamp goes on
 * there, on whichever node.
 *
 * <p>Transaction ids of another cluster mean nothing here. A restored dump is noticed by the cluster's identity, by ids that went
 * back, or by rows that claim an id not yet given out; then {@code restamp} gives a position to every outbox row that has none. No tick
 * from before it, nor its own, tells a later stamp from which seq and day on to look: that takes a tick of the new cluster.
 *
 * <p>Old days leave outbox and journal for the archive, whole and in their order. A reader asks the journal for the entry right after its
 * position; if it is not there, {@code archive_day} says in which archived day it lies, and no further than that day is read at once.
 * Messages are looked for in the outbox, then in its archive. In this order nothing is missed, whenever a day moves: it never comes back.
 *
 * <p>Rows of {@code journal} are written once. A tick is written once too, except that the end of a bulk may move the last one's
 * snapshot on, and that restamp sets its xid; maintenance deletes ticks that are older than an hour, but for one per second.
 */
@NullMarked
package io.postroom.journal;

import org.jspecify.annotations.NullMarked;
