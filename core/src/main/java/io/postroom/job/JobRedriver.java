package io.postroom.job;

import io.postroom.deadletter.DeadLetterFilter;
import io.postroom.deadletter.OrderConflicts;
import io.postroom.deadletter.Redriver;
import io.postroom.postgres.Schema;
import io.postroom.postgres.Sql;
import java.sql.Connection;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;

/**
 * Puts the dead letters of jobs back: each becomes the job that it was, with the same id, due at once, its attempts counted anew.
 *
 * <p>Safe for use by many threads.
 */
public final class JobRedriver implements Redriver {
    private final Sql lock;
    private final Sql refusals;
    private final Sql putBack;
    private final Sql underway;

    public JobRedriver(Schema schema) {
        lock = schema.sql(JobRedriver.class, "lock_letters.sql");
        refusals = schema.sql(JobRedriver.class, "refusals.sql");
        putBack = schema.sql(JobRedriver.class, "put_back_letters.sql");
        underway = schema.sql(JobRedriver.class, "underway.sql");
    }

    @Override
    public String source() {
        return "job";
    }

    @Override
    public void lock(Connection tx, long[] ids) {
        lock.on(tx).set("ids", ids).list(row -> row.getLong(1));
    }

    @Override
    public Map<Long, String> refusals(Connection tx, long[] ids) {
        Map<Long, String> reasons = new HashMap<>();
        refusals.on(tx).set("ids", ids).list(row -> reasons.put(row.getLong(1), row.getString(2)));
        return reasons;
    }

    @Override
    public void redrive(Connection tx, long[] ids) {
        int changed = putBack.on(tx).set("ids", ids).update();
        if (changed != ids.length) {
            // Never half of it: the step is undone, and the next one looks again.
            throw new IllegalStateException(changed + " of " + ids.length + " dead letters became jobs");
        }
    }

    /** Whoever waits for such a job is cancelled by the gate of a worker, which sees that its dead letter was discarded. */
    @Override
    public void discard(Connection tx, long[] ids) {}

    @Override
    public long underway(Connection tx, UUID redrive) {
        return underway.on(tx).set("redrive", redrive).one(row -> row.getLong(1));
    }

    /** Jobs have no order. */
    @Override
    public OrderConflicts conflicts(Connection tx, DeadLetterFilter filter, long entriesMax) {
        return OrderConflicts.NONE;
    }

    /** Workers look often enough. */
    @Override
    public void wake(Connection tx) {}
}
