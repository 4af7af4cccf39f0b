/**
 * When something recurs, and the jobs that are enqueued then.
 *
 * <p>A {@link io.postroom.schedule.Recurrence} is pure arithmetic: it says which instant is the next one after a given one, the same on
 * every node with the same time zone data. How a {@link io.postroom.schedule.Cron} meets a clock that is put forward or back is told there.
 *
 * <p>A schedule is a row with the next time that it fires, {@code next_at}. Whoever finds that this has come, by the database's clock, does
 * three things in one transaction: it notes {@code (schedule, fire time)} in {@code schedule_run}, whose primary key lets one node do so;
 * it enqueues the job; it moves {@code next_at} on, if that is still what it saw. There is no leader and no lease. A node that dies before
 * the commit leaves nothing, and another fires that time; one that dies after it leaves the job. A fixed delay has no {@code next_at} while its
 * job has not ended; whoever looks next sets it.
 */
@NullMarked
package io.postroom.schedule;

import org.jspecify.annotations.NullMarked;
