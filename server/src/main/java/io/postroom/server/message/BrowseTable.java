package io.postroom.server.message;

import io.postroom.journal.ArchiveDays;
import io.postroom.journal.Journal;
import io.postroom.postgres.Schema;
import io.postroom.postgres.Sql;
import java.sql.Array;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Messages as somebody looks through them: one method per statement or two, of what is archived and what is not. Everything is bounded by positions. */
final class BrowseTable {
    private final ArchiveDays archiveDays;
    private final Sql readEntries;
    private final Sql readArchivedEntries;
    private final Sql hashKey;
    private final Sql readFloor;
    private final Sql readRows;
    private final Sql readLive;
    private final Sql readPlace;
    private final Sql readArchivedPlace;
    private final Sql readAttempts;
    private final Sql readReceipts;
    private final Sql readTransaction;

    BrowseTable(Schema schema) {
        archiveDays = new ArchiveDays(schema);
        readEntries = schema.sql(BrowseTable.class, "read_entries.sql");
        readArchivedEntries = schema.sql(BrowseTable.class, "read_archived_entries.sql");
        hashKey = schema.sql(BrowseTable.class, "hash_key.sql");
        readFloor = schema.sql(BrowseTable.class, "read_floor.sql");
        readRows = schema.sql(BrowseTable.class, "read_rows.sql");
        readLive = schema.sql(BrowseTable.class, "read_live.sql");
        readPlace = schema.sql(BrowseTable.class, "read_place.sql");
        readArchivedPlace = schema.sql(BrowseTable.class, "read_archived_place.sql");
        readAttempts = schema.sql(BrowseTable.class, "read_attempts.sql");
        readReceipts = schema.sql(BrowseTable.class, "read_receipts.sql");
        readTransaction = schema.sql(BrowseTable.class, "read_transaction.sql");
    }

    /** The first position that is kept. */
    long floor(Connection tx) {
        return readFloor.on(tx).one(row -> row.getLong("floor"));
    }

    /** The hash under which the journal has messages of one key. */
    int keyHash(Connection tx, @Nullable String tenant, String aggregateType, String aggregateId) {
        return hashKey.on(tx)
                .set("tenant", tenant)
                .set("aggregate_type", aggregateType)
                .set("aggregate_id", aggregateId)
                .one(row -> row.getInt("key_hash"));
    }

    /** Where a message lies. */
    record Entry(long position, long seq, LocalDate outboxDay, int bytes) {}

    /** The entries of some positions, newest first; of one key hash, where it is given. What is archived lies below all that is not. */
    List<Entry> entries(Connection tx, long after, long before, @Nullable Integer keyHash, int limit) {
        List<Entry> entries = new ArrayList<>(readEntries
                .on(tx)
                .set("after", after)
                .set("before", before)
                .set("key_hash", keyHash == null ? null : Long.valueOf(keyHash))
                .set("limit", limit)
                .list(BrowseTable::entry));
        if (entries.size() == limit) {
            return entries;
        }
        // A day that was archived meanwhile may be found once more, from here on.
        long below =
                entries.isEmpty() ? before : entries.get(entries.size() - 1).position();
        archiveDays
                .of(tx, after, below - 1)
                .ifPresent(span -> entries.addAll(readArchivedEntries
                        .on(tx)
                        .set("after", after)
                        .set("before", below)
                        .set("key_hash", keyHash == null ? null : Long.valueOf(keyHash))
                        .set("limit", limit - entries.size())
                        .set("first_day", span.first())
                        .set("last_day", span.last())
                        .list(BrowseTable::entry)));
        return entries;
    }

    private static Entry entry(ResultSet row) throws SQLException {
        return new Entry(
                row.getLong("position"),
                row.getLong("seq"),
                row.getObject("outbox_day", LocalDate.class),
                row.getInt("bytes"));
    }

    /** Those of some entries that fit, newest first. */
    List<MessageRow> rows(Connection tx, List<Entry> entries, MessageQuery query) {
        if (entries.isEmpty()) {
            return List.of();
        }
        Map<Long, Entry> bySeq = new HashMap<>();
        entries.forEach(entry -> bySeq.put(entry.seq(), entry));
        List<LocalDate> days = entries.stream().map(Entry::outboxDay).sorted().toList();
        List<String> path = query.path();
        return readRows
                .on(tx)
                .set("seqs", entries.stream().mapToLong(Entry::seq).toArray())
                .set("first_day", days.get(0))
                .set("last_day", days.get(days.size() - 1))
                .set("event_type", query.eventType())
                .set("aggregate_type", query.aggregateType())
                .set("aggregate_id", query.aggregateId())
                .set("tenant", query.tenant())
                .set("find", query.find())
                .set("path", path == null ? null : path.toArray(String[]::new))
                .set("value", query.value())
                .list(row -> message(row, bySeq.get(row.getLong("seq"))))
                .stream()
                .sorted(Comparator.comparingLong(MessageRow::position).reversed())
                .toList();
    }

    /** A message to those who watch; {@code found} has what stands at their paths, in their order, and is null if that was not read. */
    record Live(MessageRow row, @Nullable List<@Nullable String> found) {}

    /** Some entries, oldest first, with what stands at some paths of their payloads, as far as those are not among the heavy ones. */
    List<Live> live(Connection tx, List<Entry> entries, List<Entry> heavy, List<List<String>> paths) {
        if (entries.isEmpty()) {
            return List.of();
        }
        Map<Long, Entry> bySeq = new HashMap<>();
        entries.forEach(entry -> bySeq.put(entry.seq(), entry));
        List<LocalDate> days = entries.stream().map(Entry::outboxDay).sorted().toList();
        return readLive
                .on(tx)
                .set("seqs", entries.stream().mapToLong(Entry::seq).toArray())
                .set("heavy_seqs", heavy.stream().mapToLong(Entry::seq).toArray())
                .set("first_day", days.get(0))
                .set("last_day", days.get(days.size() - 1))
                .set("paths", paths.stream().map(BrowseTable::arrayText).toArray(String[]::new))
                .set("value_length_max", MessageQuery.VALUE_LENGTH_MAX + 1)
                .list(row -> {
                    Array found = row.getArray("found");
                    return new Live(
                            message(row, bySeq.get(row.getLong("seq"))),
                            found == null ? null : Arrays.asList((String[]) found.getArray()));
                })
                .stream()
                .sorted(Comparator.comparingLong(live -> live.row().position()))
                .toList();
    }

    /** Names as PostgreSQL writes an array of them. */
    static String arrayText(List<String> names) {
        return names.stream()
                .map(name -> "\"" + name.replace("\\", "\\\\").replace("\"", "\\\"") + "\"")
                .collect(Collectors.joining(",", "{", "}"));
    }

    private static MessageRow message(ResultSet row, Entry entry) throws SQLException {
        return new MessageRow(
                entry.position(),
                row.getObject("id", UUID.class),
                row.getString("tenant_id"),
                row.getString("aggregate_type"),
                row.getString("aggregate_id"),
                row.getString("event_type"),
                row.getInt("event_version"),
                row.getObject("occurred_at", OffsetDateTime.class).toInstant(),
                entry.bytes());
    }

    Optional<Journal.Place> place(Connection tx, long position) {
        return readPlace
                .on(tx)
                .set("position", position)
                .first(BrowseTable::place)
                .or(() -> archiveDays
                        .of(tx, position - 1, position)
                        .flatMap(span -> readArchivedPlace
                                .on(tx)
                                .set("position", position)
                                .set("first_day", span.first())
                                .set("last_day", span.last())
                                .first(BrowseTable::place)));
    }

    private static Journal.Place place(ResultSet row) throws SQLException {
        return new Journal.Place(row.getLong("seq"), row.getObject("outbox_day", LocalDate.class));
    }

    List<MessageAttempt> attempts(Connection tx, long position, int limit) {
        return readAttempts
                .on(tx)
                .set("position", position)
                .set("limit", limit)
                .list(row -> new MessageAttempt(
                        row.getString("subscription"),
                        row.getInt("attempt"),
                        row.getObject("at", OffsetDateTime.class).toInstant(),
                        Duration.ofNanos(Math.round(row.getDouble("seconds") * 1e9)),
                        row.getString("node"),
                        row.getString("outcome"),
                        row.getString("error_class"),
                        row.getString("error")));
    }

    List<MessageReceipt> receipts(Connection tx, UUID messageId, int limit) {
        return readReceipts
                .on(tx)
                .set("message_id", messageId)
                .set("limit", limit)
                .list(row -> new MessageReceipt(
                        row.getString("consumer"),
                        row.getObject("accepted_at", OffsetDateTime.class).toInstant()));
    }

    Optional<MessageTransaction> transaction(Connection tx, Journal.Place place) {
        return readTransaction
                .on(tx)
                .set("seq", place.seq())
                .set("day", place.day())
                .set("limit", MessageTransaction.MESSAGES_MAX)
                .first(row -> new MessageTransaction(row.getString("xid"), row.getLong("messages")));
    }
}
