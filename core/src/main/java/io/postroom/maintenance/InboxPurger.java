package io.postroom.maintenance;

import io.postroom.inbox.Retention;
import io.postroom.postgres.Database;
import io.postroom.postgres.Sql;
import java.time.Duration;
import java.time.LocalDate;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Forgets what inboxes have accepted too long ago: old days as a whole, one step at a time, each a short transaction; the rest in
 * batches. How long is too long is what consumers have declared, and never less than {@link Retention#USUAL}. Safe to run anywhere, at
 * any time.
 */
final class InboxPurger {
    private static final Logger LOG = LoggerFactory.getLogger(InboxPurger.class);
    private static final Duration KEPT = Retention.USUAL.kept();

    /** How many go in one statement. */
    private static final int STEP_MAX = 10_000;

    /** Others wait behind whoever waits for a lock, so it is not tried more often than this in one round. */
    private static final int LOCKED_MAX = 3;

    private final Database database;
    private final Sql forgetDay;
    private final Sql purge;

    InboxPurger(Database database) {
        this.database = database;
        forgetDay = database.schema().sql(InboxPurger.class, "forget_inbox_day.sql");
        purge = database.schema().sql(InboxPurger.class, "purge_inbox.sql");
    }

    /** What one step did to a day. */
    private record Step(LocalDate day, String outcome) {}

    void purge() {
        forgetDays();
        long purged;
        do {
            purged = database.run(tx ->
                    purge.on(tx).set("kept", KEPT).set("at_most", STEP_MAX).one(row -> row.getLong(1)));
        } while (purged == STEP_MAX);
    }

    /** Ends: a day is emptied, then dropped, or passed over. */
    private void forgetDays() {
        String schema = database.schema().name();
        LocalDate after = LocalDate.EPOCH;
        int locked = 0;
        for (Optional<Step> step = step(after); step.isPresent() && locked < LOCKED_MAX; step = step(after)) {
            LocalDate day = step.get().day();
            switch (step.get().outcome()) {
                case "emptied" -> LOG.info("forgot what was accepted of day {} in {}.inbox", day, schema);
                case "dropped" -> LOG.info("dropped the partition of day {} of {}.inbox", day, schema);
                case "late" -> after = day;
                default -> {
                    LOG.info(
                            "could not forget day {} of {}.inbox: somebody holds a lock; it is tried again",
                            day,
                            schema);
                    after = day;
                    locked++;
                }
            }
        }
    }

    private Optional<Step> step(LocalDate after) {
        return database.run(tx -> forgetDay
                .on(tx)
                .set("kept", KEPT)
                .set("after", after)
                .first(row -> new Step(row.getObject(1, LocalDate.class), row.getString(2))));
    }
}
