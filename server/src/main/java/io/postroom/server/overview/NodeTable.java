package io.postroom.server.overview;

import io.postroom.postgres.Schema;
import io.postroom.postgres.Sql;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.List;

/** Processes that are alive: one method per statement. */
public final class NodeTable {
    private final Sql listNodes;

    public NodeTable(Schema schema) {
        listNodes = schema.sql(NodeTable.class, "list_nodes.sql");
    }

    /** {@code serves} are subscriptions of a relay, queues of a worker. */
    public record Node(String kind, String name, List<String> serves, Instant startedAt, Duration lease) {}

    public List<Node> list(Connection tx, int limit) {
        return listNodes
                .on(tx)
                .set("limit", limit)
                .list(row -> new Node(
                        row.getString("kind"),
                        row.getString("name"),
                        List.of((String[]) row.getArray("serves").getArray()),
                        row.getObject("started_at", OffsetDateTime.class).toInstant(),
                        Duration.ofMillis(Math.round(row.getDouble("lease_seconds") * 1000))));
    }
}
