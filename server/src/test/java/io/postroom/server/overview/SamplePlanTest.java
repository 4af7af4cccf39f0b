package io.postroom.server.overview;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.postgres.Schema;
import io.postroom.server.postgres.RowsRead;
import io.postroom.testkit.TestDatabase;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** That looking every few seconds reads little, also while nothing happens. */
class SamplePlanTest {
    @Test
    void readsWhatWasSettledDuringTheLastMinuteAndNoMore() throws Exception {
        try (TestDatabase database = TestDatabase.create()) {
            database.execute(
                    "insert into postroom.subscription (name, lanes) values ('billing', 1)",
                    "insert into postroom.settlement (subscription, lane, position, node, at) select 'billing', 0, n, 'relay', now() - interval '1"
                            + " hour' + n * interval '1 millisecond' from generate_series(1, 20000) as n",
                    "analyze");
            assertThat(RowsRead.by(database, SampleTable.class, "read_delays.sql", Map.of("limit", "500")))
                    .isLessThanOrEqualTo(1);
        }
    }

    @Test
    void readsTheLastHourOfTicksAndSettlementsAndNoMoreThanItMay() throws Exception {
        try (TestDatabase database = TestDatabase.create()) {
            database.execute(
                    "insert into postroom.subscription (name, lanes) values ('billing', 1)",
                    "insert into postroom.tick (position, snapshot, seq, day, at) select n, pg_current_snapshot(), n, current_date, now() -"
                            + " interval '9 hours' + n * interval '1 second' from generate_series(1, 32000) as n",
                    "insert into postroom.settlement (subscription, lane, position, node, at) select 'billing', 0, n, 'relay', now() -"
                            + " interval '9 hours' + n * interval '1 second' from generate_series(1, 32000) as n",
                    "analyze");
            assertThat(RowsRead.by(database, SampleTable.class, "read_past.sql", Map.of("rows_max", "5000")))
                    .isLessThanOrEqualTo(5_000 + 3_600 + 100);
            assertThat(RowsRead.by(database, SampleTable.class, "read_past.sql", Map.of("rows_max", "500")))
                    .isLessThanOrEqualTo(1_100);
        }
    }

    @Test
    void readsHowLongMessagesTookAnHourAgoByAFewSettlementsOfEachHalfMinute() throws Exception {
        try (TestDatabase database = TestDatabase.create()) {
            // Ten ticks and ten settlements a second, for nine hours.
            database.execute(
                    "insert into postroom.subscription (name, lanes) values ('billing', 1)",
                    "insert into postroom.tick (position, snapshot, seq, day, at) select n, pg_current_snapshot(), n, current_date, now() -"
                            + " interval '9 hours' + n * interval '100 milliseconds' from generate_series(1, 320000) as n",
                    "insert into postroom.settlement (subscription, lane, position, node, at) select 'billing', 0, n, 'relay', now() -"
                            + " interval '9 hours' + n * interval '100 milliseconds' from generate_series(1, 320000) as n",
                    "analyze");
            // A settlement, the one before it, and the ticks of both.
            assertThat(RowsRead.by(database, SampleTable.class, "read_past_delays.sql", Map.of("limit", "20")))
                    .isLessThanOrEqualTo(121 * 20 * 4);
            assertThat(RowsRead.by(
                            database,
                            SampleTable.class,
                            "find_stamps.sql",
                            Map.of("positions", "array[1, 100000, 300000, 320000]::bigint[]")))
                    .isLessThanOrEqualTo(4);
        }
    }

    @Test
    void findsWhatIsAmissWithoutReadingEveryJob() throws Exception {
        try (TestDatabase database = TestDatabase.create()) {
            database.execute(
                    "alter table postroom.job set (autovacuum_enabled = off)",
                    "insert into postroom.job (queue, kind, payload, run_at) select 'q' || n % 3, 'send', '{}', now() - interval '1"
                            + " hour' from generate_series(1, 20000) as n",
                    "insert into postroom.job (queue, kind, payload) values ('fresh', 'send', '{}')",
                    "insert into postroom.job_queue (name, paused_at, paused_by, pause_reason) values ('q0', now(), 'anna', 'why')",
                    "insert into postroom.worker (id, name, host, queues, leased_until) values (gen_random_uuid(), 'w', 'h', '{q1}', now() +"
                            + " interval '1 hour')",
                    "insert into postroom.materialized_view (name, every, failed_at, error, failures) values ('shop.sales', interval"
                            + " '1 hour', now(), 'no', 1), ('shop.well', interval '1 hour', null, null, 0)",
                    "insert into postroom.dead_letter (source, owner, position, key_hash, message_id, aggregate_type, aggregate_id,"
                            + " event_type, event_version, payload, occurred_at, cause, attempts, error_class, error, fingerprint,"
                            + " buried_by) select case when n <= 7 then 'job' else 'subscription' end, 'q1', n, 1, gen_random_uuid(),"
                            + " 'job', 'x', 'send', 1, '{}', now(), 'exhausted', 5, 'e', 'e', 'f', 'w' from generate_series(1, 20000) as n",
                    "vacuum analyze");
            SampleTable table = new SampleTable(Schema.POSTROOM);
            assertThat(database.postroom().database().run(table::work))
                    .isEqualTo(new Work(7, List.of("q2"), List.of("shop.sales")));
            assertThat(rowsOfWork(database)).isLessThanOrEqualTo(500);
            // As after a vacuum at a moment when the queues were empty.
            database.execute(
                    "update pg_class set reltuples = 0 where oid = 'postroom.job'::regclass",
                    "delete from pg_statistic where starelid in ('postroom.job'::regclass, 'postroom.job_claim'::regclass)");
            assertThat(rowsOfWork(database)).as("without statistics").isLessThanOrEqualTo(500);
        }
    }

    private static long rowsOfWork(TestDatabase database) throws Exception {
        return RowsRead.by(
                database, SampleTable.class, "read_work.sql", Map.of("count_max", "10000", "names_max", "5"));
    }
}
