/**
 * When something recurs: pure arithmetic over instants and time zones. No table, no clock and no thread, so that a crash leaves nothing.
 *
 * <p>A {@link io.postroom.schedule.Recurrence} says which instant is the next one after a given one, and says so the same on every node
 * with the same time zone data. How a {@link io.postroom.schedule.Cron} meets a clock that is put forward or back is told there.
 */
@NullMarked
package io.postroom.schedule;

import org.jspecify.annotations.NullMarked;
