/**
 * What a consumer has already handled, so that a message takes effect once, however often it comes.
 *
 * <p>Protocol: a consumer begins a transaction, {@link io.postroom.inbox.Inbox#acceptAll accepts} the messages it was brought, applies
 * those that came for the first time, commits, and only then tells its source that it has them. Accepting inserts a row into {@code
 * inbox} for each that is new; nobody changes a row. All columns are written once, by the function {@code accept}, which any language
 * can call.
 *
 * <p>Why it is exact. The table is cut by day, and a unique index of PostgreSQL spans one partition only; so every copy of a message
 * must come to the same partition, whenever it comes. The day is therefore taken from the id and from nothing else: an id of version 7
 * carries its time. Ids of other kinds have no day and lie together in {@code inbox_undated}; ids of days without a partition of their
 * own, long ago or far ahead, in the default partition. No clock has a say, so there is no midnight at which two copies could pass each
 * other. Two transactions with the same message meet at the index: the second waits and learns how the first one ended. Under
 * REPEATABLE READ it may not see that, and ends with an error instead.
 *
 * <p>Forgetting. A partition is emptied when its day lies wholly before what is kept <em>and</em> no row of it was accepted since: a
 * message that came late is remembered as long as any other. That is looked up under a lock that keeps late messages out until it is
 * decided. An empty partition is dropped when the lock for it can be had at once. What lies in {@code inbox_undated} and in the default
 * partition is purged in batches, oldest first. What is kept is the longest time that any consumer has declared, and no declaration
 * is shorter than the time in which its source may bring a message again.
 *
 * <p>What a crash leaves behind: before the commit, nothing, so the message comes again and is the first. After it, effect and row
 * both, so a copy is a duplicate. When the answer to the commit is lost, one or the other, and the next copy finds out which.
 */
@NullMarked
package io.postroom.inbox;

import org.jspecify.annotations.NullMarked;
