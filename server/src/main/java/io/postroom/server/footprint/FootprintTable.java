package io.postroom.server.footprint;

import io.postroom.postgres.Schema;
import io.postroom.postgres.Sql;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The catalogs as the footprint reads them: one method per statement. */
public final class FootprintTable {
    private final Schema schema;
    private final Sql listTables;
    private final Sql listHolders;
    private final Sql listDays;

    public FootprintTable(Schema schema) {
        this.schema = schema;
        listTables = schema.sql(FootprintTable.class, "list_tables.sql");
        listHolders = schema.sql(FootprintTable.class, "list_holders.sql");
        listDays = schema.sql(FootprintTable.class, "list_days.sql");
    }

    public List<TableSize> tables(Connection tx) {
        return listTables
                .on(tx)
                .set("schema", schema.name())
                .list(row -> new TableSize(
                        row.getString("name"),
                        row.getInt("partitions"),
                        row.getLong("bytes"),
                        row.getLong("index_bytes"),
                        row.getLong("live"),
                        row.getLong("dead"),
                        instant(row, "vacuumed_at")));
    }

    public List<Holder> holders(Connection tx, int limit) {
        return listHolders
                .on(tx)
                .set("limit", limit)
                .list(row -> new Holder(
                        row.getString("kind"),
                        row.getString("name"),
                        row.getString("application"),
                        row.getString("state"),
                        seconds(row, "seconds"),
                        row.getLong("behind")));
    }

    public List<DayPartition> days(Connection tx) {
        return listDays.on(tx)
                .set("schema", schema.name())
                .list(row -> new DayPartition(
                        row.getString("name"),
                        row.getInt("partitions"),
                        row.getObject("first", LocalDate.class),
                        row.getObject("last", LocalDate.class),
                        row.getInt("days_ahead")));
    }

    private static @Nullable Instant instant(ResultSet row, String column) throws SQLException {
        OffsetDateTime time = row.getObject(column, OffsetDateTime.class);
        return time == null ? null : time.toInstant();
    }

    private static @Nullable Duration seconds(ResultSet row, String column) throws SQLException {
        double seconds = row.getDouble(column);
        return row.wasNull() ? null : Duration.ofMillis(Math.round(seconds * 1000));
    }
}
