package io.postroom.server.overview;

import io.postroom.postgres.Schema;
import io.postroom.postgres.Sql;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.List;

/** What the overview asks besides the subscriptions: one method per statement. */
final class SampleTable {
    private final Sql readDelays;
    private final Sql readFooting;
    private final Sql readWork;
    private final Sql readPast;
    private final Schema schema;

    SampleTable(Schema schema) {
        this.schema = schema;
        readDelays = schema.sql(SampleTable.class, "read_delays.sql");
        readFooting = schema.sql(SampleTable.class, "read_footing.sql");
        readWork = schema.sql(SampleTable.class, "read_work.sql");
        readPast = schema.sql(SampleTable.class, "read_past.sql");
    }

    /** From stamp to settlement, for the messages of the last settlements of the last minute. */
    List<Delay> delays(Connection tx, int limit) {
        return readDelays
                .on(tx)
                .set("limit", limit)
                .list(row -> Delay.stretch(seconds(row, 1), seconds(row, 2), Math.max(1, row.getLong(3))))
                .stream()
                .flatMap(List::stream)
                .toList();
    }

    private static Duration seconds(ResultSet row, int column) throws SQLException {
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
        return readPast.on(tx).set("rows_max", rowsMax).list(row -> {
            OffsetDateTime at = row.getObject("at", OffsetDateTime.class);
            return new Past.Reached(
                    row.getString("subscription"),
                    row.getInt("lane"),
                    row.getLong("position"),
                    at == null ? null : at.toInstant());
        });
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
