package io.postroom.job;

import io.postroom.postgres.Schema;
import io.postroom.postgres.Sql;
import io.postroom.retry.Fault;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/** How claims end: one method per statement, no decisions. Lists are in the order of ids. Never commits. */
final class SettleTable {
    /** For whoever has a job locked: claims, cancellations and rescues take no longer than a moment. */
    static final Duration PATIENCE = Duration.ofMillis(500);

    /** How long a process that freezes in the middle of a transaction may keep rows locked. */
    static final Duration FROZEN = Duration.ofSeconds(10);

    private final Sql complete;
    private final Sql lockMine;
    private final Sql end;
    private final Sql putBack;
    private final Sql handBack;
    private final Sql noteAttempts;
    private final Sql bury;
    private final Sql completeOne;
    private final Sql boundTransaction;

    SettleTable(Schema schema) {
        complete = schema.sql(SettleTable.class, "complete.sql");
        lockMine = schema.sql(SettleTable.class, "lock_mine.sql");
        end = schema.sql(SettleTable.class, "end.sql");
        putBack = schema.sql(SettleTable.class, "put_back.sql");
        handBack = schema.sql(SettleTable.class, "hand_back.sql");
        noteAttempts = schema.sql(SettleTable.class, "note_attempts.sql");
        bury = schema.sql(SettleTable.class, "bury.sql");
        completeOne = schema.sql(SettleTable.class, "complete_one.sql");
        boundTransaction = schema.sql(SettleTable.class, "bound_transaction.sql");
    }

    /** A job that ends, and how. */
    record End(
            long id,
            String state,
            @Nullable String result,
            @Nullable Fault fault,
            boolean counted) {}

    /** A job that goes on. */
    record Back(long id, long waitMicros, boolean counted, boolean crashed) {}

    /** An attempt for the history, and who made it; without a duration, it has lasted since the claim. */
    record Noted(long id, Verdict.Note note, @Nullable Long tookMicros, String worker) {}

    /** A job that becomes a dead letter. */
    record Burial(long id, String cause, int attempts, Fault fault) {}

    /** The ids of those that were still theirs who claimed them. Fails if one of them is locked for longer than {@link #PATIENCE}. */
    Set<Long> complete(Connection tx, List<ClaimedJob> jobs, String endedBy) {
        return new HashSet<>(complete.on(tx)
                .set("ids", longs(jobs, ClaimedJob::id))
                .set("fences", longs(jobs, ClaimedJob::fence))
                .set("ended_by", endedBy)
                .set("patience", Long.toString(PATIENCE.toMillis()))
                .list(row -> row.getLong(1)));
    }

    /** Those that are still theirs who claimed them and that nobody has locked, and whether they are to be cancelled. */
    Map<Long, Boolean> lockMine(Connection tx, List<ClaimedJob> jobs) {
        Map<Long, Boolean> mine = new HashMap<>();
        lockMine.on(tx)
                .set("ids", longs(jobs, ClaimedJob::id))
                .set("fences", longs(jobs, ClaimedJob::fence))
                .set("patience", Long.toString(FROZEN.toMillis()))
                .list(row -> mine.put(row.getLong(1), row.getBoolean(2)));
        return mine;
    }

    int end(Connection tx, List<End> ends, String endedBy) {
        return end.on(tx)
                .set("ids", longs(ends, End::id))
                .set("states", column(ends, End::state, String[]::new))
                .set("results", column(ends, End::result, String[]::new))
                .set("error_classes", faults(ends, End::fault, Fault::errorClass))
                .set("errors", faults(ends, End::fault, Fault::message))
                .set("fingerprints", faults(ends, End::fault, Fault::fingerprint))
                .set("refunds", column(ends, each -> each.counted() ? 0 : 1, Integer[]::new))
                .set("ended_by", endedBy)
                .update();
    }

    int putBack(Connection tx, List<Back> jobs) {
        return putBack.on(tx)
                .set("ids", longs(jobs, Back::id))
                .set("waits", longs(jobs, Back::waitMicros))
                .set("refunds", column(jobs, each -> each.counted() ? 0 : 1, Integer[]::new))
                .set("crashes", column(jobs, each -> each.crashed() ? 1 : 0, Integer[]::new))
                .update();
    }

    int handBack(Connection tx, List<Long> ids) {
        return handBack.on(tx).set("ids", longs(ids, id -> id)).update();
    }

    void noteAttempts(Connection tx, List<Noted> attempts) {
        noteAttempts
                .on(tx)
                .set("ids", longs(attempts, Noted::id))
                .set("outcomes", column(attempts, each -> each.note().outcome(), String[]::new))
                .set("durations", column(attempts, Noted::tookMicros, Long[]::new))
                .set("error_classes", faults(attempts, each -> each.note().fault(), Fault::errorClass))
                .set("errors", faults(attempts, each -> each.note().fault(), Fault::message))
                .set("fingerprints", faults(attempts, each -> each.note().fault(), Fault::fingerprint))
                .set("workers", column(attempts, Noted::worker, String[]::new))
                .update();
    }

    void bury(Connection tx, List<Burial> burials, String worker) {
        bury.on(tx)
                .set("ids", longs(burials, Burial::id))
                .set("causes", column(burials, Burial::cause, String[]::new))
                .set("attempts", column(burials, Burial::attempts, Integer[]::new))
                .set("error_classes", faults(burials, Burial::fault, Fault::errorClass))
                .set("errors", faults(burials, Burial::fault, Fault::message))
                .set("fingerprints", faults(burials, Burial::fault, Fault::fingerprint))
                .set("worker", worker)
                .update();
    }

    /** Bounds the transaction of a handler; returns when it was begun. */
    Instant boundTransaction(Connection tx, Duration deadline) {
        return boundTransaction
                .on(tx)
                .set("millis", Long.toString(Math.max(1, deadline.toMillis())))
                .one(row -> row.getObject(1, OffsetDateTime.class).toInstant());
    }

    /** Whether the job was still its worker's, and the transaction the one that was begun then. */
    boolean completeOne(Connection tx, ClaimedJob job, @Nullable String result, String endedBy, Instant began) {
        return completeOne
                        .on(tx)
                        .set("id", job.id())
                        .set("fence", job.fence())
                        .set("result", result)
                        .set("ended_by", endedBy)
                        .set("began", began)
                        .update()
                > 0;
    }

    private static <R> long[] longs(List<R> rows, ToLongFunction<R> value) {
        return rows.stream().mapToLong(value).toArray();
    }

    private static <R> @Nullable String[] faults(
            List<R> rows, Function<R, @Nullable Fault> fault, Function<Fault, String> part) {
        return column(
                rows,
                row -> {
                    Fault found = fault.apply(row);
                    return found == null ? null : part.apply(found);
                },
                String[]::new);
    }

    private static <R, T extends @Nullable Object> T[] column(
            List<R> rows, Function<R, T> value, IntFunction<T[]> array) {
        T[] values = array.apply(rows.size());
        for (int i = 0; i < values.length; i++) {
            values[i] = value.apply(rows.get(i));
        }
        return values;
    }
}
