package io.postroom.server.subscription;

import io.postroom.postgres.Schema;
import io.postroom.postgres.Sql;
import java.sql.Array;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Subscriptions and lanes as an operator sees them: one method per statement, no decisions. */
public final class SubscriptionTable {
    private final Sql subscriptions;
    private final Sql lanes;

    public SubscriptionTable(Schema schema) {
        subscriptions = schema.sql(SubscriptionTable.class, "list_subscriptions.sql");
        lanes = schema.sql(SubscriptionTable.class, "list_lanes.sql");
    }

    public List<SubscriptionRow> subscriptions(Connection tx) {
        return subscriptions.on(tx).set("name", (String) null).list(SubscriptionTable::subscription);
    }

    public Optional<SubscriptionRow> subscription(Connection tx, String name) {
        return subscriptions.on(tx).set("name", name).first(SubscriptionTable::subscription);
    }

    /** The lanes of one subscription, or of all. */
    public List<LaneRow> lanes(Connection tx, @Nullable String subscription) {
        return lanes.on(tx).set("subscription", subscription).list(SubscriptionTable::lane);
    }

    private static SubscriptionRow subscription(ResultSet row) throws SQLException {
        return new SubscriptionRow(
                row.getString("name"),
                row.getInt("lanes"),
                row.getString("ordering"),
                texts(row.getArray("aggregate_types")),
                texts(row.getArray("event_types")),
                texts(row.getArray("tenants")),
                row.getObject("created_at", OffsetDateTime.class).toInstant(),
                row.getLong("position"),
                row.getLong("lag_messages"),
                seconds(row.getDouble("lag_seconds")),
                row.getInt("leased"));
    }

    private static LaneRow lane(ResultSet row) throws SQLException {
        return new LaneRow(
                row.getString("subscription"),
                row.getInt("lane"),
                row.getLong("position"),
                row.getLong("lag_messages"),
                seconds(row.getDouble("lag_seconds")),
                row.getObject("owner", UUID.class),
                row.getString("owner_name"),
                instant(row.getObject("leased_until", OffsetDateTime.class)),
                seconds(row.getDouble("lease_seconds")),
                row.getLong("fence"));
    }

    private static Duration seconds(double seconds) {
        return Duration.ofMillis(Math.round(seconds * 1000));
    }

    private static @Nullable Instant instant(@Nullable OffsetDateTime time) {
        return time == null ? null : time.toInstant();
    }

    private static @Nullable List<String> texts(@Nullable Array array) throws SQLException {
        return array == null ? null : List.of((String[]) array.getArray());
    }
}
