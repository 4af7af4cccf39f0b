package io.postroom.source;

import io.postroom.deadletter.DeadLetterFilter;
import io.postroom.deadletter.OrderConflicts;
import io.postroom.deadletter.Redriver;
import io.postroom.postgres.Schema;
import io.postroom.postgres.Sql;
import java.sql.Connection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * Puts the dead letters of sources back: each waits in a table until a process of its consumer applies it, and those of a key are applied in
 * their order. What has come since of the same key was applied; a consumer that minds compares versions.
 *
 * <p>Safe for use by many threads.
 */
public final class SourceRedriver implements Redriver {
    private final Sql keep;
    private final Sql lock;
    private final Sql refusals;
    private final Sql earlier;
    private final Sql putBack;
    private final Sql underway;

    public SourceRedriver(Schema schema) {
        keep = schema.sql(SourceRedriver.class, "keep_subscriptions.sql");
        lock = schema.sql(SourceRedriver.class, "lock_letters.sql");
        refusals = schema.sql(SourceRedriver.class, "refusals.sql");
        earlier = DeadLetterFilter.statement(schema, SourceRedriver.class, "earlier.sql");
        putBack = schema.sql(SourceRedriver.class, "put_back.sql");
        underway = schema.sql(SourceRedriver.class, "underway.sql");
    }

    @Override
    public String source() {
        return Reception.KAFKA;
    }

    @Override
    public void lock(Connection tx, long[] ids) {
        // First: whoever moves a subscription locks it before its dead letters, too.
        keep.on(tx).set("ids", ids).list(row -> row.getString(1));
        lock.on(tx).set("ids", ids).list(row -> row.getLong(1));
    }

    @Override
    public Map<Long, String> refusals(Connection tx, long[] ids) {
        Map<Long, String> reasons = new HashMap<>();
        refusals.on(tx).set("ids", ids).list(row -> reasons.put(row.getLong(1), row.getString(2)));
        return reasons;
    }

    @Override
    public List<Long> earlier(Connection tx, DeadLetterFilter filter, long[] found, Stretch stretch) {
        return filter.on(earlier.on(tx))
                .set("found", found)
                .set("after", stretch.after())
                .set("last", stretch.last())
                .set("up_to", stretch.upTo())
                .set("past", stretch.past())
                .set("limit", stretch.limit())
                .list(row -> row.getLong(1));
    }

    @Override
    public void redrive(Connection tx, long[] ids) {
        int changed = putBack.on(tx).set("ids", ids).update();
        if (changed != ids.length) {
            // Never half of it: the step is undone, and the next one looks again.
            throw new IllegalStateException(changed + " of " + ids.length + " dead letters were put back");
        }
    }

    /** Nothing waits for them. */
    @Override
    public void discard(Connection tx, long[] ids) {}

    @Override
    public long underway(Connection tx, UUID redrive) {
        return underway.on(tx).set("redrive", redrive).one(row -> row.getLong(1));
    }

    /** What came later was applied, as always. */
    @Override
    public OrderConflicts conflicts(Connection tx, DeadLetterFilter filter, long entriesMax) {
        return OrderConflicts.NONE;
    }

    /** Sources look every second. */
    @Override
    public void wake(Connection tx) {}
}
