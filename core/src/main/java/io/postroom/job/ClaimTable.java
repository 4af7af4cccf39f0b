package io.postroom.job;

import io.postroom.postgres.Call;
import io.postroom.postgres.Schema;
import io.postroom.postgres.Sql;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.UUID;

/** The jobs as a claimer sees them: one method per statement, no decisions. */
final class ClaimTable {
    /** How long a claimed job may wait in its worker before its deadline counts against it. */
    static final Duration SLACK = Duration.ofMinutes(1);

    /** Of payloads and headers, in one claim; a single job may have more. */
    static final long BYTES_MAX = 4L * 1_048_576;

    private final Sql claim;
    private final Sql claimOnward;
    private final Sql findUnknown;
    private final UUID worker;
    private final String[] kinds;
    private final Integer[] attemptsMax;
    private final Long[] deadlines;

    ClaimTable(Schema schema, UUID worker, Collection<Kind> handled) {
        claim = schema.sql(ClaimTable.class, "claim.sql");
        claimOnward = schema.sql(ClaimTable.class, "claim_onward.sql");
        findUnknown = schema.sql(ClaimTable.class, "find_unknown.sql");
        this.worker = worker;
        kinds = handled.stream().map(Kind::name).toArray(String[]::new);
        attemptsMax = handled.stream().map(kind -> kind.retry().attemptsMax()).toArray(Integer[]::new);
        deadlines = handled.stream().map(kind -> kind.deadline().toMillis()).toArray(Long[]::new);
    }

    /** In the order in which they are to be run. */
    List<ClaimedJob> claim(Connection tx, String queue, int limit) {
        return claimed(claim.on(tx), queue, limit);
    }

    /** The same, beyond the turns given for each priority. */
    List<ClaimedJob> claimOnward(Connection tx, String queue, SortedMap<Integer, Long> turns, int limit) {
        Call call = claimOnward
                .on(tx)
                .set("priorities", turns.keySet().toArray(Integer[]::new))
                .set("turns", turns.values().stream().mapToLong(Long::longValue).toArray());
        return claimed(call, queue, limit);
    }

    /** What this worker has claimed without knowing, and whether it is to be cancelled; {@code known} has the fence of each job. */
    Map<Long, Boolean> findUnknown(Connection tx, SortedMap<Long, Long> known, int limit) {
        Map<Long, Boolean> unknown = new HashMap<>();
        findUnknown
                .on(tx)
                .set("worker", worker)
                .set("ids", known.keySet().stream().mapToLong(Long::longValue).toArray())
                .set(
                        "fences",
                        known.values().stream().mapToLong(Long::longValue).toArray())
                .set("limit", limit)
                .set("patience", Long.toString(SettleTable.FROZEN.toMillis()))
                .list(row -> unknown.put(row.getLong(1), row.getBoolean(2)));
        return unknown;
    }

    private List<ClaimedJob> claimed(Call call, String queue, int limit) {
        long asked = System.nanoTime();
        return call
                .set("queue", queue)
                .set("limit", limit)
                .set("bytes_max", BYTES_MAX)
                .set("worker", worker)
                .set("kinds", kinds)
                .set("attempts_max", attemptsMax)
                .set("deadlines", deadlines)
                .set("slack", SLACK)
                .list(row -> job(queue, asked, row))
                .stream()
                .sorted(Comparator.comparingInt(ClaimedJob::priority).thenComparingLong(ClaimedJob::turn))
                .toList();
    }

    private static ClaimedJob job(String queue, long asked, ResultSet row) throws SQLException {
        int attemptsMax = row.getInt(10);
        Integer attemptsMaxOrNull = row.wasNull() ? null : attemptsMax;
        long deadlineMillis = row.getLong(11);
        Duration deadlineOrNull = row.wasNull() ? null : Duration.ofMillis(deadlineMillis);
        String limitName = row.getString(14);
        return new ClaimedJob(
                row.getLong(1),
                row.getLong(12),
                queue,
                row.getString(2),
                row.getInt(3),
                row.getLong(4),
                row.getString(5),
                row.getString(6),
                row.getString(7),
                row.getInt(8),
                row.getBoolean(13),
                row.getString(9),
                attemptsMaxOrNull,
                deadlineOrNull,
                limitName == null ? null : new LimitKey(limitName, row.getString(15)),
                row.getObject(16, Long.class),
                Duration.ofNanos(Math.max(0, row.getLong(17)) * 1_000),
                asked);
    }
}
