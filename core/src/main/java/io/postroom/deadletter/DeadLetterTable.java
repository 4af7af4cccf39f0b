package io.postroom.deadletter;

import io.postroom.message.HeaderText;
import io.postroom.message.Message;
import io.postroom.postgres.Schema;
import io.postroom.postgres.Sql;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The dead letters: one method per statement, no decisions. */
final class DeadLetterTable {
    private final Sql list;
    private final Sql listResolved;
    private final Sql groups;
    private final Sql count;
    private final Sql countUpTo;
    private final Sql findIds;
    private final Sql read;
    private final Sql readPayloads;
    private final Sql resolve;
    private final Sql failedAgain;
    private final Sql countOpen;

    DeadLetterTable(Schema schema) {
        list = DeadLetterFilter.statement(schema, DeadLetterTable.class, "list.sql");
        listResolved = DeadLetterFilter.statement(schema, DeadLetterTable.class, "list_resolved.sql");
        groups = DeadLetterFilter.statement(schema, DeadLetterTable.class, "groups.sql");
        count = DeadLetterFilter.statement(schema, DeadLetterTable.class, "count.sql");
        countUpTo = DeadLetterFilter.statement(schema, DeadLetterTable.class, "count_up_to.sql");
        findIds = DeadLetterFilter.statement(schema, DeadLetterTable.class, "find_ids.sql");
        read = schema.sql(DeadLetterTable.class, "read.sql");
        readPayloads = schema.sql(DeadLetterTable.class, "read_payloads.sql");
        resolve = schema.sql(DeadLetterTable.class, "resolve.sql");
        failedAgain = schema.sql(DeadLetterTable.class, "failed_again.sql");
        countOpen = schema.sql(DeadLetterTable.class, "count_open.sql");
    }

    /** A dead letter and what kind of owner it has. */
    record Found(long id, String source) {}

    record Payload(long id, String payload) {}

    /** How many were buried again, and the first of them. */
    record FailedAgain(long letters, long id, String errorClass, String error) {}

    /** Dead letters to be resolved in one way; {@code patched} has a payload for each of them, or is null. */
    record Resolving(long[] ids, @Nullable String @Nullable [] patched, RedriveRequest request) {}

    List<DeadLetterRow> list(Connection tx, DeadLetterFilter filter, @Nullable Long before, int limit) {
        return filter.on(list.on(tx)).set("before", before).set("limit", limit).list(DeadLetterTable::row);
    }

    List<OpenLetters> countOpen(Connection tx, int countMax, int owners) {
        return countOpen
                .on(tx)
                .set("count_max", countMax)
                .set("limit", owners)
                .list(row -> new OpenLetters(
                        row.getString("source"),
                        row.getString("owner"),
                        row.getString("event_type"),
                        Cause.of(row.getString("cause")),
                        row.getLong("letters")));
    }

    List<ResolvedLetter> listResolved(
            Connection tx,
            DeadLetterFilter filter,
            @Nullable RedriveAction resolution,
            @Nullable Long before,
            int limit) {
        return filter.on(listResolved.on(tx))
                .set("resolution", resolution == null ? null : resolution.resolution())
                .set("before", before)
                .set("limit", limit)
                .list(row -> new ResolvedLetter(
                        row(row),
                        RedriveAction.ofResolution(row.getString("resolution")),
                        instant(row, "resolved_at"),
                        row.getString("resolved_by"),
                        row.getObject("redrive", UUID.class),
                        row.getBoolean("patched")));
    }

    List<DeadLetterGroup> groups(Connection tx, DeadLetterFilter filter, Set<GroupBy> by, int limit) {
        return filter.on(groups.on(tx))
                .set("by", by.stream().map(GroupBy::toString).toArray(String[]::new))
                .set("limit", limit)
                .list(DeadLetterTable::group);
    }

    /** The plan without order conflicts. */
    RedrivePlan count(Connection tx, DeadLetterFilter filter) {
        return filter.on(count.on(tx))
                .one(row -> new RedrivePlan(
                        row.getLong("id_max"),
                        row.getLong("letters"),
                        true,
                        row.getLong("keys"),
                        row.getLong("tenants"),
                        instantOrNull(row, "first_buried_at"),
                        instantOrNull(row, "last_buried_at"),
                        OrderConflicts.NONE));
    }

    /** The same of the newest, and their ids. */
    record Counted(RedrivePlan plan, List<Long> ids) {}

    Counted countUpTo(Connection tx, DeadLetterFilter filter, int lettersMax) {
        return filter.on(countUpTo.on(tx))
                .set("letters_max", lettersMax + 1)
                .one(row -> new Counted(
                        new RedrivePlan(
                                row.getLong("id_max"),
                                Math.min(lettersMax, row.getLong("letters")),
                                row.getLong("letters") <= lettersMax,
                                row.getLong("keys"),
                                row.getLong("tenants"),
                                instantOrNull(row, "first_buried_at"),
                                instantOrNull(row, "last_buried_at"),
                                OrderConflicts.NONE),
                        List.of((Long[]) row.getArray("ids").getArray())));
    }

    List<Found> findIds(Connection tx, DeadLetterFilter filter, long after, long upTo, int limit) {
        return filter.on(findIds.on(tx))
                .set("after", after)
                .set("up_to", upTo)
                .set("limit", limit)
                .list(row -> new Found(row.getLong(1), row.getString(2)));
    }

    List<DeadLetter> read(Connection tx, long[] ids) {
        return read.on(tx).set("ids", ids).list(DeadLetterTable::letter);
    }

    List<Payload> readPayloads(Connection tx, long[] ids, long bytesMax) {
        return readPayloads
                .on(tx)
                .set("ids", ids)
                .set("bytes_max", bytesMax)
                .list(row -> new Payload(row.getLong(1), row.getString(2)));
    }

    List<Long> resolve(Connection tx, Resolving letters) {
        RedriveRequest request = letters.request();
        return resolve.on(tx)
                .set("ids", letters.ids())
                .set("patched", letters.patched())
                .set("resolution", request.action().resolution())
                .set("actor", request.actor())
                .set("redrive", request.id())
                .list(row -> row.getLong(1));
    }

    Optional<FailedAgain> failedAgain(Connection tx, UUID redrive) {
        return failedAgain
                .on(tx)
                .set("redrive", redrive)
                .first(row -> new FailedAgain(row.getLong(1), row.getLong(2), row.getString(3), row.getString(4)));
    }

    private static DeadLetterRow row(ResultSet row) throws SQLException {
        return new DeadLetterRow(
                row.getLong("id"),
                row.getString("owner"),
                row.getString("source").equals("job"),
                row.getLong("position"),
                Objects.requireNonNull(row.getObject("message_id", UUID.class)),
                new Message.Key(
                        row.getString("tenant_id"), row.getString("aggregate_type"), row.getString("aggregate_id")),
                row.getString("event_type"),
                burial(row));
    }

    private static DeadLetterGroup group(ResultSet row) throws SQLException {
        String cause = row.getString("cause");
        return new DeadLetterGroup(
                row.getString("owner"),
                row.getBoolean("of_jobs"),
                row.getString("event_type"),
                row.getString("error_class"),
                row.getString("fingerprint"),
                cause == null ? null : Cause.of(cause),
                row.getString("tenant_id"),
                row.getString("aggregate_type"),
                row.getString("aggregate_id"),
                row.getLong("letters"),
                instant(row, "first_buried_at"),
                instant(row, "last_buried_at"),
                row.getLong("keys"),
                row.getLong("tenants"),
                row.getLong("sample_id"),
                row.getString("sample_error"));
    }

    private static DeadLetter letter(ResultSet row) throws SQLException {
        return new DeadLetter(
                row.getLong("id"),
                row.getString("source"),
                row.getString("owner"),
                row.getLong("position"),
                message(row),
                burial(row),
                row.getString("history"),
                longOrNull(row, "origin"),
                resolution(row));
    }

    private static Message message(ResultSet row) throws SQLException {
        return new Message(
                Objects.requireNonNull(row.getObject("message_id", UUID.class)),
                row.getString("tenant_id"),
                row.getString("aggregate_type"),
                row.getString("aggregate_id"),
                longOrNull(row, "aggregate_version"),
                row.getString("event_type"),
                row.getInt("event_version"),
                row.getString("payload"),
                headers(row),
                instant(row, "occurred_at"),
                instantOrNull(row, "available_at"));
    }

    private static Map<String, String> headers(ResultSet row) throws SQLException {
        return HeaderText.read(row.getString("headers"));
    }

    private static Burial burial(ResultSet row) throws SQLException {
        return new Burial(
                Cause.of(row.getString("cause")),
                row.getInt("attempts"),
                row.getString("error_class"),
                row.getString("error"),
                row.getString("fingerprint"),
                instant(row, "buried_at"),
                row.getString("buried_by"));
    }

    private static @Nullable Resolution resolution(ResultSet row) throws SQLException {
        String resolution = row.getString("resolution");
        return resolution == null
                ? null
                : new Resolution(
                        RedriveAction.ofResolution(resolution),
                        instant(row, "resolved_at"),
                        row.getString("resolved_by"),
                        row.getObject("redrive", UUID.class),
                        row.getString("patched"));
    }

    private static @Nullable Long longOrNull(ResultSet row, String column) throws SQLException {
        long value = row.getLong(column);
        return row.wasNull() ? null : value;
    }

    private static Instant instant(ResultSet row, String column) throws SQLException {
        return Objects.requireNonNull(instantOrNull(row, column));
    }

    private static @Nullable Instant instantOrNull(ResultSet row, String column) throws SQLException {
        OffsetDateTime time = row.getObject(column, OffsetDateTime.class);
        return time == null ? null : time.toInstant();
    }
}
