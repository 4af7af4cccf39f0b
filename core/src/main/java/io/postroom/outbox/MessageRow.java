package io.postroom.outbox;

import io.postroom.message.HeaderText;
import io.postroom.message.Message;
import io.postroom.message.OwnHeaders;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Reads a stored message from eleven columns in a row: id, tenant_id, aggregate_type, aggregate_id, aggregate_version, event_type,
 * event_version, payload, headers, occurred_at, available_at.
 */
public final class MessageRow {
    private MessageRow() {}

    /** From the outbox: what a hand-written insert put under one of Postroom's own names is left out. */
    public static Message readPublished(ResultSet row, int first) throws SQLException {
        return read(row, first, OwnHeaders.without(headers(row, first)));
    }

    /** From where Postroom itself has kept the message. */
    public static Message read(ResultSet row, int first) throws SQLException {
        return read(row, first, headers(row, first));
    }

    private static Map<String, String> headers(ResultSet row, int first) throws SQLException {
        return HeaderText.read(row.getString(first + 8));
    }

    private static Message read(ResultSet row, int first, Map<String, String> headers) throws SQLException {
        long aggregateVersion = row.getLong(first + 4);
        Long version = row.wasNull() ? null : aggregateVersion;
        return new Message(
                Objects.requireNonNull(row.getObject(first, UUID.class)),
                row.getString(first + 1),
                row.getString(first + 2),
                row.getString(first + 3),
                version,
                row.getString(first + 5),
                row.getInt(first + 6),
                row.getString(first + 7),
                headers,
                Objects.requireNonNull(instant(row, first + 9)),
                instant(row, first + 10));
    }

    private static @Nullable Instant instant(ResultSet row, int column) throws SQLException {
        OffsetDateTime time = row.getObject(column, OffsetDateTime.class);
        return time == null ? null : time.toInstant();
    }
}
