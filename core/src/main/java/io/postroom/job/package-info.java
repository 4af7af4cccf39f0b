/**
 * Work for later: enqueued inside a business transaction, done by any of many processes, at least once, with one end each.
 *
 * <p>A job that has not ended is a row of {@code job}. It leaves the table in the statement that ends it and is from then on a row of
 * {@code job_done}:
 *
 * <pre>
 *                 ┌──── again: failed, snoozed, interrupted, handed back, lost ────┐
 * enqueue ──▶ ready ──────────────── claim ───────────────▶ running ───────────────┤
 *               │ └ waits: time, turn, jobs ──▶ claimable     │                    └─▶ done
 *               └── cancel ──▶ cancelled                      └── given up ──▶ failed, and a dead letter ── redrive ──▶ ready
 * </pre>
 *
 * <p>Who writes which column: whoever enqueues, all that says what is to be done, and nothing else; a claim {@code state},
 * {@code worker}, {@code claimed_at}, {@code deadline_at}, {@code attempt}, {@code exact} and {@code fence}; {@code begin} only
 * {@code begun_at}; whoever puts a job back all of these, {@code waits}, {@code run_at}, {@code turn} and {@code crashes}; whoever lets
 * it through {@code waits} and {@code turn}; the heartbeat {@code progress}; operators {@code cancel_asked_at}. The {@code fence} grows
 * with every claim, and again when a claim ends without the job: so a fence names one claim for ever, and whoever ends a claim compares it. Zero rows mean that the job was taken away: nothing changes, and the worker says
 * so. The {@code turn} is drawn anew whenever a job becomes claimable, so that a claimer may begin where it stopped and still misses
 * nothing but what was committed late, or handed back with its old turn; for that it looks from the beginning as often as that costs a
 * twentieth of its time. Every time is the database's; a worker's own clock only measures how long something took.
 *
 * <p>A process has one thread that claims for all of its queues, one that writes what became of claims, one heartbeat, one that looks for
 * dead workers, and the threads of its queues. Heartbeats are one row for a process. A worker whose lease has run out may be
 * alive: it begins nothing that it has not begun, and what it ends is refused. An attempt counts when it is claimed. It is taken back if
 * it is known not to have begun: handed back by its worker, or exact and not noted. Exact are the last attempt of a job and all of those
 * after a crash: they are noted one by one before they begin. So a job that ends its process is given up after as many attempts as its
 * policy allows, and none that merely waited in the same process is given up at all.
 *
 * <p>Jobs may be bound to others. A unique key is held by the index on {@code unique_key}, as long as {@code unique_while} is set; it goes
 * with the row. A job with a limit has a seat while it waits for nothing: whoever lets others through counts such rows, one at a time
 * for each limit, by an advisory lock that is taken in a statement before; nothing is written for a seat, so that nothing can be left
 * behind. A job that needs others has rows in {@code job_need}, which are struck off when what is needed has ended; one at a time does so,
 * and releases the job in the same transaction. Whoever ends a claim looks at once for those that wait for its seat or its end; all others
 * are found by going round the keys for whose turn jobs wait, and the needs, so that nothing depends on that look. Whether a need has failed is asked of its dead letter, which stays when ends are
 * forgotten: while it is open the job waits, and when it is discarded the job is cancelled.
 *
 * <p>What a crash of a worker leaves behind, step by step:
 *
 * <ol>
 *   <li>before the commit of an enqueue: nothing; after it: a job;
 *   <li>after a claim: running jobs of a worker whose lease runs out; another worker puts them back. If only the answer to the claim was
 *       lost, the same worker puts them back;
 *   <li>after {@code begin}: the same, and it is known that the attempt began;
 *   <li>while a handler is at work, or after it: the same; the job is run again. What a transactional handler wrote is rolled back;
 *   <li>in the middle of letting jobs through, or of striking off needs: nothing of it; another does it, ten seconds later if it only froze;
 *   <li>in the middle of an end, a return or a rescue: nothing of it; each is one transaction with its history and its dead letter;
 *   <li>after an end: a row of {@code job_done}. If only the answer was lost, the worker finds its fence gone and leaves it at that;
 *   <li>after a cancellation was asked for: a running job that ends as cancelled when its handler fails, or when it is taken away;
 *   <li>in the middle of a clean stop: whatever was not given back yet, as after a claim;
 *   <li>after a step of a redrive: the job with its old id and a greater fence, and a dead letter that is resolved; both or neither.
 * </ol>
 *
 * <p>What a crash of PostgreSQL leaves behind: committed claims and ends. Workers find their connections broken, keep what they have in
 * memory, and go on; what their handlers did meanwhile is written when it is back. If that takes longer than the lease, each says
 * that it is alive and looks for the dead only a lease later, when all that live have said so; so does a process that starts, which
 * cannot know what was before. A worker that leaves goes from the table of workers if it knows of no job that it has; a job that is
 * left of such a one, because only the answer to its claim was lost, belongs to nobody and is put back as a stray.
 *
 * <p>A handler that hangs over its deadline is interrupted, then left alone: its job goes on as after any failure, another thread takes
 * its place, and what it says in the end is refused. Whoever has a job's row locked for long holds up nothing but that job.
 */
@NullMarked
package io.postroom.job;

import org.jspecify.annotations.NullMarked;
