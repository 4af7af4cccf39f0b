package io.postroom.inbox;

import io.postroom.postgres.Schema;
import io.postroom.postgres.Sql;
import java.sql.Array;
import java.sql.Connection;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;

/** The inbox as a consumer sees it: one method per statement, no decisions. Runs in the given transaction, never commits. */
final class InboxTable {
    private final Sql accept;
    private final Sql declare;

    InboxTable(Schema schema) {
        accept = schema.sql(InboxTable.class, "accept.sql");
        declare = schema.sql(InboxTable.class, "declare.sql");
    }

    List<Acceptance> accept(Connection tx, String consumer, List<Received> received) {
        return accept.on(tx)
                .set("consumer", consumer)
                .set("message_ids", received.stream().map(Received::id).toArray(UUID[]::new))
                .set(
                        "payload_hashes",
                        received.stream().map(Received::payloadHash).toArray(byte[][]::new))
                .one(row -> {
                    Array answers = row.getArray(1);
                    return Stream.of((String[]) answers.getArray())
                            .map(Acceptance::of)
                            .toList();
                });
    }

    void declare(Connection tx, String consumer, Retention retention) {
        declare.on(tx)
                .set("consumer", consumer)
                .set("retention", retention.kept())
                .set("redelivery", retention.redelivery())
                .update();
    }
}
