package io.postroom.benchmark;

import java.util.List;

/**
 * A database as it is after years of use: messages of three weeks with their journal, dead letters of many causes, jobs, keys, audit.
 *
 * <p>Written by the server itself, as fast as it can, and not by the library: millions are needed, and what is measured is only who reads
 * them. Positions are seqs, since one session wrote them all.
 */
final class Crowd {
    /** The names of subscriptions: they fail differently often, and are differently far behind. */
    static final List<String> SUBSCRIPTIONS = List.of("orders", "billing", "search", "mail", "archive");

    static final int TENANTS = 20;

    /** Two days less than the partitions that there are: dates here are UTC, wherever the machine is. */
    private static final int DAYS = 20;

    private static final String TODAY = "(clock_timestamp() at time zone 'utc')::date";

    private static final String HISTORY =
            "jsonb_build_array(jsonb_build_object('attempt', 1, 'at', occurred_at, 'seconds', 0.2, 'node',"
                    + " 'relay-1', 'outcome', 'failed', 'errorClass', 'java.io.IOException', 'error', 'refused', 'fingerprint', 'f'))";

    private final BenchDatabase database;
    private final long messages;
    private final long letters;

    Crowd(BenchDatabase database, long messages, long letters) {
        this.database = database;
        this.messages = messages;
        this.letters = letters;
    }

    void fill() {
        subscribe();
        for (int day = 0; day < DAYS; day++) {
            publish(day);
        }
        bury();
        enqueue();
        remember();
        database.execute("vacuum analyze", "checkpoint");
    }

    private void subscribe() {
        database.execute(
                "insert into postroom.subscription (name, lanes, on_burial) select name, 4, case n when 2 then 'hold' else 'continue'"
                        + " end from unnest('{" + String.join(",", SUBSCRIPTIONS)
                        + "}'::text[]) with ordinality as s (name, n)",
                "insert into postroom.relay (id, name, subscriptions, leased_until) select gen_random_uuid(), 'relay-' || n, '{orders}',"
                        + " clock_timestamp() + interval '1 day' from generate_series(1, 3) as n");
    }

    /** The messages of a day, and then their positions, as a stamp leaves them that works off a bulk: a tick for each thousand. */
    private void publish(int day) {
        long first = messages * day / DAYS;
        long last = messages * (day + 1) / DAYS;
        String date = TODAY + " - " + (DAYS - day);
        String at = "((" + date + ")::timestamp at time zone 'utc' + (n - " + first + ") * interval '1 day' / "
                + (last - first + 1) + ")";
        database.execute("""
                insert into postroom.outbox (day, id, tenant_id, aggregate_type, aggregate_id, event_type, payload, occurred_at)
                select %1$s,
                       encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
                           placing substring(int8send((extract(epoch from %2$s) * 1000)::bigint) from 3) from 1 for 6), 52, 1), 53, 1),
                           'hex')::uuid,
                       't-' || n %% %5$d, (array['order', 'invoice', 'parcel'])[1 + n %% 3], 'o-' || n %% 100000,
                       (array['OrderPlaced', 'InvoiceSent', 'ParcelLost'])[1 + n %% 3],
                       ('{"orderId":"o-' || n || '","customer":{"id":' || n %% 977 || ',"country":"PT"},"note":"' || repeat('lorem ', 40)
                           || '"}')::json, %2$s
                from generate_series(%3$d + 1, %4$d) as n""".formatted(date, at, first, last, TENANTS));
        database.execute("""
                insert into postroom.journal (position, seq, day, outbox_day, key_hash, bytes)
                select seq, seq, day, day, postroom.key_hash(tenant_id, aggregate_type, aggregate_id), 350
                from postroom.outbox where day = %1$s""".formatted(date), """
                insert into postroom.tick (position, snapshot, target, cut, seq, day, at)
                select n, case when n = %4$d then pg_current_snapshot() else before.snapshot end,
                       case when n < %4$d then pg_current_snapshot() end, case when n < %4$d then n end, n, %1$s, %2$s + interval '1 s'
                from (select snapshot from postroom.tick order by position desc limit 1) as before
                cross join (select generate_series(%3$d + 1000, %4$d - 1, 1000) as n union all select %4$d) as cut
                """.formatted(date, at, first, last));
    }

    private void bury() {
        long every = messages / letters;
        String owner =
                "(array['orders','orders','orders','orders','orders','orders','orders','billing','billing','search'])"
                        + "[1 + (seq / " + every + ") % 10]";
        // All that is open; and some that were redriven long ago.
        letters("seq % " + every + " = 0", owner, "null, null, null");
        letters("seq % 97 = 0", "'mail'", "'redriven', occurred_at + interval '1 day', 'somebody'");
        database.execute("""
                insert into postroom.redrive (id, action, filter, actor, reason, id_max, total, state, ended_at, done)
                select gen_random_uuid(), 'redrive', '{"owner":"mail"}', 'somebody', 'the mail server is back', 1, 100, 'done',
                       clock_timestamp(), 100
                from generate_series(1, 300) as n""", """
                insert into postroom.lane (subscription, lane, position)
                select s.name, lane, greatest(0, %1$d - case s.name when 'billing' then 1000 when 'search' then %1$d / 10
                                                               when 'mail' then %1$d / 3 else 0 end)
                from postroom.subscription as s, generate_series(0, 3) as lane""".formatted(messages), """
                insert into postroom.settlement (subscription, lane, position, at, node)
                select l.subscription, l.lane, t.position, t.at + interval '1 s', 'relay-1'
                from postroom.lane as l join postroom.tick as t on t.position between 1 and l.position""", """
                insert into postroom.delivery (subscription, position, lane, key_hash, seq, outbox_day, bytes, dead_letter, state)
                select d.owner, d.position, 0, d.key_hash, d.position, %s - 1, 350, d.id, 'held'
                from postroom.dead_letter as d where d.owner = 'billing' and d.resolution is null
                order by d.id desc limit 20000""".formatted(TODAY), """
                insert into postroom.attempt (day, subscription, position, attempt, at, duration, node, outcome, error_class, error,
                                              fingerprint)
                select (d.buried_at at time zone 'utc')::date, d.owner, d.position, 1, d.buried_at, interval '200 ms', 'relay-1', 'failed',
                       d.error_class, d.error, d.fingerprint
                from postroom.dead_letter as d where d.resolution is null and d.buried_at < clock_timestamp()""");
    }

    private void letters(String which, String owner, String resolution) {
        database.execute("""
                insert into postroom.dead_letter (source, owner, position, key_hash, message_id, tenant_id, aggregate_type, aggregate_id,
                    event_type, event_version, payload, occurred_at, cause, attempts, error_class, error, fingerprint, history, buried_at,
                    buried_by, resolution, resolved_at, resolved_by)
                select 'subscription', %2$s, seq, postroom.key_hash(tenant_id, aggregate_type, aggregate_id), id, tenant_id,
                       aggregate_type, aggregate_id, event_type, event_version, payload, occurred_at,
                       (array['rejected', 'exhausted', 'exhausted', 'crashed'])[1 + seq %% 4], 1 + seq %% 10,
                       'java.io.Failure' || seq %% 13, 'the other side said ' || seq %% 13 || ' ' || repeat('and more ', 30),
                       left(md5((seq %% 37)::text), 16), %4$s, occurred_at + interval '10 minutes', 'relay-1', %3$s
                from postroom.outbox where %1$s order by seq""".formatted(which, owner, resolution, HISTORY));
    }

    private void enqueue() {
        long jobs = Math.max(10_000, messages / 100);
        database.execute("""
                insert into postroom.job (queue, kind, tenant_id, payload, waits, run_at, created_at)
                select 'queue-' || n %% 8, 'send-' || n %% 5, 't-' || n %% %2$d, '{"to":"somebody"}',
                       case when n %% 4 = 0 then 'time' end,
                       clock_timestamp() + case when n %% 4 = 0 then interval '1 day' else interval '-1 hour' end, clock_timestamp()
                from generate_series(1, %1$d) as n""".formatted(jobs, TENANTS), """
                insert into postroom.job_done (id, day, queue, kind, priority, tenant_id, payload, state, run_at, attempt, fence, created_at,
                    ended_at, ended_by, error_class, error, fingerprint)
                select n, %2$s - (n %% %3$d)::integer, 'queue-' || n %% 8, 'send-' || n %% 5, 100, 't-' || n %% 20, '{"to":"somebody"}',
                       case when n %% 50 = 0 then 'failed' when n %% 51 = 0 then 'cancelled' else 'done' end, clock_timestamp(), 1, 1,
                       clock_timestamp(), clock_timestamp(), 'worker-1', case when n %% 50 = 0 then 'java.io.IOException' end,
                       case when n %% 50 = 0 then 'refused' end, case when n %% 50 = 0 then 'f' end
                from generate_series(%1$d + 1, %1$d * 2) as n""".formatted(jobs, TODAY, DAYS), """
                insert into postroom.job_attempt (job_id, attempt, fence, duration, worker, outcome, error_class, error, fingerprint)
                select id, 1, 1, interval '1 s', 'worker-1', 'failed', error_class, error, fingerprint
                from postroom.job_done where state = 'failed'""", """
                insert into postroom.dead_letter (source, owner, position, key_hash, message_id, tenant_id, aggregate_type, aggregate_id,
                    event_type, event_version, payload, occurred_at, cause, attempts, error_class, error, fingerprint, buried_by, job)
                select 'job', queue, id, 0, gen_random_uuid(), tenant_id, 'job', id::text, kind, 1, payload, created_at, 'exhausted', 1,
                       error_class, error, fingerprint, ended_by, '{"priority":100,"fence":1}'
                from postroom.job_done where state = 'failed'""", """
                insert into postroom.schedule (name, cron, zone, missed, overlap, kind, queue, priority, payload, next_at)
                select 'schedule-' || n, '0 3 * * *', 'UTC', 'once', false, 'send-1', 'queue-1', 100, '{}',
                       clock_timestamp() + interval '1 hour'
                from generate_series(1, 500) as n""", """
                insert into postroom.schedule_run (schedule, fire_at, job_id)
                select 'schedule-' || n, clock_timestamp() - ago * interval '1 day', 1
                from generate_series(1, 500) as n, generate_series(1, 30) as ago""");
    }

    /** What consumers, callers and operators have left behind. */
    private void remember() {
        long each = Math.max(10_000, messages / 20);
        database.execute("""
                insert into postroom.idempotency_key (tenant_id, scope, key, request_hash, state, status_code, response, created_at,
                    completed_at, expires_at, leased_until)
                select 't-' || n %% %2$d, 'scope-' || n / %2$d %% 10, md5(n::text), sha256('x'),
                       case when n %% 100 = 0 then 'failed' when n %% 1003 = 0 then 'running' else 'completed' end,
                       case when n %% 100 = 0 then 409 when n %% 1003 = 0 then null else 200 end,
                       case when n %% 100 = 0 or n %% 1003 > 0 then 'ok'::bytea end, clock_timestamp(),
                       case when n %% 100 = 0 or n %% 1003 > 0 then clock_timestamp() end, clock_timestamp() + interval '1 day',
                       case when n %% 100 > 0 and n %% 1003 = 0 then clock_timestamp() end
                from generate_series(1, %1$d) as n""".formatted(each, TENANTS), """
                insert into postroom.audit (at, actor, action, subject, reason)
                select clock_timestamp() - n * interval '1 minute', 'operator-' || n %% 7,
                       (array['subscription pause', 'subscription resume', 'deadletter redrive', 'payload reveal'])[1 + n %% 4],
                       'subscription ' || (array['orders', 'billing', 'search'])[1 + n %% 3], 'because of ticket ' || n
                from generate_series(%1$d, 1, -1) as n""".formatted(each), """
                insert into postroom.inbox (consumer, message_id, day, payload_hash)
                select 'shop', id, postroom.inbox_day(id), sha256('x') from postroom.outbox where seq %% 20 = 0""".replace("%%", "%"));
    }
}
