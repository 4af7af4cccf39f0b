package io.postroom.source;

import io.postroom.journal.ArchiveDays;
import io.postroom.journal.Filter;
import io.postroom.message.HeaderText;
import io.postroom.message.Message;
import io.postroom.outbox.MessageRow;
import io.postroom.postgres.Schema;
import io.postroom.postgres.Sql;
import io.postroom.retry.Fault;
import java.sql.Array;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** What a source reads and writes: one method per statement, no decisions. Runs in the given transaction, never commits. */
final class ReceptionTable {
    private final Sql enter;
    private final Sql servedBy;
    private final Sql beginReceiving;
    private final Sql rememberedSince;
    private final Sql knownLetters;
    private final Sql isAccepted;
    private final Sql bury;
    private final Sql isOurs;
    private final Sql isOursArchived;
    private final ArchiveDays archiveDays;
    private final Sql takeRedriven;
    private final Sql lockRedriven;
    private final Sql endRedriven;
    private final Sql postponeRedriven;

    ReceptionTable(Schema schema) {
        enter = schema.sql(ReceptionTable.class, "enter.sql");
        beginReceiving = schema.sql(ReceptionTable.class, "begin_receiving.sql");
        rememberedSince = schema.sql(ReceptionTable.class, "remembered_since.sql");
        servedBy = schema.sql(ReceptionTable.class, "served_by.sql");
        knownLetters = schema.sql(ReceptionTable.class, "known_letters.sql");
        isAccepted = schema.sql(ReceptionTable.class, "is_accepted.sql");
        bury = schema.sql(ReceptionTable.class, "bury.sql");
        isOurs = schema.sql(ReceptionTable.class, "is_ours.sql");
        isOursArchived = schema.sql(ReceptionTable.class, "is_ours_archived.sql");
        archiveDays = new ArchiveDays(schema);
        takeRedriven = schema.sql(ReceptionTable.class, "take_redriven.sql");
        lockRedriven = schema.sql(ReceptionTable.class, "lock_redriven.sql");
        endRedriven = schema.sql(ReceptionTable.class, "end_redriven.sql");
        postponeRedriven = schema.sql(ReceptionTable.class, "postpone_redriven.sql");
    }

    /** A dead letter to be applied once more; {@code unreadable} if it holds what was no message. */
    record Redriven(
            long deadLetter,
            int attempts,
            long position,
            @Nullable String place,
            Message message,
            boolean unreadable) {}

    /** A message to give up on, and why. */
    record Grave(
            String source,
            String consumer,
            long position,
            @Nullable String place,
            Message message,
            String cause,
            int attempts,
            Fault fault,
            String history,
            String node,
            @Nullable Long origin) {}

    /**
     * How the subscription stands, if there is one.
     *
     * @param switching whether somebody is about to change who serves it; then nothing else is known
     */
    record Entry(@Nullable String servedBy, boolean paused, Filter filter, boolean switching) {}

    /** Who serves the subscription; the group and topics if it was moved to a broker. */
    record Server(String servedBy, @Nullable String group, List<String> topics) {}

    Entry enter(Connection tx, String consumer, Duration deadline) {
        return enter.on(tx)
                .set("consumer", consumer)
                .set("deadline", Long.toString(deadline.toMillis()))
                .one(row -> new Entry(
                        row.getString("served_by"),
                        row.getBoolean("paused"),
                        Filter.of(
                                texts(row.getArray("aggregate_types")),
                                texts(row.getArray("event_types")),
                                texts(row.getArray("tenants"))),
                        row.getBoolean("switching")));
    }

    Optional<Server> servedBy(Connection tx, String consumer) {
        return servedBy.on(tx).set("consumer", consumer).first(row -> {
            String[] topics = texts(row.getArray("topics"));
            return new Server(
                    row.getString("served_by"),
                    row.getString("group_id"),
                    topics == null ? List.of() : List.of(topics));
        });
    }

    void beginReceiving(Connection tx, String consumer) {
        beginReceiving.on(tx).set("consumer", consumer).update();
    }

    Optional<Instant> rememberedSince(Connection tx, String consumer, Duration kept) {
        return rememberedSince
                .on(tx)
                .set("consumer", consumer)
                .set("kept", kept)
                .first(row -> Objects.requireNonNull(row.getObject(1, OffsetDateTime.class))
                        .toInstant());
    }

    private static String @Nullable [] texts(@Nullable Array array) throws SQLException {
        return array == null ? null : (String[]) array.getArray();
    }

    Set<UUID> knownLetters(Connection tx, String consumer, Collection<UUID> ids) {
        return new HashSet<>(knownLetters
                .on(tx)
                .set("consumer", consumer)
                .set("message_ids", ids.toArray(UUID[]::new))
                .list(row -> row.getObject(1, UUID.class)));
    }

    boolean isAccepted(Connection tx, String consumer, UUID id) {
        return isAccepted.on(tx).set("consumer", consumer).set("message_id", id).one(row -> row.getBoolean(1));
    }

    long bury(Connection tx, Grave grave) {
        Message message = grave.message();
        return bury.on(tx)
                .set("source", grave.source())
                .set("consumer", grave.consumer())
                .set("position", isOurs(tx, grave) ? grave.position() : Arrival.beyond(message.id()))
                .set("place", grave.place())
                .set("id", message.id())
                .set("tenant_id", message.tenantId())
                .set("aggregate_type", message.aggregateType())
                .set("aggregate_id", message.aggregateId())
                .set("aggregate_version", message.aggregateVersion())
                .set("event_type", message.eventType())
                .set("event_version", message.eventVersion())
                .set("payload", message.payload())
                .set("headers", HeaderText.write(message.headers()))
                .set("occurred_at", message.occurredAt())
                .set("available_at", message.availableAt())
                .set("cause", grave.cause())
                .set("attempts", grave.attempts())
                .set("error_class", grave.fault().errorClass())
                .set("error", grave.fault().message())
                .set("fingerprint", grave.fault().fingerprint())
                .set("history", grave.history())
                .set("node", grave.node())
                .set("origin", grave.origin())
                .one(row -> row.getLong(1));
    }

    /** A position is believed only if our own journal has this message there: others write to topics, too, and number as they like. */
    private boolean isOurs(Connection tx, Grave grave) {
        long position = grave.position();
        UUID id = grave.message().id();
        return isOurs.on(tx).set("position", position).set("id", id).one(row -> row.getBoolean(1))
                || archiveDays
                        .of(tx, position - 1, position)
                        .map(span -> isOursArchived
                                .on(tx)
                                .set("position", position)
                                .set("id", id)
                                .set("first_day", span.first())
                                .set("last_day", span.last())
                                .one(row -> row.getBoolean(1)))
                        .orElse(false);
    }

    Optional<Redriven> takeRedriven(Connection tx, String consumer) {
        return takeRedriven
                .on(tx)
                .set("consumer", consumer)
                .set("unreadable", Unreadable.ERROR_CLASS)
                .first(row -> new Redriven(
                        row.getLong("dead_letter"),
                        row.getInt("attempts"),
                        row.getLong("position"),
                        row.getString("place"),
                        MessageRow.read(row, 1),
                        row.getBoolean("unreadable")));
    }

    Optional<Integer> lockRedriven(Connection tx, long deadLetter) {
        return lockRedriven.on(tx).set("dead_letter", deadLetter).first(row -> row.getInt(1));
    }

    void endRedriven(Connection tx, long deadLetter) {
        endRedriven.on(tx).set("dead_letter", deadLetter).update();
    }

    void postponeRedriven(Connection tx, long deadLetter, int attempts, Duration after) {
        postponeRedriven
                .on(tx)
                .set("dead_letter", deadLetter)
                .set("attempts", attempts)
                .set("after", after)
                .update();
    }
}
