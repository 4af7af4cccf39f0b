/**
 * Whether a database is fit for Postroom: its settings, its rights, its upkeep, and what stands in the way of messages.
 *
 * <p>{@link io.postroom.doctor.Doctor} reads catalogs, statistics and small tables, each statement by itself, and changes nothing: a
 * process that dies while it looks leaves nothing behind. What its login may not see is told as unchecked, with the grant that would
 * show it; the rest is looked at all the same. A {@link io.postroom.doctor.Finding} has a stable id, evidence, advice and, where SQL
 * can mend it, the statements. Nobody here runs them.
 */
@NullMarked
package io.postroom.doctor;

import org.jspecify.annotations.NullMarked;
