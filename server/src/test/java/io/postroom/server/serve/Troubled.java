package io.postroom.server.serve;

import io.postroom.message.Message;
import io.postroom.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.stream.IntStream;

/** Fills a database as it looks on a bad day: nobody delivers, a carrier times out, a key is held, somebody has paused something. */
public final class Troubled {
    private Troubled() {}

    public static void fill(TestDatabase database) throws SQLException {
        try (Connection tx = database.begin()) {
            database.postroom()
                    .outbox()
                    .publishAll(
                            tx,
                            IntStream.range(0, 60)
                                    .mapToObj(n -> Message.about("order", "o-" + (1000 + n % 20))
                                            .tenantId(n % 3 == 0 ? "acme" : "globex")
                                            .event(n % 2 == 0 ? "OrderPlaced" : "OrderPaid")
                                            .payload("{\"order\":" + n
                                                    + ",\"total\":{\"amount\":\"19.90\",\"currency\":\"EUR\"}}")
                                            .build())
                                    .toList());
            tx.commit();
        }
        database.postroom().journal().stampAll();
        database.execute(
                "update postroom.tick set at = at - interval '14 minutes'",
                "insert into postroom.subscription (name, lanes, paused_at, paused_by, pause_reason) values ('billing', 4, null, null,"
                        + " null), ('shipping', 2, null, null, null), ('search', 1, now() - interval '3 hours', 'anna',"
                        + " 'reindexing, see OPS-311')",
                "insert into postroom.lane (subscription, lane, position) select 'billing', n, 3 from generate_series(0, 3) as n"
                        + " union all select 'shipping', n, 50 from generate_series(0, 1) as n union all select 'search', 0, 12",
                "insert into postroom.dead_letter (source, owner, position, key_hash, message_id, tenant_id, aggregate_type,"
                        + " aggregate_id, event_type, event_version, payload, headers, occurred_at, cause, attempts, error_class, error,"
                        + " fingerprint, history, buried_by) select 'subscription', 'shipping', j.position, j.key_hash, o.id,"
                        + " o.tenant_id, o.aggregate_type, o.aggregate_id, o.event_type, o.event_version, o.payload, o.headers,"
                        + " o.occurred_at, 'exhausted', 5, e.class, e.text, e.class, jsonb_build_array(jsonb_build_object('attempt', 1,"
                        + " 'at', '2026-11-16T09:12:44Z', 'outcome', 'retry', 'error', e.text, 'node', 'relay-7f9c')), 'relay-7f9c'"
                        + " from postroom.journal as j join postroom.outbox as o on o.seq = j.seq and o.day = j.outbox_day"
                        + " cross join lateral (select case when j.position % 4 = 0 then 'HttpStatusException' else"
                        + " 'HttpTimeoutException' end as class, case when j.position % 4 = 0 then 'POST"
                        + " https://carrier.example/v2/labels answered 422: {\"error\":\"postal code 0815 is not known in DE\"}'"
                        + " else 'POST https://carrier.example/v2/labels: request timed out after 5000 ms, no byte was received' end"
                        + " as text) as e where j.position <= 40 order by j.position",
                "insert into postroom.delivery (subscription, position, lane, key_hash, seq, outbox_day, bytes, dead_letter, state)"
                        + " select 'shipping', j.position, 0, j.key_hash, j.seq, j.outbox_day, 60, d.id, 'held' from postroom.journal as j"
                        + " join postroom.dead_letter as d on d.position = j.position where j.position <= 3",
                "insert into postroom.audit (actor, action, subject, reason, details) values ('anna', 'subscription pause',"
                        + " 'subscription search', 'reindexing, see OPS-311', '{}')");
    }
}
