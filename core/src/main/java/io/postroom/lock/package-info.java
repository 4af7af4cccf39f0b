/**
 * Locks by name. What a transaction needs is held by it; what outlives one is leased. Nothing belongs to a session.
 *
 * <p>A lock of a transaction ({@link io.postroom.lock.Locks#tryHold}, {@link io.postroom.lock.Locks#hold}) is an advisory lock of
 * PostgreSQL, on a number of 64 bits that is made from schema and name by the function {@code lock_key}. It ends with the transaction,
 * however that ends: a crash leaves nothing behind. The form with two numbers has 32 bits each, and after a namespace only one is left
 * for the name: among a few hundred thousand names some would meet. Of 64 bits, ten million names meet once in 370,000 databases.
 * Two names that share a number only wait for each other. They are told, as far as they are known: {@code lock_name} has the names that were
 * used lately, noted a moment after their first use in a process by a thread of its own.
 *
 * <p>A lease ({@link io.postroom.lock.Lease}) is a row of {@code lease}. Who writes which column: {@code holder}, {@code node},
 * {@code fence}, {@code leased_until} and {@code taken_at} by take, {@code leased_until} by renew, {@code holder} and {@code leased_until}
 * by release. All but take name the fence; if another has taken the lease by then, no row fits and nothing changes. Times are the
 * database's; a process's own clock only makes it stop early, since it counts from when it asked.
 *
 * <p>What a crash of the holder leaves behind, step by step:
 *
 * <ol>
 *   <li>while it takes a lease: nothing, or a lease that nobody knows of and that runs out;
 *   <li>while it holds one: a row whose {@code leased_until} passes; whoever tries next takes it with a greater fence;
 *   <li>in a transaction that has made sure of the lease: that transaction is rolled back as soon as PostgreSQL notices, at the latest when
 *       it has stood idle for the length of a lease (ten seconds if that is longer). Until then nobody takes the lease: the row is locked
 *       for key share, which a take (for update) does not pass and a renewal (no key update) does;
 *   <li>after it gave the lease back: a row without a holder, whose fence the next take goes on from.
 * </ol>
 *
 * <p>A holder that stood still and goes on finds its fence stale: its transactions fail when they make sure of the lease, its renewals
 * change nothing, and whatever it sends elsewhere carries a fence that is smaller than that of its successor. Fences are at least the time
 * in microseconds, so they grow even over a purge of the row, a restored backup or a failover that lost the last moments.
 *
 * <p>A crash of PostgreSQL ends transactions and their locks, and leaves committed leases. A holder whose renewals succeed again in time
 * keeps its lease and its fence.
 */
@NullMarked
package io.postroom.lock;

import org.jspecify.annotations.NullMarked;
