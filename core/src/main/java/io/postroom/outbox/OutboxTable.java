package io.postroom.outbox;

import io.postroom.message.HeaderText;
import io.postroom.message.Message;
import io.postroom.postgres.Schema;
import io.postroom.postgres.Sql;
import java.sql.Connection;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The outbox as a writer sees it: one method per statement, no decisions. Runs in the given transaction, never commits. */
final class OutboxTable {
    private final Sql insert;
    private final Sql insertBatch;

    OutboxTable(Schema schema) {
        insert = schema.sql(OutboxTable.class, "insert.sql");
        insertBatch = schema.sql(OutboxTable.class, "insert_batch.sql");
    }

    void insert(Connection tx, Message message) {
        insert.on(tx)
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
                .update();
    }

    void insertBatch(Connection tx, List<Message> messages) {
        insertBatch
                .on(tx)
                .set("ids", column(messages, Message::id, UUID[]::new))
                .set("tenant_ids", column(messages, Message::tenantId, String[]::new))
                .set("aggregate_types", column(messages, Message::aggregateType, String[]::new))
                .set("aggregate_ids", column(messages, Message::aggregateId, String[]::new))
                .set("aggregate_versions", column(messages, Message::aggregateVersion, Long[]::new))
                .set("event_types", column(messages, Message::eventType, String[]::new))
                .set("event_versions", column(messages, Message::eventVersion, Integer[]::new))
                .set("payloads", column(messages, Message::payload, String[]::new))
                .set("headers", column(messages, message -> HeaderText.write(message.headers()), String[]::new))
                .set("occurred_at", column(messages, message -> micros(message.occurredAt()), Long[]::new))
                .set("available_at", column(messages, message -> micros(message.availableAt()), Long[]::new))
                .update();
    }

    private static <T extends @Nullable Object> T[] column(
            List<Message> messages, Function<Message, T> value, java.util.function.IntFunction<T[]> array) {
        T[] values = array.apply(messages.size());
        for (int i = 0; i < values.length; i++) {
            values[i] = value.apply(messages.get(i));
        }
        return values;
    }

    private static @Nullable Long micros(@Nullable Instant time) {
        // Not ChronoUnit.MICROS.between: it counts in nanoseconds, and those overflow before the year 1677.
        return time == null ? null : time.getEpochSecond() * 1_000_000 + time.getNano() / 1_000;
    }
}
