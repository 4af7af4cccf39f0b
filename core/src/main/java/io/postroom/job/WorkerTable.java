package io.postroom.job;

import io.postroom.postgres.Schema;
import io.postroom.postgres.Sql;
import java.sql.Connection;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;

/** The workers, and what each looks up about its own jobs: one method per statement, no decisions. */
final class WorkerTable {
    private final Sql beat;
    private final Sql withdraw;
    private final Sql begin;
    private final Sql look;
    private final Sql noteProgress;

    WorkerTable(Schema schema) {
        beat = schema.sql(WorkerTable.class, "beat.sql");
        withdraw = schema.sql(WorkerTable.class, "withdraw.sql");
        begin = schema.sql(WorkerTable.class, "begin.sql");
        look = schema.sql(WorkerTable.class, "look.sql");
        noteProgress = schema.sql(WorkerTable.class, "note_progress.sql");
    }

    void beat(Connection tx, WorkerSettings worker, String host) {
        beat.on(tx)
                .set("id", worker.id())
                .set("name", worker.name())
                .set("host", host)
                .set("queues", worker.queues().toArray(String[]::new))
                .set("lease", worker.lease())
                .update();
    }

    void withdraw(Connection tx, WorkerSettings worker) {
        withdraw.on(tx).set("id", worker.id()).update();
    }

    /** Whether the job is still this claim's. */
    boolean begin(Connection tx, ClaimedJob job) {
        return begin.on(tx).set("id", job.id()).set("fence", job.fence()).update() > 0;
    }

    /** Those that are still these claims', and whether they are to be cancelled. Each job once: of several claims, the last may be. */
    Map<Long, Boolean> look(Connection tx, Collection<ClaimedJob> jobs) {
        List<ClaimedJob> sorted =
                jobs.stream().sorted(Comparator.comparingLong(ClaimedJob::id)).toList();
        Map<Long, Boolean> mine = new HashMap<>();
        look.on(tx)
                .set("ids", sorted.stream().mapToLong(ClaimedJob::id).toArray())
                .set("fences", sorted.stream().mapToLong(ClaimedJob::fence).toArray())
                .list(row -> mine.put(row.getLong(1), row.getBoolean(2)));
        return mine;
    }

    /** The ids of those whose progress was noted. */
    Set<Long> noteProgress(Connection tx, SortedMap<ClaimedJob, String> said) {
        return new HashSet<>(noteProgress
                .on(tx)
                .set("ids", said.keySet().stream().mapToLong(ClaimedJob::id).toArray())
                .set(
                        "fences",
                        said.keySet().stream().mapToLong(ClaimedJob::fence).toArray())
                .set("progress", said.values().toArray(String[]::new))
                .list(row -> row.getLong(1)));
    }
}
