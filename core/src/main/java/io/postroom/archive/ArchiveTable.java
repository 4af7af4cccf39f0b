package io.postroom.archive;

import io.postroom.journal.ArchiveDays;
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
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The archive: one method per statement, no decisions. */
final class ArchiveTable {
    private final Sql step;
    private final Sql listDue;
    private final Sql list;
    private final Sql listDroppable;
    private final Sql findNeeds;
    private final Sql drop;
    private final Sql countDays;
    private final Sql takeTime;
    private final Sql find;
    private final Sql findEndBefore;
    private final ArchiveDays days;

    ArchiveTable(Schema schema) {
        step = schema.sql(ArchiveTable.class, "step.sql");
        listDue = schema.sql(ArchiveTable.class, "list_due.sql");
        list = schema.sql(ArchiveTable.class, "list.sql");
        listDroppable = schema.sql(ArchiveTable.class, "list_droppable.sql");
        findNeeds = schema.sql(ArchiveTable.class, "find_needs.sql");
        drop = schema.sql(ArchiveTable.class, "drop.sql");
        countDays = schema.sql(ArchiveTable.class, "count_days.sql");
        takeTime = schema.sql(ArchiveTable.class, "take_time.sql");
        find = schema.sql(ArchiveTable.class, "find.sql");
        findEndBefore = schema.sql(ArchiveTable.class, "find_end_before.sql");
        days = new ArchiveDays(schema);
    }

    Optional<ArchiveStep> step(Connection tx, Duration olderThan) {
        return step.on(tx)
                .set("older_than", olderThan)
                .first(row -> new ArchiveStep(
                        row.getObject("day", LocalDate.class),
                        ArchiveStep.Outcome.valueOf(row.getString("outcome").toUpperCase(Locale.ROOT)),
                        row.getString("need")));
    }

    List<HotDay> listDue(Connection tx, Duration olderThan, int limit) {
        return listDue.on(tx)
                .set("older_than", olderThan)
                .set("limit", limit)
                .list(row -> new HotDay(
                        row.getObject("day", LocalDate.class), row.getLong("passed_at"), row.getString("need")));
    }

    List<ArchivedDay> list(Connection tx, boolean dropped, int limit) {
        return list.on(tx)
                .set("dropped", Boolean.toString(dropped))
                .set("limit", limit)
                .list(ArchiveTable::day);
    }

    Optional<ArchivedDay> find(Connection tx, LocalDate day) {
        return find.on(tx).set("day", day).first(ArchiveTable::day);
    }

    long findEndBefore(Connection tx, LocalDate day) {
        return findEndBefore.on(tx).set("day", day).one(row -> row.getLong(1));
    }

    private static ArchivedDay day(ResultSet row) throws SQLException {
        return new ArchivedDay(
                row.getObject("day", LocalDate.class),
                position(row, "first_position"),
                position(row, "last_position"),
                row.getLong("passed_at"),
                row.getLong("bytes"),
                row.getObject("archived_at", OffsetDateTime.class).toInstant(),
                instant(row.getObject("dropped_at", OffsetDateTime.class)));
    }

    private static @Nullable Long position(ResultSet row, String column) throws SQLException {
        long position = row.getLong(column);
        return row.wasNull() ? null : position;
    }

    private static @Nullable Instant instant(@Nullable OffsetDateTime time) {
        return time == null ? null : time.toInstant();
    }

    List<LocalDate> listDroppable(Connection tx, Duration kept, int limit) {
        return listDroppable
                .on(tx)
                .set("kept", kept)
                .set("limit", limit)
                .list(row -> row.getObject("day", LocalDate.class));
    }

    DayCount count(Connection tx, Duration olderThan, Duration kept) {
        return countDays
                .on(tx)
                .set("older_than", olderThan)
                .set("kept", kept)
                .one(row -> new DayCount(row.getLong("archived"), row.getLong("stuck"), row.getLong("undropped")));
    }

    /** Who needs an archived day, and which is the oldest. */
    record Needs(@Nullable String need, LocalDate oldest) {}

    Optional<Needs> findNeeds(Connection tx, LocalDate day) {
        return findNeeds
                .on(tx)
                .set("day", day)
                .first(row -> new Needs(row.getString("need"), row.getObject("oldest", LocalDate.class)));
    }

    void keep(Connection tx) {
        days.keep(tx);
    }

    /** No statement of this transaction is ended because it takes long. */
    void takeTime(Connection tx) {
        takeTime.on(tx).one(row -> true);
    }

    /** What became of a day that was to be dropped. */
    record Dropped(String outcome, @Nullable String need) {}

    Dropped drop(Connection tx, LocalDate day) {
        return drop.on(tx).set("day", day).one(row -> new Dropped(row.getString("outcome"), row.getString("need")));
    }
}
