/**
 * Old days of outbox and journal, kept out of the way of those who publish and deliver, and dropped when nobody may want them again.
 *
 * <p>A day is hot, archived or dropped. Days are archived in their order and dropped in their order, so that what is archived lies before
 * what is hot. Positions grow with the days: whoever reads by position crosses from one to the other once.
 *
 * <p>A day is archived in three steps of {@code archive_step}, each one transaction, of which only the last changes where messages lie:
 *
 * <ol>
 *   <li>bounded: its partitions get a constraint that names their day, not looked at yet;
 *   <li>checked: PostgreSQL looks through them, while others read and write;
 *   <li>archived: under locks on journal and outbox, both partitions change their parent, the constraint goes, and {@code archive_day}
 *       gets a row. Thanks to the constraint nothing is read, copied or written but the catalog.
 * </ol>
 *
 * <p>What a crash leaves behind: after a step, that step; the next run goes on with the following one. Within a step, nothing.
 *
 * <p>A day is archived when every lane, reader, move and generation has passed its last message, no delivery refers to it, every message of
 * it has a position, and something was stamped on two later days. The last is for readers, who look for a message in the archive only
 * if it is older than yesterday. None of the others is needed for the messages to be found: all who read look into the outbox first and
 * into the archive after it, and a day never comes back. They keep what is in use where it is cheap to read.
 *
 * <p>Who writes: {@code archive_day} and both archives are written by {@code archive_step} and {@code drop_archived_day} alone, with the
 * owner's rights.
 */
@NullMarked
package io.postroom.archive;

import org.jspecify.annotations.NullMarked;
