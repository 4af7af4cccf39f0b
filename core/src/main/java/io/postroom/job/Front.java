package io.postroom.job;

import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Where the next jobs of a queue are, as far as this process knows: beyond the turns that it has claimed.
 *
 * <p>While somebody holds an old snapshot, what was claimed stays at the front of the index, and every claim from the beginning would
 * read all of it. So most claims begin where the last one ended. What was committed late, was handed back, or has another priority is found by a
 * look from the beginning, which is made as often as its own cost allows.
 *
 * <p>For both claimers of a process: whoever claims while the other does begins beyond what the other can get at least, and so does not pass
 * over its locks one by one.
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
    private final List<Look> underway = new ArrayList<>();
    private final Pace wholeLooks;
    private long wholeLookNanos;

    Front(String queue, ClaimTable table) {
        this(queue, table, SLOW, new Pace(Duration.ZERO, WHOLE_LOOK_MAX));
    }

    /** For tests: {@code slow} says when a look from the beginning is, {@code wholeLooks} how often there is one. */
    Front(String queue, ClaimTable table, Duration slow, Pace wholeLooks) {
        this.queue = queue;
        this.table = table;
        this.slowNanos = slow.toNanos();
        this.wholeLooks = wholeLooks;
    }

    /** A claim beyond these turns, of each priority; null: from the beginning. */
    private record Look(@Nullable SortedMap<Integer, Long> beyond, int limit, long beganNanos) {}

    List<ClaimedJob> claim(Connection tx, int limit) {
        Look look = begin(limit);
        List<ClaimedJob> jobs = List.of();
        try {
            jobs = look.beyond() == null
                    ? table.claim(tx, queue, limit)
                    : table.claimOnward(tx, queue, look.beyond(), limit);
            return jobs;
        } finally {
            end(look, jobs);
        }
    }

    private synchronized Look begin(int limit) {
        long now = System.nanoTime();
        boolean whole = claimed.isEmpty()
                || wholeLooks.isDue(now)
                || claimed.size() > PRIORITIES_MAX && wholeLookNanos < slowNanos;
        SortedMap<Integer, Long> beyond = new TreeMap<>(claimed);
        beyond.replaceAll(this::reachOfOthers);
        Look look = new Look(whole ? null : beyond, limit, now);
        underway.add(look);
        return look;
    }

    private synchronized void end(Look look, List<ClaimedJob> jobs) {
        underway.remove(look);
        if (look.beyond() == null) {
            // Also if it was not answered in time: the next ones look onward.
            long now = System.nanoTime();
            wholeLookNanos = now - look.beganNanos();
            wholeLooks.done(look.beganNanos(), now);
            jobs.forEach(job -> claimed.merge(job.priority(), job.turn(), Math::max));
            return;
        }
        SortedMap<Integer, Long> reached = new TreeMap<>(look.beyond());
        jobs.forEach(job -> reached.merge(job.priority(), job.turn(), Math::max));
        boolean all = jobs.size() == look.limit();
        claimed.replaceAll((priority, turn) -> {
            long from = look.beyond().getOrDefault(priority, turn);
            long to = reached.getOrDefault(priority, turn);
            if (all) {
                return from <= reachOfOthers(priority, turn) ? Math.max(turn, to) : turn;
            }
            // Some may be left behind what another has claimed, or come there.
            return from <= turn ? to : turn;
        });
    }

    /**
     * How far nothing will be left, of what is beyond a turn, by those who are claiming it. Turns are different numbers: so many jobs reach at
     * least so far. With several priorities nobody knows of which the others get how many.
     */
    private long reachOfOthers(int priority, long turn) {
        long reach = turn;
        if (claimed.size() == 1) {
            for (Look other : underway) {
                Long from = other.beyond() == null ? null : other.beyond().get(priority);
                if (from != null && other.beyond().size() == 1 && from <= turn) {
                    reach = Math.max(reach, from + other.limit());
                }
            }
        }
        return reach;
    }
}
