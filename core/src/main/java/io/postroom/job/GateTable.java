package io.postroom.job;

import io.postroom.postgres.Schema;
import io.postroom.postgres.Sql;
import java.sql.Connection;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Jobs that wait for their time, their turn or other jobs: one method per statement, no decisions. */
final class GateTable {
    /** In milliseconds. */
    private static final String FROZEN = Long.toString(SettleTable.FROZEN.toMillis());

    private final Sql promote;
    private final Sql waitingLimits;
    private final Sql waitingKeys;
    private final Sql lockLimit;
    private final Sql admit;
    private final Sql lockNeeds;
    private final Sql findNeeds;
    private final Sql needsEnded;
    private final Sql meetNeeds;
    private final Sql release;

    GateTable(Schema schema) {
        promote = schema.sql(GateTable.class, "promote.sql");
        waitingLimits = schema.sql(GateTable.class, "waiting_limits.sql");
        waitingKeys = schema.sql(GateTable.class, "waiting_keys.sql");
        lockLimit = schema.sql(GateTable.class, "lock_limit.sql");
        admit = schema.sql(GateTable.class, "admit.sql");
        lockNeeds = schema.sql(GateTable.class, "lock_needs.sql");
        findNeeds = schema.sql(GateTable.class, "find_needs.sql");
        needsEnded = schema.sql(GateTable.class, "needs_ended.sql");
        meetNeeds = schema.sql(GateTable.class, "meet_needs.sql");
        release = schema.sql(GateTable.class, "release.sql");
    }

    /** How many jobs were let go because of their time, and the last of their times. */
    record Promoted(int jobs, @Nullable Instant lastAt) {}

    /** How many jobs of a key were let through. */
    record Admitted(String key, long jobs) {}

    /** What somebody needs, and the word for how it ended; null while it has not. */
    record Needed(long need, @Nullable String ended) {}

    /** A job one of whose needs was met, or that is to be cancelled; its row is locked. */
    record Met(long jobId, boolean cancelled) {}

    /** {@code since}: null for all times. */
    Promoted promote(Connection tx, @Nullable Instant since, int limit) {
        return promote.on(tx).set("since", since).set("limit", limit).one(row -> {
            OffsetDateTime lastAt = row.getObject(2, OffsetDateTime.class);
            return new Promoted(row.getInt(1), lastAt == null ? null : lastAt.toInstant());
        });
    }

    List<String> waitingLimits(Connection tx, String after, int limit) {
        return waitingLimits.on(tx).set("after", after).set("limit", limit).list(row -> row.getString(1));
    }

    List<String> waitingKeys(Connection tx, String name, String after, int limit) {
        return waitingKeys
                .on(tx)
                .set("name", name)
                .set("after", after)
                .set("limit", limit)
                .list(row -> row.getString(1));
    }

    boolean lockLimit(Connection tx, String name) {
        return lockLimit.on(tx).set("name", name).set("patience", FROZEN).one(row -> row.getBoolean(1));
    }

    List<Admitted> admit(Connection tx, String name, List<String> keys, int limit) {
        return admit.on(tx)
                .set("name", name)
                .set("keys", keys.toArray(String[]::new))
                .set("limit", limit)
                .list(row -> new Admitted(row.getString(1), row.getLong(2)));
    }

    boolean lockNeeds(Connection tx) {
        return lockNeeds.on(tx).set("patience", FROZEN).one(row -> row.getBoolean(1));
    }

    /** In their order; one for which many jobs wait is there as often. */
    List<Long> findNeeds(Connection tx, boolean ofBatch, long after, int limit) {
        return findNeeds
                .on(tx)
                .set("of_batch", Boolean.toString(ofBatch))
                .set("after", after)
                .set("limit", limit)
                .list(row -> row.getLong(1));
    }

    List<Needed> needsEnded(Connection tx, boolean ofBatch, List<Long> needs) {
        return needsEnded
                .on(tx)
                .set("of_batch", Boolean.toString(ofBatch))
                .set("needs", needs.toArray(Long[]::new))
                .list(row -> new Needed(row.getLong(1), row.getString(2)));
    }

    List<Met> meetNeeds(Connection tx, boolean ofBatch, List<Needed> ended, int limit) {
        return meetNeeds
                .on(tx)
                .set("of_batch", Boolean.toString(ofBatch))
                .set("needs", ended.stream().mapToLong(Needed::need).toArray())
                .set("ended", ended.stream().map(Needed::ended).toArray(String[]::new))
                .set("limit", limit)
                .list(row -> new Met(row.getLong(1), row.getBoolean(2)));
    }

    int release(Connection tx, long[] ids) {
        return release.on(tx).set("ids", ids).update();
    }
}
