package io.postroom.outbox;

import io.postroom.message.HeaderText;
import io.postroom.message.Message;
import io.postroom.message.TimeOrderedId;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** What a caller means to publish, good or bad, to be said in Java or in SQL. */
final class Draft {
    @Nullable
    String aggregateType = "order";

    @Nullable
    String aggregateId = "o-1";

    @Nullable
    String eventType = "OrderPlaced";

    @Nullable
    String payload = "{\"total\":1}";

    @Nullable
    String tenantId;

    @Nullable
    Long aggregateVersion;

    int eventVersion = 1;
    Map<String, String> headers = new LinkedHashMap<>();
    Instant occurredAt = Instant.parse("2026-01-02T03:04:05.678901Z");

    @Nullable
    Instant availableAt;

    UUID id = TimeOrderedId.next();

    /** Where SQL says it differently from Java. */
    @Nullable
    String headersText;

    @Nullable
    String occurredAtText;

    Message message() {
        return new Message(
                id,
                tenantId,
                aggregateType,
                aggregateId,
                aggregateVersion,
                eventType,
                eventVersion,
                payload,
                headers,
                occurredAt,
                availableAt);
    }

    UUID publishSql(Connection tx) throws SQLException {
        try (PreparedStatement call = tx.prepareStatement("""
                select postroom.publish(
                    aggregate_type => ?, aggregate_id => ?, event_type => ?, payload => ?::json, tenant_id => ?,
                    aggregate_version => ?, event_version => ?, headers => ?::json, occurred_at => ?::timestamptz,
                    available_at => ?::timestamptz, id => ?)""")) {
            call.setString(1, aggregateType);
            call.setString(2, aggregateId);
            call.setString(3, eventType);
            call.setString(4, payload);
            call.setString(5, tenantId);
            call.setObject(6, aggregateVersion, Types.BIGINT);
            call.setInt(7, eventVersion);
            call.setString(8, headersText == null ? HeaderText.write(headers) : headersText);
            call.setString(9, occurredAtText == null ? postgres(occurredAt) : occurredAtText);
            call.setString(10, availableAt == null ? null : postgres(availableAt));
            call.setObject(11, id);
            try (ResultSet result = call.executeQuery()) {
                result.next();
                return result.getObject(1, UUID.class);
            }
        }
    }

    /** Java puts a sign before years of more than four digits, PostgreSQL wants none; both count a year zero differently. */
    private static String postgres(Instant time) {
        String text = time.toString();
        return text.startsWith("+") ? text.substring(1) : text;
    }
}
