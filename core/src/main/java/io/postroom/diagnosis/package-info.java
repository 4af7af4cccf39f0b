/**
 * Answers one question: why is this message where it is? Reads only; nothing here changes anything.
 *
 * <p>A message is looked for by its id, which no index has: an index would cost every publish something, for a question that is asked
 * rarely. So the search narrows down by what is known. A dead letter is found by its message id at once. An id of version 7 holds
 * the time it was made: the ticks around that time say which {@code seq}s were drawn then, and only those are read, first ten seconds
 * to each side, then two minutes, then an hour. If that finds nothing, or the id holds no time, days are read whole: those around the
 * time first, then the newest first, each for {@link io.postroom.diagnosis.Diagnosis#STATEMENT_MAX} at most and all of them for
 * {@link io.postroom.diagnosis.Diagnosis#SEARCH_MAX}. What was not searched is said.
 *
 * <p>The journal has no index on {@code seq} either. But each tick keeps the snapshot of its stamp, which sees exactly the transactions
 * that were stamped up to its position: the first tick that sees the message's transaction stamped it, and it is found by halving. Only
 * the positions between it and the tick before are read.
 *
 * <p>Everything else is read by primary key or index, in one picture of the database. What is open in other sessions is no part of
 * that picture: open transactions are told as they are at that moment.
 */
@NullMarked
package io.postroom.diagnosis;

import org.jspecify.annotations.NullMarked;
