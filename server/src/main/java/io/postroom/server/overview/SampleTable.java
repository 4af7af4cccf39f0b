package io.postroom.server.overview;

import io.postroom.postgres.Schema;
import io.postroom.postgres.Sql;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** What the overview asks besides the subscriptions: one method per statement. */
final class SampleTable {
    private final Sql readDelays;
    private final Sql readFooting;
    private final Sql readWork;
    private final Sql readPast;
    private final Sql findStamps;
    private final Sql readPastDelays;
    private final Schema schema;

    SampleTable(Schema schema) {
        this.schema = schema;
        readDelays = schema.sql(SampleTable.class, "read_delays.sql");
        readFooting = schema.sql(SampleTable.class, "read_footing.sql");
        readWork = schema.sql(SampleTable.class, "read_work.sql");
        readPast = schema.sql(SampleTable.class, "read_past.sql");
        findStamps = schema.sql(SampleTable.class, "find_stamps.sql");
        readPastDelays = schema.sql(SampleTable.class, "read_past_delays.sql");
    }

    /** From stamp to settlement, for the messages of the last settlements of the last minute. */
    List<Delay> delays(Connection tx, int limit) {
        return readDelays.on(tx).set("limit", limit).list(SampleTable::stretch).stream()
                .flatMap(List::stream)
                .toList();
    }

    private static Duration seconds(ResultSet row, String column) throws SQLException {
        return Duration.ofNanos(Math.max(0, Math.round(row.getDouble(column) * 1e9)));
    }

    Footing footing(Connection tx) {
        return readFooting.on(tx).set("outbox", schema.name() + ".outbox").one(row -> {
            int pid = row.getInt("pid");
            return new Footing(
                    row.getInt("relays"),
                    row.getInt("days_ahead"),
                    Duration.ofMillis(Math.round(row.getDouble("seconds") * 1000)),
                    pid == 0 ? null : pid,
                    row.getString("application"),
                    row.getLong("wal_bytes"));
        });
    }

    /** How far everything had come during the last hour. */
    List<Past.Reached> past(Connection tx, int rowsMax) {
        return readPast.on(tx)
                .set("rows_max", rowsMax)
                .list(row -> new Past.Reached(
                        row.getString("subscription"),
                        row.getInt("lane"),
                        row.getLong("position"),
                        time(row, "at"),
                        time(row, "settled_at")));
    }

    /** When the first message after each of these positions was stamped; nothing of those that nothing came after. */
    Map<Long, Instant> stamps(Connection tx, long[] positions) {
        Map<Long, Instant> stamps = new HashMap<>();
        findStamps
                .on(tx)
                .set("positions", positions)
                .list(row -> Map.entry(row.getLong("position"), Objects.requireNonNull(time(row, "at"))))
                .forEach(stamp -> stamps.put(stamp.getKey(), stamp.getValue()));
        return stamps;
    }

    /** From stamp to settlement, for some of the last settlements before the end of each half minute of the last hour. */
    Map<Instant, List<Delay>> pastDelays(Connection tx, int limit) {
        Map<Instant, List<Delay>> delays = new HashMap<>();
        readPastDelays
                .on(tx)
                .set("limit", limit)
                .list(row -> Map.entry(Objects.requireNonNull(time(row, "at")), stretch(row)))
                .forEach(settled -> delays.computeIfAbsent(settled.getKey(), ignored -> new ArrayList<>())
                        .addAll(settled.getValue()));
        return delays;
    }

    private static List<Delay> stretch(ResultSet row) throws SQLException {
        return Delay.stretch(
                seconds(row, "newest_seconds"), seconds(row, "oldest_seconds"), Math.max(1, row.getLong("messages")));
    }

    private static @Nullable Instant time(ResultSet row, String column) throws SQLException {
        OffsetDateTime at = row.getObject(column, OffsetDateTime.class);
        return at == null ? null : at.toInstant();
    }

    Work work(Connection tx) {
        return readWork.on(tx)
                .set("count_max", Work.COUNT_MAX)
                .set("names_max", Work.NAMES_MAX)
                .one(row -> new Work(
                        row.getLong("failed_jobs"),
                        List.of((String[]) row.getArray("unserved").getArray()),
                        List.of((String[]) row.getArray("failing_views").getArray())));
    }
}
