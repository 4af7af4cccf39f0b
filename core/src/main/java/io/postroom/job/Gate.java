package io.postroom.job;

import io.postroom.postgres.Database;
import io.postroom.postgres.DatabaseException;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.LongSupplier;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets jobs be claimed that have waited: for their time, for their turn by a limit, for other jobs. Every worker does so; of those at once
 * one does the work and the others find nothing. If it dies in the middle of a step, nothing of the step was done and another does it.
 *
 * <p>For one thread, on the connection that it keeps. What is not used costs one look-up each now and then. What cannot be done keeps
 * nobody from the rest: it is told once, and tried again.
 */
final class Gate {
    private static final Logger LOG = LoggerFactory.getLogger(Gate.class);

    /** How many jobs whose time has come are let go with one statement. */
    private static final int PROMOTE_MAX = 1_000;

    /** How many limits one step looks at; the next step looks at the next ones. */
    private static final int LIMITS_MAX = 50;

    /** How many keys of a limit for whose turn jobs wait one step looks at; the next step looks at the next ones. */
    private static final int KEYS_MAX = 500;

    /** How many jobs of one key one step lets through. */
    private static final int ADMIT_MAX = 200;

    /** How many needs one step looks at; the next step looks at the next ones. */
    private static final int NEEDS_MAX = 1_000;

    /** How many needs one step strikes off. */
    private static final int MEET_MAX = 1_000;

    /** Instead of how many were struck off: somebody else is at it. */
    private static final int LOCKED = -1;

    /** A look that costs much, because of an old snapshot say, is made seldom. */
    private static final Duration PAUSE_MAX = Duration.ofMinutes(1);

    /** How many that are to be looked at out of turn are kept in mind; others are found in their turn. */
    private static final int ASKED_MAX = 20_000;

    private static final int FAILING_MAX = 1_000;

    private final Database database;
    private final GateTable table;
    private final Settler settler;
    private final Pace promotions = new Pace(Duration.ofMillis(20), PAUSE_MAX);
    /** Most looks begin with the last time that was let go: others committed late, if at all. */
    private final Pace wholePromotions = new Pace(Duration.ZERO, PAUSE_MAX);

    /** A round of many limits must not take for ever: a fifth of the time. */
    private final Pace admissions = new Pace(Duration.ofMillis(20), PAUSE_MAX, 4);

    /** Somebody waits for the seat that is free: a third of the time. */
    private final Pace answers = new Pace(Duration.ZERO, PAUSE_MAX, 2);

    private final Pace releases = new Pace(Duration.ofMillis(50), PAUSE_MAX);

    /** Somebody may wait for what has ended: a fifth of the time. */
    private final Pace endings = new Pace(Duration.ZERO, PAUSE_MAX, 4);

    /** The last key that was looked at, for each limit that has more. */
    private final Map<String, String> lastKeys = new HashMap<>();

    private final Map<Boolean, Long> lastNeeds = new HashMap<>();
    /** Keys of which a seat is free. */
    private final Set<LimitKey> asked = ConcurrentHashMap.newKeySet();
    /** What may have ended, and be needed. */
    private final BlockingQueue<Long> endedJobs = new LinkedBlockingQueue<>(ASKED_MAX);

    private final BlockingQueue<Long> endedBatches = new LinkedBlockingQueue<>(ASKED_MAX);
    /** What could not be done the last time. */
    private final Set<String> failing = new HashSet<>();

    private String lastLimit = "";
    /** Whether there are more limits or keys than the last step has looked at. */
    private boolean admitting;
    /** Whether somebody waited for others at the last look. If not, nobody asks about what has ended since. */
    private boolean needed;

    private @Nullable Instant lastTime;

    Gate(Database database, Settler settler) {
        this.database = database;
        this.table = new GateTable(database.schema());
        this.settler = settler;
    }

    /** A claim is over: another job of its key may have its turn, and others may have waited for its end. For any thread. */
    void over(ClaimedJob job) {
        if (job.limit() != null) {
            ask(job.limit());
        }
        endedJobs.offer(job.id());
        if (job.batch() != null) {
            endedBatches.offer(job.batch());
        }
    }

    private void ask(LimitKey key) {
        if (asked.size() < ASKED_MAX) {
            asked.add(key);
        }
    }

    /** Lets go what may, as often as that is due. Returns whether something can be claimed now, or soon. */
    boolean open(Connection line) {
        long opened = trying("let jobs go whose time has come", () -> promote(line));
        opened += trying("look for limits that have seats", () -> admitAskedDue(line) + admitDue(line));
        opened += trying("let jobs go that have waited for what has ended here", () -> releaseEndedDue(line));
        opened += trying("let jobs go that have waited for others", () -> releaseDue(line));
        return opened > 0 || !asked.isEmpty();
    }

    /** How long it may rest: less than for ever in the middle of a round that takes many steps. */
    long restNanos() {
        long now = System.nanoTime();
        long rest = admitting ? admissions.restNanos(now) : Long.MAX_VALUE;
        if (!lastNeeds.isEmpty()) {
            rest = Math.min(rest, releases.restNanos(now));
        }
        if (needed && !(endedJobs.isEmpty() && endedBatches.isEmpty())) {
            rest = Math.min(rest, endings.restNanos(now));
        }
        return rest;
    }

    /** Lets go everything that may, whether that is due or not. */
    boolean openWide(Connection line) {
        long opened = table.promote(line, null, PROMOTE_MAX).jobs() + admitAsked(line);
        do {
            opened += admit(line);
        } while (!lastLimit.isEmpty());
        return opened + releaseEnded(line) + releaseNext(line) > 0;
    }

    /** Trouble with one part is not the others', unless PostgreSQL cannot be reached. */
    private long trying(String what, LongSupplier part) {
        try {
            long opened = part.getAsLong();
            failing.remove(what);
            return opened;
        } catch (RuntimeException e) {
            if (e instanceof DatabaseException gone && gone.isUnreachable()) {
                throw e;
            }
            if (failing.size() < FAILING_MAX && failing.add(what)) {
                LOG.error(
                        "could not {}: {}; it is tried again, and other jobs are claimed meanwhile",
                        what,
                        e.getMessage(),
                        e instanceof DatabaseException ? null : e);
            }
            return 0;
        }
    }

    private long promote(Connection line) {
        long began = System.nanoTime();
        if (!promotions.isDue(began)) {
            return 0;
        }
        boolean whole = lastTime == null || wholePromotions.isDue(began);
        GateTable.Promoted promoted = new GateTable.Promoted(0, null);
        try {
            promoted = table.promote(line, whole ? null : lastTime, PROMOTE_MAX);
        } finally {
            if (whole) {
                wholePromotions.done(began, System.nanoTime());
            }
            if (promoted.jobs() < PROMOTE_MAX) {
                promotions.done(began, System.nanoTime());
            }
        }
        if (promoted.lastAt() != null && (lastTime == null || promoted.lastAt().isAfter(lastTime))) {
            lastTime = promoted.lastAt();
        }
        return promoted.jobs();
    }

    private long admitAskedDue(Connection line) {
        long began = System.nanoTime();
        if (asked.isEmpty() || !answers.isDue(began)) {
            return 0;
        }
        try {
            return admitAsked(line);
        } finally {
            answers.done(began, System.nanoTime());
        }
    }

    /** Keys one of whose jobs has ended. */
    private long admitAsked(Connection line) {
        Map<String, List<String>> keys = asked.stream()
                .limit(KEYS_MAX)
                .collect(Collectors.groupingBy(
                        LimitKey::name, Collectors.mapping(LimitKey::key, Collectors.toUnmodifiableList())));
        return keys.entrySet().stream()
                .limit(LIMITS_MAX)
                .mapToLong(each -> admitAsked(line, each.getKey(), each.getValue()))
                .sum();
    }

    private long admitAsked(Connection line, String limit, List<String> keys) {
        // Before the look: whoever asks meanwhile is heard the next time.
        keys.forEach(key -> asked.remove(new LimitKey(limit, key)));
        return admit(
                line,
                limit,
                tx -> admit(tx, limit, keys),
                // Whoever is at it may have counted before the seat was free.
                () -> keys.forEach(key -> ask(new LimitKey(limit, key))));
    }

    private long admitDue(Connection line) {
        long began = System.nanoTime();
        if (!admissions.isDue(began)) {
            return 0;
        }
        try {
            return admit(line);
        } finally {
            admissions.done(began, System.nanoTime());
        }
    }

    private long admit(Connection line) {
        boolean first = lastLimit.isEmpty();
        List<String> limits = table.waitingLimits(line, lastLimit, LIMITS_MAX);
        // From the beginning when the end was reached.
        lastLimit = limits.size() < LIMITS_MAX ? "" : limits.get(limits.size() - 1);
        if (first && lastLimit.isEmpty()) {
            lastKeys.keySet().retainAll(limits);
        }
        long opened = limits.stream()
                .mapToLong(limit -> admit(line, limit, tx -> admitNext(tx, limit), () -> {}))
                .sum();
        admitting = !lastLimit.isEmpty() || limits.stream().anyMatch(lastKeys::containsKey);
        return opened;
    }

    /** {@code locked} is told if somebody else is at this limit. */
    private long admit(Connection line, String limit, ToLongFunction<Connection> step, Runnable locked) {
        return trying(
                "let jobs of limit " + limit + " through",
                () -> database.transactOn(line, tx -> {
                    if (table.lockLimit(tx, limit)) {
                        return step.applyAsLong(tx);
                    }
                    locked.run();
                    return 0L;
                }));
    }

    private long admitNext(Connection tx, String limit) {
        List<String> keys = table.waitingKeys(tx, limit, lastKeys.getOrDefault(limit, ""), KEYS_MAX);
        // From the beginning when the end was reached.
        if (keys.size() < KEYS_MAX) {
            lastKeys.remove(limit);
        } else {
            lastKeys.put(limit, keys.get(keys.size() - 1));
        }
        return keys.isEmpty() ? 0 : admit(tx, limit, keys);
    }

    private long admit(Connection tx, String limit, List<String> keys) {
        List<GateTable.Admitted> admitted = table.admit(tx, limit, keys, ADMIT_MAX);
        admitted.stream()
                .filter(each -> each.jobs() == ADMIT_MAX)
                .forEach(each -> ask(new LimitKey(limit, each.key())));
        return admitted.stream().mapToLong(GateTable.Admitted::jobs).sum();
    }

    private long releaseEndedDue(Connection line) {
        long began = System.nanoTime();
        if (!needed || endedJobs.isEmpty() && endedBatches.isEmpty() || !endings.isDue(began)) {
            return 0;
        }
        try {
            return releaseEnded(line);
        } finally {
            endings.done(began, System.nanoTime());
        }
    }

    /** Those who wait for what has ended here. */
    private int releaseEnded(Connection line) {
        return release(line, false, take(endedJobs, NEEDS_MAX)) + release(line, true, take(endedBatches, NEEDS_MAX));
    }

    /** Each once. */
    private static List<Long> take(BlockingQueue<Long> ended, int most) {
        Set<Long> taken = new HashSet<>();
        ended.drainTo(taken, most);
        return List.copyOf(taken);
    }

    private long releaseDue(Connection line) {
        long began = System.nanoTime();
        if (!releases.isDue(began)) {
            return 0;
        }
        int met = 0;
        try {
            met = releaseNext(line);
        } finally {
            if (met < MEET_MAX) {
                releases.done(began, System.nanoTime());
            }
        }
        return met;
    }

    /** Those who wait for the next of all needs: what was ended elsewhere, or by whoever died before it could look. */
    private int releaseNext(Connection line) {
        int jobsBefore = endedJobs.size();
        int batchesBefore = endedBatches.size();
        boolean whole = lastNeeds.isEmpty();
        List<Long> jobs = nextNeeds(line, false);
        List<Long> batches = nextNeeds(line, true);
        needed = !whole || !jobs.isEmpty() || !batches.isEmpty();
        if (!needed) {
            // Nobody has waited for what had ended before the look.
            take(endedJobs, jobsBefore);
            take(endedBatches, batchesBefore);
        }
        return release(line, false, jobs) + release(line, true, batches);
    }

    private List<Long> nextNeeds(Connection line, boolean ofBatch) {
        List<Long> needs = table.findNeeds(line, ofBatch, lastNeeds.getOrDefault(ofBatch, Long.MIN_VALUE), NEEDS_MAX);
        // From the beginning when the end was reached.
        if (needs.size() < NEEDS_MAX) {
            lastNeeds.remove(ofBatch);
        } else {
            lastNeeds.put(ofBatch, needs.get(needs.size() - 1));
        }
        return needs.stream().distinct().toList();
    }

    /** Those who wait for these jobs, or batches, if they have ended by now. Returns how many needs were met. */
    private int release(Connection line, boolean ofBatch, List<Long> needs) {
        if (needs.isEmpty()) {
            return 0;
        }
        List<GateTable.Needed> ended = table.needsEnded(line, ofBatch, needs).stream()
                .filter(each -> each.ended() != null)
                .toList();
        if (ended.isEmpty()) {
            return 0;
        }
        int met = database.transactOn(line, tx -> table.lockNeeds(tx) ? meet(tx, ofBatch, ended) : LOCKED);
        if (met == LOCKED || met >= MEET_MAX) {
            // Whoever is at it may have looked before; or there are more.
            ended.forEach(each -> (ofBatch ? endedBatches : endedJobs).offer(each.need()));
        }
        return Math.max(met, 0);
    }

    /** Waits for nobody: a job whose row somebody has locked keeps its needs until the next time. */
    private int meet(Connection tx, boolean ofBatch, List<GateTable.Needed> ended) {
        List<GateTable.Met> met = table.meetNeeds(tx, ofBatch, ended, MEET_MAX);
        List<Settler.Settled> cancelled = met.stream()
                .filter(GateTable.Met::cancelled)
                .map(GateTable.Met::jobId)
                .distinct()
                .map(id -> new Settler.Settled(id, new Verdict.Cancelled(true, null), null, "a need"))
                .toList();
        for (int from = 0; from < cancelled.size(); from += Settler.BATCH_MAX) {
            settler.apply(tx, cancelled.subList(from, Math.min(cancelled.size(), from + Settler.BATCH_MAX)));
        }
        // Others may wait for these in turn.
        cancelled.forEach(each -> endedJobs.offer(each.id()));
        if (!met.isEmpty()) {
            table.release(tx, met.stream().mapToLong(GateTable.Met::jobId).toArray());
        }
        return met.size();
    }
}
