package io.postroom.server.dev;

import io.postroom.postgres.Schema;
import io.postroom.postgres.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Optional;
import java.util.UUID;

/** The demo's orders and cases: one method per statement, no decisions. Runs in the given transaction, never commits. */
final class DemoTable {
    private final Sql createDemo;
    private final Sql placeOrder;
    private final Sql advanceOrder;
    private final Sql openCase;
    private final Sql advanceCase;

    DemoTable() {
        Schema demo = new Schema("demo");
        createDemo = demo.sql(DemoTable.class, "create_demo.sql");
        placeOrder = demo.sql(DemoTable.class, "place_order.sql");
        advanceOrder = demo.sql(DemoTable.class, "advance_order.sql");
        openCase = demo.sql(DemoTable.class, "open_case.sql");
        advanceCase = demo.sql(DemoTable.class, "advance_case.sql");
    }

    /** An order after a change. */
    record Order(UUID id, String tenantId, int totalCents, long version) {}

    /** A case after a change. */
    record Case(UUID id, String tenantId, String subject, long version) {}

    void create(Connection tx) throws SQLException {
        try (Statement statement = tx.createStatement()) {
            statement.execute(createDemo.text());
        }
    }

    void placeOrder(Connection tx, Order order, String customer) {
        placeOrder
                .on(tx)
                .set("id", order.id())
                .set("tenant_id", order.tenantId())
                .set("customer", customer)
                .set("total_cents", order.totalCents())
                .update();
    }

    Optional<Order> advanceOrder(Connection tx, String from, String to) {
        return advanceOrder
                .on(tx)
                .set("from", from)
                .set("to", to)
                .first(row -> new Order(row.getObject(1, UUID.class), row.getString(2), row.getInt(3), row.getLong(4)));
    }

    void openCase(Connection tx, Case opened) {
        openCase.on(tx)
                .set("id", opened.id())
                .set("tenant_id", opened.tenantId())
                .set("subject", opened.subject())
                .update();
    }

    Optional<Case> advanceCase(Connection tx, String from, String to) {
        return advanceCase
                .on(tx)
                .set("from", from)
                .set("to", to)
                .first(row ->
                        new Case(row.getObject(1, UUID.class), row.getString(2), row.getString(3), row.getLong(4)));
    }
}
