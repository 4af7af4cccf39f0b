package io.postroom.externalcall;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.postgres.Plan;
import io.postroom.testkit.TestDatabase;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** A hundred thousand calls: what touches one reads one, what parks reads what is overdue, and a page reads what it shows. */
class ExternalCallPlanTest {
    private static final int PAGE = 100;

    private static TestDatabase database;

    /** One in a thousand is calling, one in five hundred of these is overdue, one in ten thousand is of a rare name, one in four thousand of
     * a tenant. */
    @BeforeAll
    static void fill() {
        database = TestDatabase.create();
        database.execute("set synchronous_commit = off", """
                insert into postroom.external_call (key, name, tenant_id, business_id, revision, request_hash, state, created_at,
                                                    leased_until, window_until, ended_at)
                select name || ':t' || n % 4000 || ':b' || n || ':r1', name, 't' || n % 4000, 'b' || n, 1, repeat('0', 64),
                       case when n % 1000 = 0 then 'calling' else 'done' end, clock_timestamp() - interval '2 days',
                       case when n % 1000 = 0 then clock_timestamp() - interval '1 hour' end,
                       clock_timestamp() + case when n % 10000 = 0 then interval '-1 day' else interval '1 day' end,
                       case when n % 1000 <> 0 then clock_timestamp() end
                from (select n, case when n % 10000 = 1 then 'rare' else 'charge' end as name
                      from generate_series(1, 100000) as n) as calls""", "analyze postroom.external_call");
    }

    @AfterAll
    static void drop() {
        database.close();
    }

    static Stream<Arguments> single() {
        String key = "'charge:t1000:b1000:r1'";
        return Stream.of(
                Arguments.of("find.sql", "key text", List.of(key)),
                Arguments.of("lock.sql", "key text,lease float8", List.of(key, "60")),
                Arguments.of("take.sql", "key text,lease float8", List.of(key, "60")),
                Arguments.of("let_go.sql", "key text,fence bigint,reason text", List.of(key, "1", "'r'")),
                Arguments.of("park.sql", "key text,fence bigint,reason text", List.of(key, "1", "'r'")),
                Arguments.of(
                        "settle.sql",
                        "key text,fence bigint,state text,reference text,reason text",
                        List.of(key, "1", "'done'", "'ch'", "null")),
                Arguments.of(
                        "reconcile.sql",
                        "key text,state text,reference text,reason text",
                        List.of(key, "'done'", "'ch'", "'r'")),
                Arguments.of(
                        "latest.sql",
                        "name text,tenant_id text,business_id text",
                        List.of("'charge'", "'t1000'", "'b1000'")));
    }

    @ParameterizedTest
    @MethodSource("single")
    void readsOneRow(String file, String parameters, List<String> values) throws SQLException {
        for (String mode : List.of(Plan.GENERIC, Plan.CUSTOM)) {
            Plan plan = Plan.explain(
                    database,
                    mode,
                    ExternalCallTable.class,
                    file,
                    Arrays.asList(parameters.split(",")),
                    values.toArray());
            assertThat(plan.rowsTouched()).as(plan.text()).isEqualTo(1);
        }
    }

    @Test
    void parkingReadsWhatIsOverdue() throws SQLException {
        Plan plan = Plan.explain(
                database,
                Plan.GENERIC,
                ExternalCallTable.class,
                "park_overdue.sql",
                List.of("limit int", "reason text"),
                1000,
                "'r'");
        assertThat(plan.rowsTouched()).as(plan.text()).isEqualTo(20);
    }

    @ParameterizedTest
    @CsvSource(
            nullValues = "null",
            value = {
                "null, null, null, null",
                "null, null, null, 5000",
                "'calling', null, null, null",
                "'declined', null, null, null",
                "'done', 'charge', null, 50000",
                "null, 'rare', null, null",
                "null, 'nobody', null, null",
                "null, null, 't7', null",
                "'done', null, 't7', 50000"
            })
    void aPageReadsLittleMoreThanItShows(String state, String name, String tenant, String before) throws SQLException {
        List<Object> values = new ArrayList<>();
        for (String text : Arrays.asList(state, name, tenant)) {
            values.add(text == null ? "null" : "'" + text + "'");
        }
        values.add(before);
        values.add(PAGE);
        Plan plan = Plan.explain(
                database,
                Plan.CUSTOM,
                ExternalCallTable.class,
                "list.sql",
                List.of("state text", "name text", "tenant_id text", "before bigint", "limit int"),
                values.toArray());
        assertThat(plan.rowsTouched()).as(plan.text()).isLessThanOrEqualTo(10 * PAGE);
    }
}
