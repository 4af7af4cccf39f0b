package io.postroom.journal;

import io.postroom.message.Message;
import io.postroom.outbox.MessageRow;
import io.postroom.postgres.Schema;
import io.postroom.postgres.Sql;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** The journal: one method per statement, no decisions. */
final class JournalTable {
    private final Sql stamp;
    private final Sql restamp;
    private final Sql readEntries;
    private final Sql readMessages;
    private final Sql findArchivedDay;
    private final Sql readArchivedEntries;
    private final Sql readArchivedMessages;
    private final Sql positionAt;
    private final Sql lastTick;
    private final Sql dayOf;
    private final Sql keptAfter;

    JournalTable(Schema schema) {
        stamp = schema.sql(JournalTable.class, "stamp.sql");
        restamp = schema.sql(JournalTable.class, "restamp.sql");
        readEntries = schema.sql(JournalTable.class, "read_entries.sql");
        readMessages = schema.sql(JournalTable.class, "read_messages.sql");
        findArchivedDay = schema.sql(JournalTable.class, "find_archived_day.sql");
        readArchivedEntries = schema.sql(JournalTable.class, "read_archived_entries.sql");
        readArchivedMessages = schema.sql(JournalTable.class, "read_archived_messages.sql");
        positionAt = schema.sql(JournalTable.class, "position_at.sql");
        lastTick = schema.sql(JournalTable.class, "last_tick.sql");
        dayOf = schema.sql(JournalTable.class, "day_of.sql");
        keptAfter = schema.sql(JournalTable.class, "kept_after.sql");
    }

    /** The narrow part of a message: where it is, and how much of it there is. */
    record Entry(long position, LocalDate day, long seq, LocalDate outboxDay, int bytes, int keyHash, boolean mine) {
        /** Where its message lies. */
        Journal.Place place() {
            return new Journal.Place(seq, outboxDay);
        }
    }

    /** A message, and how long it must still wait. */
    record Due(Message message, Duration early) {}

    Stamp stamp(Connection tx, int batchMax, String seen) {
        return stamp.on(tx).set("batch_max", batchMax).set("seen", seen).one(row -> {
            LocalDate day = row.getObject("last_day", LocalDate.class);
            return new Stamp(
                    Stamp.State.valueOf(row.getString("state").toUpperCase(Locale.ROOT)),
                    row.getLong("stamped"),
                    row.getLong("last_position"),
                    day == null ? LocalDate.MIN : day,
                    row.getString("looked_at"));
        });
    }

    long restamp(Connection tx) {
        return restamp.on(tx).one(row -> row.getLong("restamped"));
    }

    List<Entry> readEntries(Connection tx, LanePosition from, Head head, int lanes, int lane, int limit) {
        return readEntries
                .on(tx)
                .set("after", from.position())
                .set("up_to", head.position())
                .set("first_day", from.day())
                .set("last_day", head.day())
                .set("lanes", lanes)
                .set("lane", lane)
                .set("limit", limit)
                .list(JournalTable::entry);
    }

    /** A day that is archived, up to which position it goes, and whether it was dropped since. */
    record ArchivedDay(LocalDate day, long lastPosition, boolean dropped) {}

    Optional<ArchivedDay> findArchivedDay(Connection tx, long position) {
        return findArchivedDay
                .on(tx)
                .set("position", position)
                .first(row -> new ArchivedDay(row.getObject(1, LocalDate.class), row.getLong(2), row.getBoolean(3)));
    }

    List<Entry> readArchivedEntries(
            Connection tx, LocalDate day, long after, long upTo, int lanes, int lane, int limit) {
        return readArchivedEntries
                .on(tx)
                .set("after", after)
                .set("up_to", upTo)
                .set("day", day)
                .set("lanes", lanes)
                .set("lane", lane)
                .set("limit", limit)
                .list(JournalTable::entry);
    }

    private static Entry entry(ResultSet row) throws SQLException {
        return new Entry(
                row.getLong(1),
                row.getObject(2, LocalDate.class),
                row.getLong(3),
                row.getObject(4, LocalDate.class),
                row.getInt(5),
                row.getInt(6),
                row.getBoolean(7));
    }

    /**
     * Messages by place: in a copy whose sequence was lost, two days may have one seq. Those that the filter leaves out are missing; there
     * may be others that have a seq of these entries on another of their days.
     */
    Map<Journal.Place, Due> readMessages(Connection tx, List<Journal.Place> entries, Filter filter) {
        return readMessages(readMessages, tx, entries, filter);
    }

    /** The same of those that are archived. */
    Map<Journal.Place, Due> readArchivedMessages(Connection tx, List<Journal.Place> entries, Filter filter) {
        return readMessages(readArchivedMessages, tx, entries, filter);
    }

    private static Map<Journal.Place, Due> readMessages(
            Sql sql, Connection tx, List<Journal.Place> entries, Filter filter) {
        long[] seqs = entries.stream().mapToLong(Journal.Place::seq).toArray();
        LocalDate firstDay = entries.stream()
                .map(Journal.Place::day)
                .min(LocalDate::compareTo)
                .orElseThrow();
        LocalDate lastDay = entries.stream()
                .map(Journal.Place::day)
                .max(LocalDate::compareTo)
                .orElseThrow();
        boolean oneDay = firstDay.equals(lastDay);
        Map<Journal.Place, Due> messages = new HashMap<>(entries.size() * 2);
        sql.on(tx)
                .set("seqs", seqs)
                .set("first_day", firstDay)
                .set("last_day", lastDay)
                .set("aggregate_types", filter.aggregateTypesOrNull())
                .set("event_types", filter.eventTypesOrNull())
                .set("tenants", filter.tenantsOrNull())
                .list(row -> messages.put(
                        // Mostly they are of one day, and a date takes its time to read.
                        new Journal.Place(row.getLong(1), oneDay ? firstDay : row.getObject(14, LocalDate.class)),
                        new Due(MessageRow.readPublished(row, 2), early(row))));
        return messages;
    }

    private static Duration early(ResultSet row) throws SQLException {
        long micros = row.getLong(13);
        return micros <= 0 ? Duration.ZERO : Duration.of(micros, ChronoUnit.MICROS);
    }

    Optional<Head> positionAt(Connection tx, Instant at) {
        return positionAt.on(tx).set("at", at).first(JournalTable::head);
    }

    Head lastTick(Connection tx) {
        return lastTick.on(tx).one(JournalTable::head);
    }

    LocalDate dayOf(Connection tx, long position) {
        return dayOf.on(tx).set("position", position).one(row -> row.getObject(1, LocalDate.class));
    }

    long keptAfter(Connection tx) {
        return keptAfter.on(tx).one(row -> row.getLong(1));
    }

    private static Head head(ResultSet row) throws SQLException {
        return new Head(row.getLong(1), row.getObject(2, LocalDate.class));
    }
}
