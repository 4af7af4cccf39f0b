/**
 * What was given up on, and what becomes of it: {@code redrive} puts a message back on its way, {@code discard} ends it.
 *
 * <p>A dead letter holds the whole message, so that it outlives the outbox, and why it was buried. Whoever buries writes all columns
 * but {@code resolution}, {@code resolved_at}, {@code resolved_by}, {@code redrive} and {@code patched}; those are written once, by a
 * {@link io.postroom.deadletter.Redrive}, where {@code resolution} is still null. What is resolved stays so: a redriven message that
 * fails again is a new dead letter, whose {@code origin} is the old one.
 *
 * <p>A redrive is a row that says what is wanted and how far it is. Asking for it twice with one id is asking once. A step is one
 * transaction: it locks the row, takes the next dead letters in the order of their ids, but before them what their owner wants put back
 * earlier, such as the first message of a key that was buried again and is the last now, lets the owner lock what must stand still,
 * resolves those that are open and hands them to the owner, and notes how far it came. Steps may be made by any process, several at
 * once: one works, the others find the row locked.
 *
 * <p>What a crash leaves behind:
 *
 * <ol>
 *   <li>before the commit of a request: nothing; ask again with the same id;
 *   <li>after it: a redrive that nobody steps; any process goes on with it;
 *   <li>in a step: nothing of that step; the next one takes the same dead letters;
 *   <li>after a step: dead letters that are resolved and on their way, and a redrive that knows it.
 * </ol>
 *
 * <p>This package knows no owner: a {@link io.postroom.deadletter.Redriver} puts the dead letters of one source back.
 */
@NullMarked
package io.postroom.deadletter;

import org.jspecify.annotations.NullMarked;
