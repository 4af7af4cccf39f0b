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
