/**
 * Where an application leaves messages, inside its own transaction.
 *
 * <p>Protocol: {@link io.postroom.outbox.Outbox} inserts rows into {@code outbox} on the caller's connection and does nothing
 * else to it. All columns are written once, by the writer; {@code xid}, {@code seq} and {@code day} by their defaults, in this
 * order. Nobody deletes a row, and nobody updates one but {@code restamp} in a
 * restored copy, which sets {@code xid}; old partitions go as a whole.
 *
 * <p>What a crash leaves behind: before the caller's commit, nothing, because PostgreSQL rolls the insert back with the rest.
 * After it, a message that every subscription will get. In between, when the answer to the commit is lost, one or the other; a
 * caller that publishes again with the same message id lets consumers recognise the second copy.
 */
@NullMarked
package io.postroom.outbox;

import org.jspecify.annotations.NullMarked;
