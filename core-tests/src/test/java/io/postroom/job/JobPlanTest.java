package io.postroom.job;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.postgres.Plan;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Two hundred thousand jobs that wait, a few thousand that run, two hundred thousand that have ended: every hot statement reads what it
 * changes and little more, whether its plan is made for the values or for any, with statistics or with those of an empty table.
 */
class JobPlanTest {
    private static final String WORKER = "'00000000-0000-0000-0000-000000000001'::uuid";
    private static final String DEAD = "'00000000-0000-0000-0000-000000000002'::uuid";
    private static final String CLAIM_TYPES =
            "queue text,limit int,bytes_max bigint,worker uuid,kinds text[],attempts_max int[],deadlines bigint[],slack float8";
    private static final List<String> CLAIM_VALUES =
            List.of("'default'", "50", "1000000", WORKER, "array['work']", "array[5]", "array[60000]::bigint[]", "60");

    private static Workshop shop;

    /** Of 200,000: half can be claimed, of eleven priorities; half wait for their time, 40 of these are due. 4,000 run. */
    @BeforeAll
    static void fill() {
        shop = new Workshop();
        shop.database.execute(
                "set synchronous_commit = off",
                "alter table postroom.job set (autovacuum_enabled = off)",
                """
                insert into postroom.job (queue, kind, priority, payload, waits, run_at)
                select case when n % 10 = 0 then 'other' else 'default' end, 'work', 100 + n % 11, '{}',
                       case when n % 2 = 0 then 'time' end,
                       case when n % 2 = 0 and n % 5000 <> 0 then clock_timestamp() + interval '1 day' else clock_timestamp() end
                from generate_series(1, 200000) as n""",
                "insert into postroom.worker (id, name, host, queues, leased_until) values (" + WORKER
                        + ", 'alive', 'h', '{default}', clock_timestamp() + interval '1 h'), (" + DEAD
                        + ", 'dead', 'h', '{default}', clock_timestamp() - interval '1 min')",
                """
                insert into postroom.job (queue, kind, payload, state, worker, claimed_at, deadline_at, attempt, fence)
                select 'default', 'work', '{}', 'running', case when n % 40 = 0 then %s else %s end, clock_timestamp(),
                       clock_timestamp() + case when n %% 200 = 1 then interval '-1 min' else interval '1 h' end, 1, 1
                from generate_series(1, 4000) as n""".replace("%%", "%").replaceFirst("%s", DEAD).replaceFirst("%s", WORKER),
                """
                insert into postroom.job_done (id, queue, kind, priority, payload, state, run_at, attempt, fence, created_at, ended_by)
                select n, 'default', 'work', 100, '{}', 'done', clock_timestamp(), 1, 1, clock_timestamp(), 'me'
                from generate_series(1000000, 1200000) as n""",
                // Twenty thousand wait for their turn, of a hundred keys; two thousand for ten others each.
                "insert into postroom.job_limit (name, concurrency) values ('tenant', 3)",
                "insert into postroom.job (queue, kind, payload, waits, limit_name, limit_key) select 'default', 'work', '{}', 'turn',"
                        + " 'tenant', 'key-' || n % 100 from generate_series(1, 20000) as n",
                "insert into postroom.job (queue, kind, payload, waits) select 'default', 'work', '{}', 'jobs'"
                        + " from generate_series(1, 2000)",
                "insert into postroom.job_need (of_batch, need, job_id, any_end)"
                        + " select false, n, 224000 + n % 2000, false from generate_series(1, 20000) as n",
                // A hundred thousand keys have jobs for tomorrow.
                "insert into postroom.job (queue, kind, payload, waits, run_at, limit_name, limit_key) select 'other', 'work', '{}', 'time',"
                        + " clock_timestamp() + interval '1 day', 'tenant', 'a-' || n from generate_series(1, 100000) as n",
                "insert into postroom.job_attempt (job_id, attempt, fence, duration, worker, outcome)"
                        + " select n, 1, 1, interval '1 s', 'me', 'snoozed' from generate_series(1, 100000) as n",
                // Of twenty thousand rates one in ten was used up long ago.
                "insert into postroom.job_rate select 'tenant', 'key-' || n, clock_timestamp() - case when n % 10 = 0"
                        + " then interval '3 days' else interval '1 h' end from generate_series(1, 20000) as n",
                // A hundred batches that somebody waits for, half of them ended; two thousand dead letters.
                "insert into postroom.job_batch (name) select 'batch' from generate_series(1, 5000)",
                "insert into postroom.job (queue, kind, payload, waits, run_at, batch) select 'other', 'work', '{}', 'time',"
                        + " clock_timestamp() + interval '1 day', 2 * (n % 50) + 1 from generate_series(1, 20000) as n",
                "insert into postroom.job_done (id, queue, kind, priority, payload, state, run_at, attempt, fence, created_at, ended_by, batch)"
                        + " select 2000000 + n, 'default', 'work', 100, '{}', 'done', clock_timestamp(), 1, 1, clock_timestamp(), 'me',"
                        + " n % 100 + 1 from generate_series(1, 20000) as n",
                "insert into postroom.job_need (of_batch, need, job_id, any_end)"
                        + " select true, n, 224001, false from generate_series(1, 100) as n",
                """
                insert into postroom.dead_letter (source, owner, position, key_hash, message_id, aggregate_type, aggregate_id, event_type,
                                                  event_version, payload, occurred_at, cause, attempts, error_class, error, fingerprint, buried_by, job)
                select 'job', 'default', 3000000 + n, 0, gen_random_uuid(), 'job', n::text, 'work', 1, '{}', clock_timestamp(), 'rejected', 1,
                       'x', 'x', 'x', 'me', jsonb_build_object('uniqueKey', 'key-' || n, 'uniqueWhile', 'open')
                from generate_series(1, 2000) as n""",
                "analyze");
    }

    @AfterAll
    static void close() {
        shop.close();
    }

    static Stream<Arguments> hot() {
        // What runs was inserted after all the others.
        String running = ids(200_001, 200_050);
        String waiting = ids(224_001, 224_050);
        String fences = "array_fill(1::bigint, array[50])";
        String ints = "array_fill(0, array[50])";
        String texts = "array_fill('x'::text, array[50])";
        return Stream.of(
                // Claiming reads each row twice: to lock it and to change it.
                Arguments.of(ClaimTable.class, "claim.sql", CLAIM_TYPES, CLAIM_VALUES, 100),
                Arguments.of(
                        ClaimTable.class,
                        "claim_onward.sql",
                        CLAIM_TYPES + ",priorities int[],turns bigint[]",
                        Stream.concat(CLAIM_VALUES.stream(), Stream.of("array[100, 105]", "array[1000, 0]::bigint[]"))
                                .toList(),
                        100),
                // As many as a busy process claims at once: a planner that expects fewer might fetch and sort them all.
                Arguments.of(ClaimTable.class, "claim.sql", CLAIM_TYPES, ofLimit("1000"), 2_000),
                Arguments.of(
                        ClaimTable.class,
                        "claim_onward.sql",
                        CLAIM_TYPES + ",priorities int[],turns bigint[]",
                        Stream.concat(
                                        ofLimit("1000").stream(),
                                        Stream.of("array[100, 105]", "array[1000, 0]::bigint[]"))
                                .toList(),
                        2_000),
                Arguments.of(BoardTable.class, "queues.sql", "count_max int", List.of("1000"), 9_000),
                Arguments.of(
                        GateTable.class, "promote.sql", "since timestamptz,limit int", List.of("null", "1000"), 80),
                Arguments.of(
                        ClaimTable.class,
                        "find_unknown.sql",
                        "worker uuid,ids bigint[],fences bigint[],limit int,patience text",
                        List.of(
                                "'00000000-0000-0000-0000-000000000003'::uuid",
                                "array[1,2]::bigint[]",
                                "array[1,2]::bigint[]",
                                "1000",
                                "'1000'"),
                        0),
                Arguments.of(
                        SettleTable.class,
                        "complete.sql",
                        "ids bigint[],fences bigint[],ended_by text,patience text",
                        List.of(running, fences, "'me'", "'500'"),
                        50),
                Arguments.of(
                        SettleTable.class,
                        "lock_mine.sql",
                        "ids bigint[],fences bigint[],patience text",
                        List.of(running, fences, "'1000'"),
                        50),
                Arguments.of(
                        SettleTable.class,
                        "put_back.sql",
                        "ids bigint[],waits bigint[],refunds int[],crashes int[]",
                        List.of(running, fences, ints, ints),
                        50),
                Arguments.of(SettleTable.class, "hand_back.sql", "ids bigint[]", List.of(running), 50),
                Arguments.of(
                        SettleTable.class,
                        "end.sql",
                        "ids bigint[],states text[],results text[],error_classes text[],errors text[],fingerprints text[],refunds int[],"
                                + "ended_by text",
                        List.of(
                                running,
                                "array_fill('failed'::text, array[50])",
                                "array_fill(null::text, array[50])",
                                texts,
                                texts,
                                texts,
                                ints,
                                "'me'"),
                        50),
                Arguments.of(
                        SettleTable.class,
                        "note_attempts.sql",
                        "ids bigint[],outcomes text[],durations bigint[],error_classes text[],errors text[],fingerprints text[],workers"
                                + " text[]",
                        List.of(running, texts, fences, texts, texts, texts, texts),
                        50),
                Arguments.of(
                        SettleTable.class,
                        "bury.sql",
                        "ids bigint[],causes text[],attempts int[],error_classes text[],errors text[],fingerprints text[],worker text",
                        List.of(running, "array_fill('crashed'::text, array[50])", ints, texts, texts, texts, "'me'"),
                        50),
                Arguments.of(
                        SettleTable.class,
                        "complete_one.sql",
                        "id bigint,fence bigint,result text,ended_by text,began timestamptz",
                        List.of("200001", "1", "null", "'me'", "now()"),
                        1),
                Arguments.of(WorkerTable.class, "begin.sql", "id bigint,fence bigint", List.of("200001", "1"), 1),
                Arguments.of(
                        WorkerTable.class, "look.sql", "ids bigint[],fences bigint[]", List.of(running, fences), 50),
                // Two workers have jobs, a hundred of which are the dead one's.
                Arguments.of(
                        ReaperTable.class,
                        "find_lost.sql",
                        "limit int,except bigint[],patience text",
                        List.of("100", "'{}'::bigint[]", "'1000'"),
                        110),
                Arguments.of(
                        ReaperTable.class,
                        "find_overdue.sql",
                        "within float8,limit int,except bigint[],patience text",
                        List.of("1e9", "100", "'{}'::bigint[]", "'1000'"),
                        30),
                // Twenty thousand keys, of which a look reads so many, and goes back to those that are old.
                Arguments.of(
                        ReaperTable.class,
                        "forget_rates.sql",
                        "after_name text,after_key text,limit int,kept float8",
                        List.of("'tenant'", "'key-1'", "1000", "86400"),
                        2_000),
                // Nothing of those whose workers are known, however many they have.
                Arguments.of(
                        ReaperTable.class,
                        "find_stray.sql",
                        "limit int,except bigint[],patience text",
                        List.of("100", "'{}'::bigint[]", "'1000'"),
                        10),
                // A key costs a look-up, a count, and twice what it lets through; one for which nobody waits only the
                // look-up.
                Arguments.of(
                        GateTable.class,
                        "admit.sql",
                        "name text,keys text[],limit int",
                        List.of("'tenant'", "array['key-1','key-2','key-3','key-4','key-5','a-7','a-8']", "2"),
                        60),
                // Nothing of the hundred thousand keys that have jobs for tomorrow.
                Arguments.of(GateTable.class, "waiting_limits.sql", "after text,limit int", List.of("''", "10"), 3),
                Arguments.of(
                        GateTable.class,
                        "waiting_keys.sql",
                        "name text,after text,limit int",
                        List.of("'tenant'", "''", "50"),
                        60),
                Arguments.of(
                        GateTable.class,
                        "find_needs.sql",
                        "of_batch text,after bigint,limit int",
                        List.of("'false'", "0", "50"),
                        60),
                // Fifty that somebody waits for, fifty that nobody waits for: for those the need and the job.
                Arguments.of(
                        GateTable.class,
                        "needs_ended.sql",
                        "of_batch text,needs bigint[]",
                        List.of("'false'", ids(19_951, 20_050)),
                        110),
                // For each the need, a job or the batch, and nothing of those that are done.
                Arguments.of(
                        GateTable.class,
                        "needs_ended.sql",
                        "of_batch text,needs bigint[]",
                        List.of("'true'", ids(51, 150)),
                        130),
                Arguments.of(
                        JobRedriver.class,
                        "refusals.sql",
                        "ids bigint[]",
                        List.of("'{11,12,13,14,15,16,17,18,19,20}'::bigint[]"),
                        60),
                Arguments.of(
                        GateTable.class,
                        "meet_needs.sql",
                        "of_batch text,needs bigint[],ended text[],limit int",
                        List.of("'false'", "array[1,2,3]::bigint[]", "array['done','cancelled','failed']", "100"),
                        40),
                Arguments.of(GateTable.class, "release.sql", "ids bigint[]", List.of(waiting), 110),
                Arguments.of(
                        WorkerTable.class,
                        "note_progress.sql",
                        "ids bigint[],fences bigint[],progress text[]",
                        List.of(running, fences, "array_fill('{}'::text, array[50])"),
                        100),
                // Only one of the two tables can have such.
                Arguments.of(
                        BoardTable.class,
                        "list.sql",
                        "queue text,kind text,state text,tenant_id text,batch bigint,from bigint,before bigint,limit int",
                        List.of("null", "null", "'done'", "null", "null", "0", "9000000", "50"),
                        50),
                Arguments.of(BoardTable.class, "find.sql", "id bigint", List.of("1000007"), 1),
                Arguments.of(BoardTable.class, "attempts.sql", "id bigint,limit int", List.of("77", "10"), 1),
                Arguments.of(BoardTable.class, "lock_job.sql", "id bigint", List.of("77"), 1),
                Arguments.of(BoardTable.class, "ask_cancel.sql", "id bigint", List.of("200001"), 1));
    }

    private static String ids(long first, long last) {
        return LongStream.rangeClosed(first, last)
                .mapToObj(Long::toString)
                .collect(Collectors.joining(",", "'{", "}'::bigint[]"));
    }

    private static List<String> ofLimit(String limit) {
        List<String> values = new ArrayList<>(CLAIM_VALUES);
        values.set(1, limit);
        return values;
    }

    @ParameterizedTest
    @MethodSource("hot")
    void readsLittleMoreThanItChanges(Class<?> owner, String file, String types, List<String> values, int rows)
            throws SQLException {
        for (String mode : List.of(Plan.GENERIC, Plan.CUSTOM)) {
            assertTouches(owner, file, types, values, rows, mode);
        }
    }

    /** As after a vacuum at a moment when the queue was empty: PostgreSQL then believes that the table has no rows. */
    @ParameterizedTest
    @MethodSource("hot")
    void readsNoMoreThoughStatisticsSayThatThereIsNothing(
            Class<?> owner, String file, String types, List<String> values, int rows) throws SQLException {
        String before = shop.text("select reltuples from pg_class where oid = 'postroom.job'::regclass");
        shop.database.execute(
                "update pg_class set reltuples = 0 where oid = 'postroom.job'::regclass",
                "delete from pg_statistic where starelid in ('postroom.job'::regclass, 'postroom.job_claim'::regclass)");
        try {
            for (String mode : List.of(Plan.GENERIC, Plan.CUSTOM)) {
                assertTouches(owner, file, types, values, rows, mode);
            }
        } finally {
            shop.database.execute(
                    "update pg_class set reltuples = " + before + " where oid = 'postroom.job'::regclass",
                    "analyze postroom.job");
        }
    }

    /** What an index passes is no row that is read, but has its cost, too: the pages. */
    @ParameterizedTest
    @ValueSource(strings = {Plan.GENERIC, Plan.CUSTOM})
    void passesWhatWaitsForTomorrow(String mode) throws SQLException {
        Plan keys = Plan.explain(
                shop.database,
                mode,
                GateTable.class,
                "waiting_keys.sql",
                List.of("name text", "after text", "limit int"),
                "'tenant'",
                "''",
                "5");
        assertThat(keys.pagesTouched()).as(keys.text()).isLessThan(100);
        Plan limits = Plan.explain(
                shop.database,
                mode,
                GateTable.class,
                "waiting_limits.sql",
                List.of("after text", "limit int"),
                "''",
                "5");
        assertThat(limits.pagesTouched()).as(limits.text()).isLessThan(100);
    }

    private static void assertTouches(
            Class<?> owner, String file, String types, List<String> values, int rows, String mode) throws SQLException {
        Plan plan = Plan.explain(shop.database, mode, owner, file, Arrays.asList(types.split(",")), values.toArray());
        assertThat(plan.rowsTouched())
                .as(file + " " + mode + "\n" + plan.text())
                .isLessThanOrEqualTo(rows + 5);
    }
}
