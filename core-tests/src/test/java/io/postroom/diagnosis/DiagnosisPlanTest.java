package io.postroom.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.postgres.Schema;
import io.postroom.testkit.TestDatabase;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A hundred thousand messages and deliveries, a stamp each second: every look-up reads a small part of them. */
class DiagnosisPlanTest {
    private static final int MESSAGES = 100_000;
    private static final int PER_TICK = 100;
    private static final long TICKS = MESSAGES / PER_TICK;
    /** Halving a thousand ticks, with a little waste. */
    private static final long HALVING_MAX = 60;

    private static final String TODAY = "date '" + LocalDate.now(ZoneOffset.UTC) + "'";

    private static TestDatabase database;

    @BeforeAll
    static void fill() {
        database = TestDatabase.create();
        database.execute(
                "set synchronous_commit = off",
                """
                insert into postroom.outbox (xid, id, aggregate_type, aggregate_id, event_type, payload)
                select (1000 + i / %1$d)::text::xid8, ('01900000-0000-7000-8000-' || lpad(to_hex(i), 12, '0'))::uuid, 'order', i::text,
                       'OrderPlaced', '{}'
                from generate_series(0, %2$d) as i""".formatted(PER_TICK, MESSAGES - 1),
                """
                insert into postroom.journal (position, seq, day, outbox_day, key_hash, bytes)
                select seq, seq, day, day, seq %% 5000, 2 from postroom.outbox""".formatted(),
                """
                insert into postroom.tick (position, snapshot, seq, day, at)
                select (i + 1) * %1$d, format('%%1$s:%%1$s:', 1001 + i)::pg_snapshot, (i + 1) * %1$d, (clock_timestamp() at time zone 'utc')::date,
                       '2026-01-01Z'::timestamptz + make_interval(secs => i)
                from generate_series(0, %2$d) as i""".formatted(PER_TICK, TICKS - 1),
                "insert into postroom.subscription (name, lanes) values ('billing', 4), ('shipping', 4)",
                "insert into postroom.lane (subscription, lane, position) select s.name, i, 50000 from postroom.subscription as s,"
                        + " generate_series(0, 3) as i",
                """
                insert into postroom.delivery (subscription, position, lane, key_hash, seq, outbox_day, bytes, state, due_at)
                select 'billing', seq, 0, 7, seq, day, 2, case when seq = 1 then 'waiting' else 'parked' end,
                       case when seq = 1 then now() end
                from postroom.outbox""",
                """
                insert into postroom.attempt (subscription, position, attempt, duration, node, outcome, error_class, error, fingerprint)
                select 'billing', seq %% 20000, 1, '1 s', 'node', 'retry', 'c', 'e', 'f' from postroom.outbox""".formatted(),
                """
                insert into postroom.dead_letter (source, owner, position, key_hash, message_id, aggregate_type, aggregate_id, event_type,
                                                  event_version, payload, occurred_at, cause, attempts, error_class, error, fingerprint,
                                                  buried_by)
                select 'subscription', 'shipping', seq, 7, id, 'order', aggregate_id, 'OrderPlaced', 1, payload, now(), 'rejected', 1, 'c',
                       'e', 'f', 'node'
                from postroom.outbox""",
                "analyze");
    }

    @AfterAll
    static void drop() {
        database.close();
    }

    @ParameterizedTest
    @ValueSource(ints = {-5, 0, 333, 999, 2000})
    void ticksAreFoundByTimeInAFewLookUps(int second) throws SQLException {
        Plan plan = explain(
                "find_ticks.sql", Map.of("at", "'2026-01-01Z'::timestamptz + make_interval(secs => " + second + ")"));
        assertThat(plan.rowsTouched()).as(plan.text).isLessThan(HALVING_MAX);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 333, 999, 5000})
    void theStampOfATransactionIsFoundInAFewLookUps(int transaction) throws SQLException {
        Plan plan = explain("find_stamp.sql", Map.of("xid", "'" + (1000 + transaction) + "'", "seq", "1"));
        assertThat(plan.rowsTouched()).as(plan.text).isLessThan(HALVING_MAX);
    }

    @Test
    void theTickBeforeASeqIsFoundInAFewLookUps() throws SQLException {
        Plan plan = explain("last_tick_before.sql", Map.of("seq", "77777"));
        assertThat(plan.rowsTouched()).as(plan.text).isLessThan(HALVING_MAX);
    }

    @Test
    void aMessageIsLookedForOnlyAmongTheSeqsOfItsTime() throws SQLException {
        Plan plan = explain(
                "find_by_seq.sql",
                Map.of(
                        "id",
                        "'" + UUID.randomUUID() + "'",
                        "first_day",
                        TODAY + " - 1",
                        "last_day",
                        TODAY + " + 2",
                        "seq_after",
                        "50000",
                        "seq_to",
                        "52000",
                        "limit",
                        "10"));
        assertThat(plan.rowsTouched()).as(plan.text).isEqualTo(2_000);
    }

    @Test
    void aDayIsLookedThroughWithoutTouchingOthers() throws SQLException {
        Plan plan = explain(
                "find_by_day.sql",
                Map.of(
                        "id",
                        "'" + UUID.randomUUID() + "'",
                        "first_day",
                        TODAY,
                        "last_day",
                        TODAY + " + 1",
                        "limit",
                        "10"));
        assertThat(plan.tables()).as(plan.text).isEqualTo(1);
    }

    @Test
    void anEntryIsLookedForOnlyWithinItsStamp() throws SQLException {
        Plan plan = explain(
                "find_entry.sql",
                Map.of(
                        "seq",
                        "33380",
                        "outbox_day",
                        TODAY,
                        "after",
                        "33300",
                        "up_to",
                        "33400",
                        "first_day",
                        TODAY,
                        "last_day",
                        TODAY));
        assertThat(plan.rowsTouched()).as(plan.text).isLessThanOrEqualTo(PER_TICK);
        assertThat(plan.text).doesNotContain("Seq Scan");
    }

    @Test
    void theHeadOfAKeyIsFoundBeforeAllThatIsParkedBehindIt() throws SQLException {
        Plan plan =
                explain("read_key_head.sql", Map.of("subscription", "'billing'", "key_hash", "7", "position", "99999"));
        assertThat(plan.rowsTouched()).as(plan.text).isLessThan(10);
    }

    @Test
    void everythingElseIsReadByKeyOrIndex() throws SQLException {
        assertSmall("read_deliveries.sql", Map.of("subscriptions", "'{billing,shipping}'::text[]", "position", "777"));
        assertSmall("read_attempts.sql", Map.of("subscription", "'billing'", "position", "777", "limit", "1000"));
        assertSmall(
                "find_letters.sql", Map.of("message_id", "'01900000-0000-7000-8000-000000000777'", "limit", "1000"));
        assertSmall("read_subscriptions.sql", Map.of("subscription", "null", "key_hash", "7", "limit", "1000"));
        assertSmall("stamped_at.sql", Map.of("position", "50050"));
        assertSmall("journal_end.sql", Map.of());
        assertSmall(
                "read_skips.sql",
                Map.of(
                        "subject", "'subscription billing'",
                        "lane", "1",
                        "position", "777",
                        "since", "now()",
                        "limit", "1"));
    }

    @Test
    void aWholeAnswerTakesAMoment() {
        UUID id = UUID.fromString("01900000-0000-7000-8000-000000000777");
        Why why = database.postroom().diagnosis().why(id);
        assertThat(why.answers()).hasSize(2);
    }

    private static void assertSmall(String file, Map<String, String> values) throws SQLException {
        Plan plan = explain(file, values);
        assertThat(plan.rowsTouched()).as(file + plan.text).isLessThan(50);
    }

    private static Plan explain(String file, Map<String, String> values) throws SQLException {
        String sql = source(file).replaceAll("--.*", "");
        for (Map.Entry<String, String> value : values.entrySet()) {
            sql = sql.replaceAll("(?<!:):" + value.getKey() + "\\b", value.getValue());
        }
        try (Connection tx = database.begin();
                Statement statement = tx.createStatement();
                ResultSet row = statement.executeQuery("explain (analyze, timing off, format json) " + sql)) {
            row.next();
            return new Plan(row.getString(1));
        }
    }

    private static String source(String file) {
        try (InputStream in = DiagnosisTable.class.getResourceAsStream(file)) {
            return Schema.POSTROOM.fill(new String(in.readAllBytes(), StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A plan that has been run. */
    private static final class Plan {
        final String text;
        private final JsonNode root;
        private long rows;
        private long tables;

        Plan(String text) {
            this.text = text;
            this.root = JsonMapper.shared().readTree(text).get(0).get("Plan");
            walk(root);
        }

        long rowsTouched() {
            return rows;
        }

        long tables() {
            return tables;
        }

        private void walk(JsonNode node) {
            double loops = node.get("Actual Loops").doubleValue();
            if (node.has("Relation Name") && loops > 0) {
                double removed = node.has("Rows Removed by Filter")
                        ? node.get("Rows Removed by Filter").doubleValue()
                        : 0;
                rows += Math.round((node.get("Actual Rows").doubleValue() + removed) * loops);
                tables++;
            }
            if (node.has("Plans")) {
                node.get("Plans").forEach(this::walk);
            }
        }
    }
}
