package io.postroom.server.serve;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.testkit.TestDatabase;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Whatever stands in a field, a page has the same elements with the same attributes. Names of subscriptions, queues and schedules are not
 * among them: the tables refuse all but letters, digits and points.
 */
class HostileFieldsTest {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final String TAME = "tame";
    private static final String HOSTILE =
            "<img src=x onerror=alert(1)>\" autofocus onfocus=\"alert(1)' onclick='x`</script></title><b>&lt;";

    private static final Pattern TAG = Pattern.compile(
            "<(/?[a-z][a-z0-9]*)((?:\\s+[a-zA-Z:-]+(?:=(?:\"[^\"]*\"|'[^']*'))?)*)\\s*/?>|<!doctype html>");
    private static final Pattern ATTRIBUTE = Pattern.compile("([a-zA-Z:-]+)(?:=(?:\"[^\"]*\"|'[^']*'))?");

    private static ConsoleUnderTest tame;
    private static ConsoleUnderTest hostile;

    @BeforeAll
    static void start() throws Exception {
        tame = ConsoleUnderTest.start();
        hostile = ConsoleUnderTest.start();
        fill(tame.database(), TAME);
        fill(hostile.database(), HOSTILE);
    }

    @AfterAll
    static void stop() {
        tame.close();
        hostile.close();
    }

    /** All that a plain insert can bring, as one text. */
    private static void fill(TestDatabase database, String text) {
        String quoted = "'" + text.replace("'", "''") + "'";
        String relay = "'00000000-0000-4000-8000-000000000001'";
        database.execute(
                "insert into postroom.outbox (id, tenant_id, aggregate_type, aggregate_id, event_type, payload, headers)"
                        + " values ('01900000-0000-7000-8000-000000000001', T, T, T, T, json_build_object(T, T), json_build_object(T, T))"
                                .replace("T", quoted));
        database.postroom().journal().stampAll();
        for (String statement : List.of(
                "insert into postroom.subscription (name, lanes, event_types, paused_at, paused_by, pause_reason)"
                        + " values ('billing', 1, null, now(), T, T)",
                "insert into postroom.relay (id, name, subscriptions, leased_until) values (" + relay
                        + ", T, '{billing}', now() + interval '1 day')",
                "insert into postroom.lane (subscription, lane, position) values ('billing', 0, 0)",
                "insert into postroom.circuit (subscription, relay, probe_at, failures, error_class, error)"
                        + " values ('billing', " + relay + ", now() + interval '1 day', 5, T, T)",
                "insert into postroom.dead_letter (source, owner, position, key_hash, message_id, tenant_id, aggregate_type,"
                        + " aggregate_id, event_type, event_version, payload, headers, occurred_at, cause, attempts, error_class,"
                        + " error, fingerprint, history, buried_by) select 'subscription', 'billing', j.position, j.key_hash, o.id,"
                        + " T, T, T, T, 1, o.payload, o.headers, o.occurred_at, 'exhausted', 5, T, T, T, jsonb_build_array("
                        + "jsonb_build_object('attempt', 1, 'error', T, 'node', T)), T from postroom.journal as j join"
                        + " postroom.outbox as o on o.seq = j.seq and o.day = j.outbox_day",
                "insert into postroom.delivery (subscription, position, lane, key_hash, seq, outbox_day, bytes, dead_letter, state)"
                        + " select 'billing', j.position, 0, j.key_hash, j.seq, j.outbox_day, 60, d.id, 'held' from"
                        + " postroom.journal as j join postroom.dead_letter as d on d.position = j.position",
                "insert into postroom.attempt (subscription, position, attempt, duration, node, outcome, error_class, error,"
                        + " fingerprint) values ('billing', 1, 1, interval '1 second', T, 'retry', T, T, T)",
                "insert into postroom.worker (id, name, host, queues, leased_until) values (" + relay
                        + ", T, T, '{mail}', now() + interval '1 day')",
                "insert into postroom.job (queue, kind, tenant_id, payload, headers, retry, unique_key, unique_while, limit_name,"
                        + " limit_key, progress) values ('mail', T, T, json_build_object(T, T), json_build_object(T, T), null, T,"
                        + " 'open', T, T, json_build_object(T, T))",
                "insert into postroom.job_done (id, queue, kind, priority, tenant_id, payload, headers, state, run_at, attempt, fence,"
                        + " created_at, ended_by, error_class, error, fingerprint) values (900, 'mail', T, 100, T,"
                        + " json_build_object(T, T), json_build_object(T, T), 'failed', now(), 1, 1, now(), T, T, T, T)",
                "insert into postroom.job_done (id, queue, kind, priority, payload, state, run_at, attempt, fence, created_at, ended_by,"
                        + " result) values (901, 'mail', T, 100, '{}', 'done', now(), 1, 1, now(), T, json_build_object(T, T))",
                "insert into postroom.job_attempt (job_id, attempt, fence, duration, worker, outcome, error_class, error, fingerprint)"
                        + " values (900, 1, 1, interval '1 second', T, 'failed', T, T, T)",
                "insert into postroom.job_queue (name, paused_at, paused_by, pause_reason) values ('mail', now(), T, T)",
                "insert into postroom.redrive (id, action, filter, actor, reason, id_max, total, state, ended_at, skipped, skips, note)"
                        + " values (" + relay
                        + ", 'redrive', jsonb_build_object('errorClass', T, 'tenants', jsonb_build_array(T)), T,"
                        + " T, 5, 5, 'stopped', now(), 1, jsonb_build_object(T, 1), T)",
                "insert into postroom.schedule (name, cron, zone, missed, overlap, kind, queue, priority, tenant_id, payload, headers,"
                        + " next_at, paused_at, paused_by, pause_reason) values ('nightly', '0 3 * * *', 'UTC', 'skip', true, T, 'mail',"
                        + " 100, T, json_build_object(T, T), json_build_object(T, T), now(), now(), T, T)",
                "insert into postroom.schedule (name, cron, zone, missed, overlap, kind, queue, priority, payload, next_at)"
                        + " values ('unreadable', T, T, 'skip', true, T, T, 100, '{}', now())",
                "insert into postroom.read_model (name, freshness, freshness_limit, version, ignored) values ('sales', 'fresh',"
                        + " interval '1 minute', 1, array[T])",
                "insert into postroom.generation (read_model, number, version, state, subscription, ddl, began_after, made_at, live_at,"
                        + " error) values ('sales', 1, 1, 'live', 'billing', T, 0, now(), now(), T)",
                "insert into postroom.audit (actor, action, subject, reason, details) values (T, T, T, T, jsonb_build_object(T, T))",
                "insert into postroom.materialized_view (name, every, due_at, error, failed_at, failures)"
                        + " values ('shop.sales', interval '1 hour', now(), T, now(), 1)")) {
            database.execute(statement.replaceAll("\\bT\\b", Matcher.quoteReplacement(quoted)));
        }
    }

    /** Elements with the names of their attributes, in their order; fails on a bracket that is no part of one. */
    private static List<String> elements(String page) {
        List<String> elements = new ArrayList<>();
        Matcher tag = TAG.matcher(page);
        int end = 0;
        while (tag.find()) {
            assertThat(page.substring(end, tag.start())).doesNotContain("<");
            end = tag.end();
            StringBuilder element = new StringBuilder(String.valueOf(tag.group(1)));
            Matcher attribute = ATTRIBUTE.matcher(tag.group(2) == null ? "" : tag.group(2));
            while (attribute.find()) {
                element.append(' ').append(attribute.group(1));
            }
            elements.add(element.toString());
        }
        assertThat(page.substring(end)).doesNotContain("<");
        return elements;
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/",
                "/messages",
                "/messages/01900000-0000-7000-8000-000000000001",
                "/subscriptions",
                "/subscriptions/billing",
                "/dead-letters",
                "/dead-letters/list",
                "/dead-letters/1",
                "/redrives/new?ids=1",
                "/queues",
                "/jobs",
                "/jobs?state=failed",
                "/jobs/1",
                "/jobs/900",
                "/jobs/901",
                "/redrives",
                "/redrives/00000000-0000-4000-8000-000000000001",
                "/schedules",
                "/schedules/nightly",
                "/schedules/unreadable",
                "/read-models",
                "/audit",
                "/database",
                "/doctor",
                "/settings"
            })
    void aPageHasTheSameElementsWhateverStandsInItsFields(String path) throws Exception {
        HttpResponse<String> page = hostile.get(path);
        assertThat(page.statusCode()).isEqualTo(200);
        assertThat(page.body()).contains("</html>");
        if (path.equals("/read-models")) {
            assertThat(page.body()).contains("<h2>sales ");
        }
        // What a console has sampled so far differs for some seconds after its start; what stands in fields does not.
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (!elements(hostile.get(path).body())
                        .equals(elements(tame.get(path).body()))
                && System.nanoTime() < deadline) {
            LockSupport.parkNanos(500_000_000);
        }
        assertThat(elements(hostile.get(path).body()))
                .isEqualTo(elements(tame.get(path).body()));
    }
}
