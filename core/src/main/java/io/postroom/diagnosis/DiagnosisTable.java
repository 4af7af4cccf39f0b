package io.postroom.diagnosis;

import static io.postroom.diagnosis.SearchTable.instant;

import io.postroom.postgres.Schema;
import io.postroom.postgres.Sql;
import java.sql.Array;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** What is known about a message's deliveries: one method per statement, no decisions. */
final class DiagnosisTable {
    private final Sql journalEnd;
    private final Sql stampedAt;
    private final Sql findWriters;
    private final Sql findLetters;
    private final Sql readSubscriptions;
    private final Sql readDeliveries;
    private final Sql readAttempts;
    private final Sql readSettlement;
    private final Sql readKeyHead;
    private final Sql readSkips;

    DiagnosisTable(Schema schema) {
        journalEnd = schema.sql(DiagnosisTable.class, "journal_end.sql");
        stampedAt = schema.sql(DiagnosisTable.class, "stamped_at.sql");
        findWriters = schema.sql(DiagnosisTable.class, "find_writers.sql");
        findLetters = schema.sql(DiagnosisTable.class, "find_letters.sql");
        readSubscriptions = schema.sql(DiagnosisTable.class, "read_subscriptions.sql");
        readDeliveries = schema.sql(DiagnosisTable.class, "read_deliveries.sql");
        readAttempts = schema.sql(DiagnosisTable.class, "read_attempts.sql");
        readSettlement = schema.sql(DiagnosisTable.class, "read_settlement.sql");
        readKeyHead = schema.sql(DiagnosisTable.class, "read_key_head.sql");
        readSkips = schema.sql(DiagnosisTable.class, "read_skips.sql");
    }

    JournalEnd journalEnd(Connection tx) {
        return journalEnd
                .on(tx)
                .one(row -> new JournalEnd(
                        row.getLong("position"),
                        Objects.requireNonNull(instant(row, "at")),
                        row.getInt("relays"),
                        row.getString("last_relay"),
                        instant(row, "last_relay_until")));
    }

    Optional<Instant> stampedAt(Connection tx, long position) {
        return stampedAt.on(tx).set("position", position).first(row -> Objects.requireNonNull(instant(row, "at")));
    }

    List<Writer> writers(Connection tx, int limit) {
        return findWriters.on(tx).set("limit", limit).list(DiagnosisTable::writer);
    }

    List<Letter> letters(Connection tx, UUID messageId, int limit) {
        return findLetters
                .on(tx)
                .set("message_id", messageId)
                .set("limit", limit)
                .list(DiagnosisTable::letter);
    }

    List<Target> subscriptions(Connection tx, @Nullable String subscription, int keyHash, int limit) {
        return readSubscriptions
                .on(tx)
                .set("subscription", subscription)
                .set("key_hash", keyHash)
                .set("limit", limit)
                .list(DiagnosisTable::target);
    }

    List<Delivery> deliveries(Connection tx, Collection<String> subscriptions, long position) {
        return readDeliveries
                .on(tx)
                .set("subscriptions", subscriptions.toArray(String[]::new))
                .set("position", position)
                .list(DiagnosisTable::delivery);
    }

    Attempts attempts(Connection tx, String subscription, long position, int limit) {
        return readAttempts
                .on(tx)
                .set("subscription", subscription)
                .set("position", position)
                .set("limit", limit)
                .one(row -> new Attempts(
                        row.getLong("failed"),
                        instant(row, "last_at"),
                        row.getString("node"),
                        fault(row),
                        settlement(instant(row, "accepted_at"), row.getString("accepted_by"))));
    }

    Optional<Settlement> settlement(Connection tx, String subscription, int lane, long position) {
        return readSettlement
                .on(tx)
                .set("subscription", subscription)
                .set("lane", lane)
                .set("position", position)
                .first(row -> new Settlement(Objects.requireNonNull(instant(row, "at")), row.getString("node")));
    }

    private static @Nullable Settlement settlement(@Nullable Instant at, @Nullable String node) {
        return at == null || node == null ? null : new Settlement(at, node);
    }

    Optional<KeyHead> keyHead(Connection tx, String subscription, int keyHash, long position) {
        return readKeyHead
                .on(tx)
                .set("subscription", subscription)
                .set("key_hash", keyHash)
                .set("position", position)
                .first(row -> new KeyHead(
                        row.getLong("position"),
                        row.getObject("message_id", UUID.class),
                        row.getString("state"),
                        instant(row, "due_at"),
                        row.getInt("attempts"),
                        row.getObject("dead_letter", Long.class),
                        fault(row)));
    }

    Optional<Skip> skip(Connection tx, String subject, @Nullable Integer lane, long position, Instant since) {
        return readSkips
                .on(tx)
                .set("subject", subject)
                .set("lane", lane == null ? -1 : lane)
                .set("position", position)
                .set("since", since)
                .set("limit", 1)
                .first(row -> new Skip(
                        Objects.requireNonNull(instant(row, "at")),
                        row.getString("actor"),
                        row.getString("reason"),
                        row.getBoolean("surely")));
    }

    /** How far the journal is and who works on it. */
    record JournalEnd(
            long position,
            Instant at,
            int relays,
            @Nullable String lastRelay,
            @Nullable Instant lastRelayUntil) {}

    /** An open transaction that has written to the outbox; a prepared one has an identifier instead of a process. */
    record Writer(
            @Nullable Integer pid,
            @Nullable String application,
            @Nullable String role,
            @Nullable String address,
            @Nullable String state,
            @Nullable String prepared,
            @Nullable Duration age) {}

    /** What went wrong, as it was stored. */
    record Error(String errorClass, String message) {
        String line() {
            return errorClass + ": " + message;
        }
    }

    record Letter(
            long id,
            String owner,
            long position,
            int keyHash,
            Found message,
            String cause,
            int attempts,
            Error error,
            Instant buriedAt,
            String buriedBy,
            @Nullable String resolution,
            @Nullable Instant resolvedAt,
            @Nullable String resolvedBy) {
        boolean isOpen() {
            return resolution == null;
        }
    }

    /** A subscription and the one of its lanes that a message falls into. */
    record Target(
            String name,
            boolean ordered,
            Filter filter,
            long beganAfter,
            @Nullable String copyOf,
            String servedBy,
            @Nullable Pause pause,
            int lanes,
            @Nullable Integer lanesWanted,
            @Nullable Instant drainUntil,
            @Nullable Long formerPosition,
            Lane lane,
            Relays relays,
            @Nullable OpenCircuit circuit) {
        boolean isServedElsewhere() {
            return !servedBy.equals("postgres");
        }
    }

    /** Null means all. */
    record Filter(
            @Nullable List<String> aggregateTypes,
            @Nullable List<String> eventTypes,
            @Nullable List<String> tenants) {}

    record Pause(Instant at, String by, String reason) {}

    /**
     * A lane.
     *
     * @param number null if the subscription has no such lane (yet)
     * @param owner the name of the relay that has it, if that is known
     * @param leased whether the lease of its owner still runs
     * @param waitingSince when the first message after its position was stamped
     */
    record Lane(
            @Nullable Integer number,
            long position,
            @Nullable Long replayTo,
            @Nullable Long resumeAt,
            @Nullable String owner,
            @Nullable Instant leasedUntil,
            boolean leased,
            @Nullable Instant waitingSince) {
        String label() {
            return number == null ? "its lane" : "lane " + number;
        }
    }

    /** The live relays that serve a subscription, and how many of its lanes they have. */
    record Relays(int count, @Nullable String names, int lanesBusy) {}

    record OpenCircuit(Instant openedAt, Instant probeAt, int failures, Error error) {}

    record Delivery(
            String subscription,
            String state,
            @Nullable Instant dueAt,
            int attempts,
            int crashes,
            @Nullable Instant sendingSince,
            @Nullable String sendingBy,
            @Nullable Error error,
            @Nullable Long deadLetter,
            Instant createdAt) {}

    /** How often a message failed, up to a limit, and the last time. */
    record Attempts(
            long failed,
            @Nullable Instant lastAt,
            @Nullable String node,
            @Nullable Error error,
            @Nullable Settlement accepted) {}

    /** When something was known to be done, and by which relay. */
    record Settlement(Instant at, String node) {}

    record KeyHead(
            long position,
            @Nullable UUID messageId,
            String state,
            @Nullable Instant dueAt,
            int attempts,
            @Nullable Long deadLetter,
            @Nullable Error error) {}

    /** What an operator skipped; a message at the position surely, or perhaps. */
    record Skip(Instant at, String actor, String reason, boolean surely) {}

    private static Writer writer(ResultSet row) throws SQLException {
        Double seconds = row.getObject("seconds", Double.class);
        return new Writer(
                row.getObject("pid", Integer.class),
                row.getString("application_name"),
                row.getString("role"),
                row.getString("address"),
                row.getString("state"),
                row.getString("gid"),
                seconds == null ? null : Duration.ofMillis(Math.round(seconds * 1000)));
    }

    private static Letter letter(ResultSet row) throws SQLException {
        Found message = new Found(
                SearchTable.key(row),
                row.getString("event_type"),
                row.getInt("event_version"),
                Objects.requireNonNull(instant(row, "occurred_at")),
                instant(row, "available_at"),
                null,
                row.getLong("position"),
                row.getInt("key_hash"),
                null,
                1);
        return new Letter(
                row.getLong("id"),
                row.getString("owner"),
                row.getLong("position"),
                row.getInt("key_hash"),
                message,
                row.getString("cause"),
                row.getInt("attempts"),
                Objects.requireNonNull(fault(row)),
                Objects.requireNonNull(instant(row, "buried_at")),
                row.getString("buried_by"),
                row.getString("resolution"),
                instant(row, "resolved_at"),
                row.getString("resolved_by"));
    }

    private static Target target(ResultSet row) throws SQLException {
        Instant pausedAt = instant(row, "paused_at");
        Instant openedAt = instant(row, "opened_at");
        return new Target(
                row.getString("name"),
                row.getString("ordering").equals("key"),
                new Filter(texts(row, "aggregate_types"), texts(row, "event_types"), texts(row, "tenants")),
                row.getLong("began_after"),
                row.getString("copy_of"),
                row.getString("served_by"),
                pausedAt == null
                        ? null
                        : new Pause(pausedAt, row.getString("paused_by"), row.getString("pause_reason")),
                row.getInt("lanes"),
                row.getObject("lanes_wanted", Integer.class),
                instant(row, "drain_until"),
                row.getObject("former_position", Long.class),
                lane(row),
                new Relays(row.getInt("relays"), row.getString("names"), row.getInt("lanes_busy")),
                openedAt == null
                        ? null
                        : new OpenCircuit(
                                openedAt,
                                Objects.requireNonNull(instant(row, "probe_at")),
                                row.getInt("failures"),
                                Objects.requireNonNull(fault(row))));
    }

    private static Lane lane(ResultSet row) throws SQLException {
        return new Lane(
                row.getObject("lane", Integer.class),
                row.getLong("position"),
                row.getObject("replay_to", Long.class),
                row.getObject("resume_at", Long.class),
                row.getString("owner"),
                instant(row, "leased_until"),
                row.getBoolean("leased"),
                instant(row, "waiting_since"));
    }

    private static Delivery delivery(ResultSet row) throws SQLException {
        return new Delivery(
                row.getString("subscription"),
                row.getString("state"),
                instant(row, "due_at"),
                row.getInt("attempts"),
                row.getInt("crashes"),
                instant(row, "sending_since"),
                row.getString("sending_by"),
                fault(row),
                row.getObject("dead_letter", Long.class),
                Objects.requireNonNull(instant(row, "created_at")));
    }

    private static @Nullable Error fault(ResultSet row) throws SQLException {
        String errorClass = row.getString("error_class");
        return errorClass == null ? null : new Error(errorClass, row.getString("error"));
    }

    private static @Nullable List<String> texts(ResultSet row, String column) throws SQLException {
        Array array = row.getArray(column);
        return array == null ? null : List.of((String[]) array.getArray());
    }
}
