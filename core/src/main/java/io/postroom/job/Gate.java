package io.postroom.job;

import io.postroom.postgres.Database;
import java.sql.Connection;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Lets jobs be claimed that have waited: for their time, for their turn by a limit, for other jobs. Every worker does so; of those at once
 * one does the work and the others find nothing. If it dies in the middle of a step, nothing of the step was done and another does it.
 *
 * <p>For one thread. What is not used costs one look-up each now and then.
 */
final class Gate {
    /** How many jobs whose time has come are let go with one statement. */
    private static final int PROMOTE_MAX = 1_000;

    private static final int LIMITS_MAX = 1_000;

    /** How many keys of a limit one step looks at; the next step looks at the next ones. */
    private static final int KEYS_MAX = 500;

    /** How many jobs of one key one step lets through. */
    private static final int ADMIT_MAX = 200;

    /** How many jobs and batches that others wait for one step looks at. */
    private static final int NEEDS_MAX = 1_000;

    private final Database database;
    private final GateTable table;
    private final BoardTable board;
    private final Settler settler;
    private final Pace promotions = new Pace(Duration.ofMillis(20), Duration.ofSeconds(1));
    private final Pace admissions = new Pace(Duration.ofMillis(20), Duration.ofSeconds(1));
    private final Pace releases = new Pace(Duration.ofMillis(50), Duration.ofSeconds(1));
    /** The last key that was looked at, for each limit. */
    private final Map<String, String> lastKeys = new HashMap<>();

    private final Map<Boolean, Long> lastNeeds = new HashMap<>();
    private volatile boolean asked;

    Gate(Database database, Settler settler) {
        this.database = database;
        this.table = new GateTable(database.schema());
        this.board = new BoardTable(database.schema());
        this.settler = settler;
    }

    /** A job with a limit has ended: another may have its turn. For any thread. */
    void ask() {
        asked = true;
    }

    /** Lets go what may, as often as that is due. Returns whether something can be claimed now. */
    boolean open(Connection tx) {
        boolean opened = promote(tx);
        long began = System.nanoTime();
        if (asked || admissions.isDue(began)) {
            asked = false;
            opened |= admit(tx) > 0;
            admissions.done(began, System.nanoTime());
        }
        began = System.nanoTime();
        if (releases.isDue(began)) {
            opened |= release(tx, false) + release(tx, true) > 0;
            releases.done(began, System.nanoTime());
        }
        return opened;
    }

    /** Lets go everything that may, whether that is due or not. */
    boolean openWide(Connection tx) {
        return table.promote(tx, PROMOTE_MAX) + admit(tx) + release(tx, false) + release(tx, true) > 0;
    }

    private boolean promote(Connection tx) {
        long began = System.nanoTime();
        if (!promotions.isDue(began)) {
            return false;
        }
        int promoted = table.promote(tx, PROMOTE_MAX);
        if (promoted < PROMOTE_MAX) {
            promotions.done(began, System.nanoTime());
        }
        return promoted > 0;
    }

    private long admit(Connection line) {
        long admitted = 0;
        for (String limit : table.limitsInUse(line, LIMITS_MAX)) {
            admitted += database.transactPromptly(tx -> table.lockLimit(tx, limit) ? admit(tx, limit) : 0L);
        }
        return admitted;
    }

    private long admit(Connection tx, String limit) {
        String after = lastKeys.getOrDefault(limit, "");
        List<GateTable.Admitted> keys = table.admit(tx, limit, after, KEYS_MAX, ADMIT_MAX);
        // From the beginning when the end was reached.
        lastKeys.put(
                limit, keys.size() < KEYS_MAX ? "" : keys.get(keys.size() - 1).key());
        return keys.stream().mapToLong(GateTable.Admitted::jobs).sum();
    }

    /** Those who wait for jobs, or for batches, that have ended by now. */
    private int release(Connection line, boolean ofBatch) {
        long after = lastNeeds.getOrDefault(ofBatch, Long.MIN_VALUE);
        List<GateTable.Needed> seen = table.findNeeds(line, ofBatch, after, NEEDS_MAX);
        lastNeeds.put(
                ofBatch,
                seen.size() < NEEDS_MAX
                        ? Long.MIN_VALUE
                        : seen.get(seen.size() - 1).need());
        List<GateTable.Needed> ended =
                seen.stream().filter(each -> each.ended() != null).toList();
        if (ended.isEmpty()) {
            return 0;
        }
        return database.transactPromptly(tx -> table.lockNeeds(tx) ? meet(tx, ofBatch, ended) : 0);
    }

    private int meet(Connection tx, boolean ofBatch, List<GateTable.Needed> ended) {
        List<GateTable.Met> met = table.meetNeeds(tx, ofBatch, ended);
        for (GateTable.Met each : met) {
            Optional<Boolean> running = each.cancelled() ? board.lockJob(tx, each.jobId()) : Optional.empty();
            if (running.isPresent() && !running.get()) {
                settler.apply(
                        tx,
                        List.of(new Settler.Settled(each.jobId(), new Verdict.Cancelled(true, null), null, "a need")));
            }
        }
        return met.isEmpty()
                ? 0
                : table.release(tx, met.stream().mapToLong(GateTable.Met::jobId).toArray());
    }
}
