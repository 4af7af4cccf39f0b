/**
 * Carries messages from the journal to sinks and handlers: at least once, in order per key, on any number of nodes.
 *
 * <p>A subscription has lanes; each lane is a row with a position and a lease. A relay takes lanes, reads from the position on,
 * hands messages to the sink, and settles the finished prefix. Who writes which column of {@code lane}: {@code owner},
 * {@code leased_until} and {@code fence} by acquire and release, {@code leased_until} by renew, {@code position} by settle. A
 * settle names the fence it was acquired with; if another relay has the lane by then, no row fits, nothing changes, and the
 * relay stops working on that lane and says so. Times are the database's; a relay's own clock only makes it stop early.
 *
 * <p>What a crash of the relay leaves behind, step by step:
 *
 * <ol>
 *   <li>after acquire: a lane whose lease runs out; another relay takes it and begins where it was settled;
 *   <li>after read or send: the same; what was sent since the last settle is sent again;
 *   <li>after the sink's acknowledgement: the same, the sink sees those messages twice, with the same ids;
 *   <li>after settle: nothing is sent again;
 *   <li>after release: nothing, the lane is free at once.
 * </ol>
 *
 * <p>What a crash of PostgreSQL leaves behind: committed settles and leases. The relay finds its connections broken, keeps its
 * lanes if it can renew them in time, and goes on where it was.
 *
 * <p>A message that the sink does not accept is tried again after a growing wait. Its key waits with it, in memory; other keys of
 * the lane go on until the window of unsettled messages is full.
 */
@NullMarked
package io.postroom.relay;

import org.jspecify.annotations.NullMarked;
