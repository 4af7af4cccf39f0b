package io.postroom.maintenance;

import io.postroom.postgres.Database;
import io.postroom.postgres.Sql;
import java.time.Duration;
import java.time.LocalDate;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Forgets jobs that ended long ago, and attempts that failed long ago: old days as a whole, one step at a time, each a short
 * transaction. Then batches that nothing is left of. What failed stays among the dead letters until somebody resolves it. Safe to run anywhere, at any time.
 */
final class JobPurger {
    /** Of batches, since they were begun; longer if ended jobs are kept for longer. */
    private static final Duration BATCHES_KEPT = Duration.ofDays(30);

    private static final int BATCHES_MAX = 10_000;

    private static final Logger LOG = LoggerFactory.getLogger(JobPurger.class);
    private static final List<String> LOGS = List.of("job_done", "job_attempt");

    /** Others wait behind whoever waits for a lock, so it is not tried more often than this in one round. */
    private static final int LOCKED_MAX = 3;

    /** In one round; the next one goes on. */
    private static final int STEPS_MAX = 1_000;

    private final Database database;
    private final Sql forgetDay;
    private final Sql forgetBatches;
    private final Duration kept;
    private final Duration batchesKept;

    JobPurger(Database database, Duration kept) {
        this.database = database;
        this.kept = kept;
        this.batchesKept = kept.compareTo(BATCHES_KEPT) > 0 ? kept : BATCHES_KEPT;
        forgetDay = database.schema().sql(JobPurger.class, "forget_job_day.sql");
        forgetBatches = database.schema().sql(JobPurger.class, "forget_job_batches.sql");
    }

    /** What one step did to a day. */
    private record Step(LocalDate day, String outcome) {}

    void purge() {
        LOGS.forEach(this::purge);
        database.run(tx -> forgetBatches
                .on(tx)
                .set("kept", batchesKept)
                .set("limit", BATCHES_MAX)
                .update());
    }

    /** Ends: a day is emptied, then dropped, or passed over. */
    private void purge(String log) {
        String table = database.schema().name() + "." + log;
        LocalDate after = LocalDate.EPOCH;
        int locked = 0;
        for (int steps = 0; steps < STEPS_MAX && locked < LOCKED_MAX; steps++) {
            Step step = step(log, after).orElse(null);
            if (step == null) {
                return;
            }
            switch (step.outcome()) {
                case "emptied" -> LOG.info("forgot day {} of {}", step.day(), table);
                case "dropped" -> LOG.info("dropped the partition of day {} of {}", step.day(), table);
                case "purged" -> LOG.debug("purged strays of {}", table);
                case "late" -> after = step.day();
                default -> {
                    LOG.info(
                            "could not forget day {} of {}: somebody holds a lock; it is tried again",
                            step.day(),
                            table);
                    after = step.day();
                    locked++;
                }
            }
        }
    }

    private Optional<Step> step(String log, LocalDate after) {
        return database.run(tx -> forgetDay
                .on(tx)
                .set("log", log)
                .set("kept", kept)
                .set("after", after)
                .first(row -> new Step(row.getObject(1, LocalDate.class), row.getString(2))));
    }
}
