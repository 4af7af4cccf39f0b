package io.postroom.diagnosis;

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
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Where to look for a message: one method per statement, no decisions. */
final class SearchTable {
    private final Sql begin;
    private final Sql bound;
    private final Sql listDays;
    private final Sql findTicks;
    private final Sql findBySeq;
    private final Sql findByDay;
    private final Sql findStamp;
    private final Sql lastTickBefore;
    private final Sql findEntry;

    SearchTable(Schema schema) {
        begin = schema.sql(SearchTable.class, "begin.sql");
        bound = schema.sql(SearchTable.class, "bound.sql");
        listDays = schema.sql(SearchTable.class, "list_days.sql");
        findTicks = schema.sql(SearchTable.class, "find_ticks.sql");
        findBySeq = schema.sql(SearchTable.class, "find_by_seq.sql");
        findByDay = schema.sql(SearchTable.class, "find_by_day.sql");
        findStamp = schema.sql(SearchTable.class, "find_stamp.sql");
        lastTickBefore = schema.sql(SearchTable.class, "last_tick_before.sql");
        findEntry = schema.sql(SearchTable.class, "find_entry.sql");
    }

    /** Days from the first on, before the last. */
    record Days(LocalDate first, LocalDate last) {
        boolean overlaps(Days other) {
            return first.isBefore(other.last) && other.first.isBefore(last);
        }
    }

    /** Some seqs: those after the first, up to the last. */
    record Seqs(long after, long to) {}

    /** What was drawn at the last tick before a time and at the first one after it. */
    record Ticks(@Nullable Long seqBefore, @Nullable Long seqAfter) {}

    /** A message in the outbox. */
    record Row(
            String xid,
            long seq,
            LocalDate day,
            Found.Key key,
            String eventType,
            int eventVersion,
            Instant occurredAt,
            @Nullable Instant availableAt) {}

    /** Positions after the first, up to the last, which is null if the message has not been stamped. */
    record Stretch(
            long after,
            LocalDate firstDay,
            @Nullable Long upTo,
            @Nullable LocalDate lastDay) {}

    record Entry(long position, int keyHash) {}

    /** Begins a transaction that sees one picture, each of whose statements is bounded, and tells the time. */
    Instant begin(Connection tx, Duration statementMax) {
        begin.on(tx).update();
        return bound.on(tx)
                .set("timeout", Long.toString(statementMax.toMillis()))
                .one(row -> Objects.requireNonNull(instant(row, "now")));
    }

    List<Days> days(Connection tx) {
        return listDays.on(tx)
                .list(row -> new Days(row.getObject("first", LocalDate.class), row.getObject("last", LocalDate.class)));
    }

    Ticks ticksAround(Connection tx, Instant at) {
        return findTicks
                .on(tx)
                .set("at", at)
                .one(row -> new Ticks(row.getObject("seq_before", Long.class), row.getObject("seq_after", Long.class)));
    }

    List<Row> findBySeq(Connection tx, UUID id, Days days, Seqs seqs, int limit) {
        return findBySeq
                .on(tx)
                .set("id", id)
                .set("first_day", days.first())
                .set("last_day", days.last())
                .set("seq_after", seqs.after())
                .set("seq_to", seqs.to())
                .set("limit", limit)
                .list(SearchTable::row);
    }

    List<Row> findByDay(Connection tx, UUID id, Days days, int limit) {
        return findByDay
                .on(tx)
                .set("id", id)
                .set("first_day", days.first())
                .set("last_day", days.last())
                .set("limit", limit)
                .list(SearchTable::row);
    }

    Stretch findStamp(Connection tx, Row row) {
        return findStamp
                .on(tx)
                .set("xid", row.xid())
                .set("seq", row.seq())
                .one(found -> new Stretch(
                        found.getLong("after_position"),
                        found.getObject("first_day", LocalDate.class),
                        found.getObject("position", Long.class),
                        found.getObject("last_day", LocalDate.class)));
    }

    /** Everything after the last tick that was made before a seq was drawn. */
    Stretch after(Connection tx, long seq) {
        return lastTickBefore
                .on(tx)
                .set("seq", seq)
                .one(found -> new Stretch(
                        found.getLong("position"),
                        found.getObject("day", LocalDate.class),
                        Long.MAX_VALUE,
                        LocalDate.MAX));
    }

    Optional<Entry> findEntry(Connection tx, Row row, Stretch stretch) {
        return findEntry
                .on(tx)
                .set("seq", row.seq())
                .set("outbox_day", row.day())
                .set("after", stretch.after())
                .set("up_to", Objects.requireNonNull(stretch.upTo()))
                .set("first_day", stretch.firstDay())
                .set("last_day", Objects.requireNonNull(stretch.lastDay()))
                .first(found -> new Entry(found.getLong("position"), found.getInt("key_hash")));
    }

    private static Row row(ResultSet row) throws SQLException {
        return new Row(
                row.getString("xid"),
                row.getLong("seq"),
                row.getObject("day", LocalDate.class),
                key(row),
                row.getString("event_type"),
                row.getInt("event_version"),
                Objects.requireNonNull(instant(row, "occurred_at")),
                instant(row, "available_at"));
    }

    static Found.Key key(ResultSet row) throws SQLException {
        return new Found.Key(
                row.getString("tenant_id"), row.getString("aggregate_type"), row.getString("aggregate_id"));
    }

    static @Nullable Instant instant(ResultSet row, String column) throws SQLException {
        OffsetDateTime time = row.getObject(column, OffsetDateTime.class);
        return time == null ? null : time.toInstant();
    }
}
