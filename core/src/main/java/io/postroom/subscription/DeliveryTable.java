package io.postroom.subscription;

import io.postroom.delivery.Promotion;
import io.postroom.postgres.Schema;
import io.postroom.postgres.Sql;
import io.postroom.retry.Fault;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Deliveries as an operator sees, skips or releases them: one method per statement, no decisions. */
final class DeliveryTable {
    private final Sql find;
    private final Sql read;
    private final Sql findAll;
    private final Sql findFew;
    private final Sql readAll;
    private final Sql findHeld;
    private final Sql findSkipped;
    private final Sql discard;
    private final Sql resolveOpen;
    private final Sql forget;
    private final Promotion promotion;

    DeliveryTable(Schema schema) {
        find = schema.sql(DeliveryTable.class, "find_delivery.sql");
        read = schema.sql(DeliveryTable.class, "read_delivery.sql");
        findAll = schema.sql(DeliveryTable.class, "find_deliveries.sql");
        findFew = schema.sql(DeliveryTable.class, "find_few_deliveries.sql");
        readAll = schema.sql(DeliveryTable.class, "read_deliveries.sql");
        findHeld = schema.sql(DeliveryTable.class, "find_held.sql");
        findSkipped = schema.sql(DeliveryTable.class, "find_skipped.sql");
        discard = schema.sql(DeliveryTable.class, "discard.sql");
        resolveOpen = schema.sql(DeliveryTable.class, "resolve_open.sql");
        forget = schema.sql(DeliveryTable.class, "forget_delivery.sql");
        promotion = new Promotion(schema);
    }

    /** A delivery, and whether some relay may be sending it. */
    record Row(
            int lane, int keyHash, String state, @Nullable Long deadLetter, int attempts, boolean leased) {}

    /** What a dead letter of a subscription holds, if it holds anything. */
    record Held(long position, String aggregateType, String aggregateId, int lane, int keyHash, boolean held) {}

    /** The position of a message's delivery. */
    OptionalLong find(Connection tx, String name, UUID messageId) {
        return find.on(tx)
                .set("name", name)
                .set("message_id", messageId)
                .first(row -> row.getLong(1))
                .map(OptionalLong::of)
                .orElse(OptionalLong.empty());
    }

    Optional<Row> read(Connection tx, String name, long position) {
        return read.on(tx)
                .set("name", name)
                .set("position", position)
                .first(row -> new Row(
                        row.getInt("lane"),
                        row.getInt("key_hash"),
                        row.getString("state"),
                        row.getObject("dead_letter", Long.class),
                        row.getInt("attempts"),
                        row.getBoolean("leased")));
    }

    /** Positions of a page, and where to go on; null at the end. */
    record Found(List<Long> positions, @Nullable Long next) {}

    Found find(Connection tx, String name, @Nullable String state, long after, int window, int limit) {
        return findAll.on(tx)
                .set("name", name)
                .set("state", state)
                .set("after", after)
                .set("window", window)
                .set("limit", limit + 1)
                .one(row -> {
                    long last = row.getLong("last");
                    return found(longs(row), limit, row.getLong("looked_at") < window ? null : last);
                });
    }

    Found findFew(Connection tx, String name, String state, long after, int limit) {
        return findFew.on(tx)
                .set("name", name)
                .set("state", state)
                .set("after", after)
                .set("limit", limit + 1)
                .one(row -> found(longs(row), limit, null));
    }

    private static Found found(List<Long> positions, int limit, @Nullable Long further) {
        return positions.size() > limit
                ? new Found(positions.subList(0, limit), positions.get(limit - 1))
                : new Found(positions, further);
    }

    private static List<Long> longs(ResultSet row) throws SQLException {
        return List.of((Long[]) row.getArray("found").getArray());
    }

    List<DeliveryState> readAll(Connection tx, String name, List<Long> positions) {
        return readAll.on(tx)
                .set("name", name)
                .set("positions", positions.stream().mapToLong(Long::longValue).toArray())
                .list(DeliveryTable::state);
    }

    private static DeliveryState state(ResultSet row) throws SQLException {
        return new DeliveryState(
                row.getLong("position"),
                row.getInt("lane"),
                row.getString("state"),
                row.getInt("attempts"),
                instantOrNull(row, "due_at"),
                instantOrNull(row, "sending_since"),
                row.getString("sending_by"),
                row.getString("error_class"),
                row.getString("error"),
                row.getObject("created_at", OffsetDateTime.class).toInstant(),
                row.getObject("dead_letter", Long.class),
                row.getObject("message_id", UUID.class),
                row.getString("event_type"),
                row.getString("tenant_id"),
                row.getString("aggregate_type"),
                row.getString("aggregate_id"));
    }

    private static @Nullable Instant instantOrNull(ResultSet row, String column) throws SQLException {
        OffsetDateTime at = row.getObject(column, OffsetDateTime.class);
        return at == null ? null : at.toInstant();
    }

    Optional<Held> findHeld(Connection tx, String name, long deadLetter) {
        return findHeld.on(tx)
                .set("name", name)
                .set("dead_letter", deadLetter)
                .first(row -> new Held(
                        row.getLong("position"),
                        row.getString("aggregate_type"),
                        row.getString("aggregate_id"),
                        row.getInt("lane"),
                        row.getInt("key_hash"),
                        row.getBoolean("held")));
    }

    /** The dead letter of a message that was skipped before, by its id or its position. */
    Optional<SkippedMessage> findSkipped(
            Connection tx, String name, @Nullable UUID messageId, @Nullable Long position) {
        return findSkipped
                .on(tx)
                .set("name", name)
                .set("message_id", messageId)
                .set("position", position)
                .first(row -> new SkippedMessage(row.getLong("position"), row.getLong("id"), 0, true));
    }

    /** Returns the dead letters that the given deliveries, or all, became. */
    long[] discard(Connection tx, String name, long[] positions, String actor, Fault fault) {
        return discard
                .on(tx)
                .set("name", name)
                .set("positions", positions)
                .set("actor", actor)
                .set("error", fault.message())
                .set("fingerprint", fault.fingerprint())
                .list(row -> row.getLong(1))
                .stream()
                .mapToLong(Long::longValue)
                .toArray();
    }

    int resolveOpen(Connection tx, String name, String actor) {
        return resolveOpen.on(tx).set("name", name).set("actor", actor).update();
    }

    void forget(Connection tx, String name, long position) {
        forget.on(tx).set("name", name).set("position", position).update();
    }

    int promote(Connection tx, String name, int keyHash) {
        return promotion.promote(tx, name, List.of(keyHash));
    }
}
