/**
 * Remembers what requests were answered, by the key that the client chose for each. Its table is {@code idempotency_key}.
 *
 * <p>Protocol of a command that only changes this database ({@link io.postroom.idempotency.Idempotency#once}), one transaction:
 * <ol>
 *   <li>An advisory lock is taken on a hash of tenant, scope and key, without waiting, and then the row is read, in one round trip: the
 *       former holder of the lock may have committed just now. An answer is given again, lock or not. No answer and no lock: another
 *       is at it, say so. An answer that has expired is deleted. Then the command runs.
 *   <li>The row is inserted whole, with the answer, and the transaction is committed in the same round trip. The primary key is the
 *       last guard: if it is there after all, everything is rolled back, and what is there is answered.
 * </ol>
 * So there is no row without an answer, and no update. A crash before the commit leaves nothing, and the lock goes with the session;
 * after it, the effect and the answer. When the answer to the commit was lost, one or the other: the key is claimed once more, and
 * since the lock is held until the transaction has ended, whoever gets it knows. The price is one round trip more than the command
 * alone, the claim.
 *
 * <p>Protocol of steps ({@link io.postroom.idempotency.Idempotency#steps}), for commands that call others:
 * <ol>
 *   <li>After the same claim, a row {@code running} with a lease, a fence and no step is committed. A crash before leaves nothing.
 *   <li>Each step is a transaction that ends with an update of the row under the fence: one more step is done, and what it returned.
 *       A crash leaves the steps that were committed, and a lease that runs out. The lease is renewed at a third of its time.
 *   <li>Whoever claims a key whose lease has run out raises the fence and runs the procedure again; steps that are done only give
 *       what they returned. The step of a former owner changes no row, so it is rolled back.
 *   <li>The answer is an update under the fence, alone or with the last step. From then on it is like any other answer.
 * </ol>
 * Between steps a crash may repeat a call to others: it needs a key that stays the same. A procedure that throws gives its lease up, so
 * that the next request goes on at once. The key stays, even if no step was done: what was called before is not known. The first fence is
 * the time in microseconds, so that a former owner is refused even if its key was forgotten and begun anew.
 *
 * <p>A machine that vanishes closes no session. So every transaction of ours has a limit on how long it may stand idle, after which
 * PostgreSQL ends it and frees its locks; and a row that such a session still has locked is not waited for but told to be running.
 *
 * <p>Who writes: whoever holds the lock inserts, whoever has the fence updates, an operator may take a running key away or forget any.
 * Rows {@code completed} and {@code failed} expire and are purged; {@code running} ones never are, however old: their steps would be
 * done again.
 */
@NullMarked
package io.postroom.idempotency;

import org.jspecify.annotations.NullMarked;
