package io.postroom.job;

import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Where the next jobs of a queue are, as far as this process knows: beyond the turns that it has claimed.
 *
 * <p>While somebody holds an old snapshot, what was claimed stays at the front of the index, and every claim from the beginning would
 * read all of it. So most claims begin where the last one ended. What was committed late, was handed back, or has another priority is found by a
 * look from the beginning, which is made as often as its own cost allows. For one thread.
 */
final class Front {
    /** With more priorities than this, a claim begins at the beginning unless that is slow: each costs a look of its own. */
    private static final int PRIORITIES_MAX = 32;

    private static final Duration SLOW = Duration.ofMillis(20);

    private static final Duration WHOLE_LOOK_MAX = Duration.ofSeconds(5);

    private final String queue;
    private final ClaimTable table;
    private final long slowNanos;
    private final SortedMap<Integer, Long> claimed = new TreeMap<>();
    private final Pace wholeLooks = new Pace(Duration.ZERO, WHOLE_LOOK_MAX);
    private long wholeLookNanos;

    Front(String queue, ClaimTable table) {
        this(queue, table, SLOW);
    }

    /** {@code slow}: when a look from the beginning is; for tests. */
    Front(String queue, ClaimTable table, Duration slow) {
        this.queue = queue;
        this.table = table;
        this.slowNanos = slow.toNanos();
    }

    List<ClaimedJob> claim(Connection tx, int limit) {
        long began = System.nanoTime();
        boolean whole = claimed.isEmpty()
                || wholeLooks.isDue(began)
                || claimed.size() > PRIORITIES_MAX && wholeLookNanos < slowNanos;
        List<ClaimedJob> jobs;
        try {
            jobs = whole ? table.claim(tx, queue, limit) : table.claimOnward(tx, queue, claimed, limit);
        } finally {
            if (whole) {
                // Also if it was not answered in time: the next ones look onward.
                wholeLookNanos = System.nanoTime() - began;
                wholeLooks.done(began, began + wholeLookNanos);
            }
        }
        jobs.forEach(job -> claimed.merge(job.priority(), job.turn(), Math::max));
        return jobs;
    }
}
