/**
 * Carries messages from the journal to sinks and handlers: at least once, in order per key, on any number of nodes.
 *
 * <p>A subscription has lanes; each lane is a row with a position and a lease. A relay takes lanes, reads from the position on,
 * hands messages to the sink, and settles the finished prefix. Who writes which column of {@code lane}: {@code owner},
 * {@code leased_until} and {@code fence} by acquire and release, {@code leased_until} by renew, {@code position} by settle and
 * record, {@code recorded} by record. A settle names the fence it was acquired with; if another relay has the lane by then, no row
 * fits, nothing changes, and the relay stops working on that lane and says so. Times are the database's; a relay's own clock only
 * makes it stop early.
 *
 * <p>A message that is accepted at its first attempt leaves no trace but the position. Any other gets a row in {@code delivery}, and
 * the position passes it:
 *
 * <pre>
 *               ┌─ scheduled ─┐ due                       ┌──────── not accepted ────────┐
 * read ─────────┼─────────────┴──────────▶ sending ───────┼─▶ waiting ─ due ─▶ sending …  │
 *               ├─ parked ── its turn ──▶ waiting         └─▶ out of attempts: dead letter (held: keeps its key)
 *               └─ unreadable ── another relay takes the lane ──▶ waiting
 * </pre>
 *
 * <p>What is read at once is recorded before all of it is sent, so deliveries may lie beyond the position when a relay ends. The next one
 * sends them when it has read so far: done deliveries leave nothing behind but the position, and what lies beyond it is read again.
 *
 * <p>Later messages of a key that has deliveries are parked behind them and released in order. Every transaction that changes
 * deliveries first locks their lane's row, operators' too, so there is one writer at a time and no lock on single deliveries. An
 * attempt at a delivery is counted when it is claimed, before it is made. Attempts of messages that come straight from the journal
 * are not written anywhere; but a relay that takes a lane from one that died writes {@code sending} rows for what the dead one may
 * have been sending, before it sends it. What is {@code sending} when a relay dies is a suspect: suspects go on in ever smaller
 * groups and in the end alone, with nothing else on its way in the process, so that a message which ends processes is told from those
 * that were near.
 *
 * <p>What a crash of the relay leaves behind, step by step:
 *
 * <ol>
 *   <li>after acquire: a lane whose lease runs out; another relay takes it and begins where it was settled;
 *   <li>after read or send: the same; what was sent since the last settle is sent again, and counted as its second attempt;
 *   <li>after claim, or after a note that a message is about to be sent: a row in {@code sending}; the next relay makes it
 *       {@code waiting}, a suspect, or buries it when it is out of attempts and was alone. If only the answer was lost, the same
 *       relay takes the claim back, or treats the message as noted;
 *   <li>after the sink's acknowledgement: the same, the sink sees those messages twice, with the same ids;
 *   <li>in the middle of record: nothing of it; after its commit: all of it, with the position. If only the answer was lost, the
 *       record's number says so and it is not written twice;
 *   <li>after settle: nothing is sent again;
 *   <li>after release: nothing, the lane is free at once.
 * </ol>
 *
 * <p>A projection's messages are not sent but applied, in batches. One transaction reads the lane's record number (locking nothing),
 * runs the projection, writes what else is to be recorded, and moves the lane if fence and number are what they were. So a crash
 * leaves behind
 *
 * <ol>
 *   <li>in the middle of that transaction: nothing of it, once PostgreSQL has noticed; the next relay applies the batch;
 *   <li>after its commit: all of it. If only the answer was lost, the record number says so and the batch is not applied again.
 * </ol>
 *
 * <p>A projection that hangs over its deadline loses its lane's thread, and with it the right to commit: whichever comes first, its
 * return or the watch, decides. PostgreSQL ends what it left behind: no statement and no pause of that transaction outlasts the deadline.
 *
 * <p>What a crash of PostgreSQL leaves behind: committed settles, records and leases. The relay finds its connections broken, keeps
 * its lanes if it can renew them in time, and goes on where it was; claims whose answer it never got it takes back.
 *
 * <p>A destination that takes nothing opens the circuit of its subscription in this relay: nothing is sent but one probe at a time,
 * no attempt is counted. Where that is only guessed from what was thrown, messages take turns as probes, in memory, and one that fails
 * so again after another was accepted is at fault itself: its attempts count. What a crash leaves behind is a row in {@code circuit},
 * which goes with the relay's own, and nothing of who was turned away; the next relay finds out anew. One that wants no more
 * for good is not probed: the next beat pauses the subscription, which outlasts every crash; before that a crash leaves behind nothing,
 * and the next relay is told again. A thread that
 * hangs in a sink over its deadline is left alone and another takes its lane on; when it comes back it finds the lane gone and ends.
 *
 * <p>Operators move lanes, or change their number, only while no relay has one: while that is asked for, and while a subscription is
 * paused, its relays have a share of none, finish what is on its way and give their lanes back. What is asked for and the copies of
 * subscriptions are found at each beat; see {@code io.postroom.subscription}. A copy is delivered to the sink of its original, with its
 * policy and its circuit, from a journal that ends where the copy does. Projections that come and go are named by rosters, which are asked at
 * each beat, and once more when a lane of theirs was taken: how far it may go is changed only while nobody has one.
 */
@NullMarked
package io.postroom.relay;

import org.jspecify.annotations.NullMarked;
