package io.postroom.server.dev;

import io.postroom.message.Codec;
import io.postroom.message.JacksonCodec;
import io.postroom.message.Message;
import java.sql.Connection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;

/** Two small businesses: each step changes a row of theirs and says what happened. */
final class Business {
    static final String ORDER_PLACED = "OrderPlaced";

    private static final List<String> TENANTS = List.of("acme", "globex", "initech", "umbrella");
    private static final List<String> CUSTOMERS = List.of("Ada", "Grace", "Alan", "Edsger", "Barbara", "Zoë");
    private static final List<String> SUBJECTS = List.of("parcel late", "parcel lost", "wrong size", "refund");

    private final DemoTable table = new DemoTable();
    private final Codec codec = new JacksonCodec();

    DemoTable table() {
        return table;
    }

    /** Does one thing, in the given transaction, and returns the message that tells it. */
    Message step(Connection tx) {
        int dice = ThreadLocalRandom.current().nextInt(100);
        if (dice < 30) {
            return orderStep(tx, "placed", "paid", "OrderPaid");
        }
        if (dice < 55) {
            return orderStep(tx, "paid", "shipped", "OrderShipped");
        }
        if (dice < 62) {
            return openCase(tx);
        }
        if (dice < 65) {
            return caseStep(tx, "opened", "escalated", "CaseEscalated");
        }
        if (dice < 70) {
            return caseStep(tx, dice % 2 == 0 ? "opened" : "escalated", "closed", "CaseClosed");
        }
        return placeOrder(tx);
    }

    private Message orderStep(Connection tx, String from, String to, String event) {
        Optional<DemoTable.Order> order = table.advanceOrder(tx, from, to);
        return order.map(changed -> order(changed, event)).orElseGet(() -> placeOrder(tx));
    }

    private Message caseStep(Connection tx, String from, String to, String event) {
        Optional<DemoTable.Case> changed = table.advanceCase(tx, from, to);
        return changed.map(found -> caseMessage(found, event)).orElseGet(() -> openCase(tx));
    }

    private Message placeOrder(Connection tx) {
        int cents = ThreadLocalRandom.current().nextInt(500, 50_000);
        DemoTable.Order placed = new DemoTable.Order(UUID.randomUUID(), any(TENANTS), cents, 1);
        table.placeOrder(tx, placed, any(CUSTOMERS));
        return order(placed, ORDER_PLACED);
    }

    private Message openCase(Connection tx) {
        DemoTable.Case opened = new DemoTable.Case(UUID.randomUUID(), any(TENANTS), any(SUBJECTS), 1);
        table.openCase(tx, opened);
        return caseMessage(opened, "CaseOpened");
    }

    private Message order(DemoTable.Order order, String event) {
        return Message.about("order", order.id().toString())
                .event(event)
                .tenantId(order.tenantId())
                .aggregateVersion(order.version())
                .payload(codec, Map.of("orderId", order.id().toString(), "totalCents", order.totalCents()))
                .build();
    }

    private Message caseMessage(DemoTable.Case changed, String event) {
        return Message.about("case", changed.id().toString())
                .event(event)
                .tenantId(changed.tenantId())
                .aggregateVersion(changed.version())
                .payload(codec, Map.of("caseId", changed.id().toString(), "subject", changed.subject()))
                .build();
    }

    private static String any(List<String> words) {
        return words.get(ThreadLocalRandom.current().nextInt(words.size()));
    }
}
