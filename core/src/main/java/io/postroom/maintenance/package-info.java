/**
 * Housekeeping: partitions ahead of time, old ticks thinned out, what inboxes need not remember any longer
 * forgotten, redrives that others left unfinished carried on; old days archived and dropped, where a retention is set.
 *
 * <p>Archiving, dropping, redrives and the rest have a thread each, and each step fails by itself: a day that takes hours to look through, or
 * cannot be, keeps nobody from anything else.
 *
 * <p>Any number of nodes may run it; every statement is safe to run twice and at the same time. If nobody runs it for a week,
 * messages go to the default partition of the outbox, are delivered as always, and every later round says so. What a crash
 * leaves behind: whatever statement had committed; the next round does the rest. Archiving a day takes three of them, of which the last
 * alone changes where its messages lie; see {@code archive}.
 */
@NullMarked
package io.postroom.maintenance;

import org.jspecify.annotations.NullMarked;
