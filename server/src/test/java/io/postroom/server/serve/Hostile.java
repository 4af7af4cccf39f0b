package io.postroom.server.serve;

import io.postroom.job.Job;
import io.postroom.message.Message;
import io.postroom.schedule.FixedRate;
import io.postroom.schedule.Schedule;
import io.postroom.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;

/** Fills a database whose every field that others can write has markup in it. */
public final class Hostile {
    /** Must never be seen like this in a page. */
    public static final String MARKUP = "<img src=x onerror=alert(1)>\"'`${7*7}</script>";

    private Hostile() {}

    /** Three subscriptions, two of them paused, ten messages of five keys, of which those of the first five are dead letters of shipping. */
    public static void fill(TestDatabase database) throws SQLException {
        try (Connection tx = database.begin()) {
            database.postroom().outbox().publishAll(tx, messages());
            Job job = Job.of("mail.send", "{\"text\":\"<img src=x onerror=alert(1)>\"}")
                    .queue("mail")
                    .tenantId(MARKUP)
                    .header("note", MARKUP)
                    .build();
            database.postroom().jobs().enqueue(tx, job);
            Schedule schedule = Schedule.of(
                    "nightly",
                    FixedRate.every(Duration.ofDays(1)),
                    Job.of("report", "{}").build());
            database.postroom().schedules().put(tx, schedule);
            tx.commit();
        }
        database.postroom().journal().stampAll();
        String markup = MARKUP.replace("'", "''");
        database.execute(
                "insert into postroom.subscription (name, lanes, event_types, paused_at, paused_by, pause_reason) values"
                        + " ('casework', 2, '{OrderPaid}', now(), '" + markup + "', '" + markup
                        + "'), ('claims', 1, null, now(), '" + markup + "', '" + markup
                        + "'), ('shipping', 1, null, null, null, null)",
                "insert into postroom.lane (subscription, lane, position) values ('casework', 0, 0), ('casework', 1, 0),"
                        + " ('claims', 0, 0), ('shipping', 0, 5)",
                "insert into postroom.dead_letter (source, owner, position, key_hash, message_id, tenant_id, aggregate_type,"
                        + " aggregate_id, event_type, event_version, payload, headers, occurred_at, cause, attempts, error_class, error,"
                        + " fingerprint, history, buried_by) select 'subscription', 'shipping', j.position, j.key_hash, o.id, o.tenant_id,"
                        + " o.aggregate_type, o.aggregate_id, o.event_type, o.event_version, o.payload, o.headers, o.occurred_at,"
                        + " 'exhausted', 5, '" + markup + "', '" + markup + "', '" + markup
                        + "', jsonb_build_array(jsonb_build_object('attempt', 1, 'error', '" + markup + "', 'node', '"
                        + markup
                        + "')), '" + markup
                        + "' from postroom.journal as j join postroom.outbox as o on o.seq = j.seq and o.day ="
                        + " j.outbox_day where j.position <= 5 order by j.position",
                "insert into postroom.delivery (subscription, position, lane, key_hash, seq, outbox_day, bytes, state, due_at, attempts,"
                        + " error_class, error, fingerprint) select 'claims', j.position, 0, j.key_hash, j.seq, j.outbox_day, 100,"
                        + " case when j.position = 6 then 'waiting' else 'parked' end, case when j.position = 6 then now() end, 3,"
                        + " case when j.position = 6 then '" + markup + "' end, case when j.position = 6 then '"
                        + markup
                        + "' end, 'f' from postroom.journal as j where j.position > 5",
                "insert into postroom.attempt (subscription, position, attempt, duration, node, outcome, error_class, error,"
                        + " fingerprint) values ('shipping', 1, 1, interval '1 second', '" + markup + "', 'retry', '"
                        + markup + "', '"
                        + markup + "', 'f')",
                "insert into postroom.job_queue (name, paused_at, paused_by, pause_reason) values ('mail', now(), '"
                        + markup + "', '" + markup + "')",
                "insert into postroom.job_attempt (job_id, attempt, fence, duration, worker, outcome, error_class, error, fingerprint)"
                        + " select id, 1, 1, interval '1 second', '" + markup + "', 'failed', '" + markup + "', '"
                        + markup
                        + "', 'f' from postroom.job",
                "update postroom.schedule set paused_at = now(), paused_by = '" + markup + "', pause_reason = '"
                        + markup + "'",
                "insert into postroom.audit (actor, action, subject, reason, details) values ('" + markup + "', '"
                        + markup + "', '" + markup + "', '" + markup + "', jsonb_build_object('a', '" + markup + "'))",
                "insert into postroom.idempotency_key (tenant_id, scope, key, request_hash, state, created_at, expires_at, fence,"
                        + " leased_until, recovery_point, step) values ('" + markup
                        + "', 'orders', '<img/src=x/onerror=alert(1)>', sha256('x'), 'running', now(), now() + interval '1 day', 1,"
                        + " now(), 1, 'charge')",
                "insert into postroom.materialized_view (name, every, due_at, error, failed_at, failures) values"
                        + " ('shop.sales', interval '1 hour', now(), '" + markup + "', now(), 1)");
    }

    private static List<Message> messages() {
        return IntStream.range(0, 10)
                .mapToObj(n -> Message.about("order", MARKUP + n % 5)
                        .tenantId(MARKUP)
                        .event(n < 5 ? "OrderPlaced" : "OrderPaid")
                        .header("note", MARKUP)
                        .payload("{\"n\":" + n + ",\"customer\":{\"id\":\"c-" + n
                                + "\"},\"text\":\"<img src=x onerror=alert(1)>\"}")
                        .build())
                .toList();
    }
}
