package io.postroom.advice;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.postgres.Plan;
import io.postroom.testkit.TestDatabase;
import java.sql.SQLException;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Advice is asked for on large databases too: each statement reads no more than its limit. */
class AdvicePlanTest {
    private static final int ROWS = 30_000;
    private static final int LIMIT = 100;

    private static TestDatabase database;

    @BeforeAll
    static void fill() {
        database = TestDatabase.create();
        database.execute(
                """
                insert into postroom.journal (position, seq, day, outbox_day, key_hash, bytes)
                select i, i, (clock_timestamp() at time zone 'utc')::date, current_date, 1, 400 from generate_series(1, %d) as i""".formatted(ROWS),
                """
                insert into postroom.tick (position, snapshot, seq, day, at)
                select i, '1:1:'::pg_snapshot, i, current_date, now() - make_interval(secs => (%1$d - i) / 100.0)
                from generate_series(1, %1$d) as i""".formatted(ROWS),
                "insert into postroom.subscription (name, lanes) values ('billing', 1)",
                "insert into postroom.lane (subscription, lane, position) values ('billing', 0, 0)",
                """
                insert into postroom.settlement (subscription, lane, position, at, node)
                select 'billing', 0, i, now() - make_interval(secs => (%1$d - i) / 100.0), 'n' from generate_series(1, %1$d) as i""".formatted(ROWS),
                "analyze postroom.tick, postroom.settlement");
    }

    @AfterAll
    static void drop() {
        database.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {Plan.GENERIC, Plan.CUSTOM})
    void ratesHalveTheirWayToEachMinute(String mode) throws SQLException {
        Plan plan = Plan.explain(database, mode, Advisor.class, "read_rates.sql", List.of());
        assertThat(plan.rowsTouched()).as(plan.text()).isBetween(61L, 61L * 2 * 20);
    }

    @ParameterizedTest
    @ValueSource(strings = {Plan.GENERIC, Plan.CUSTOM})
    void sizesReadTheNewestEntries(String mode) throws SQLException {
        assertThat(explain(mode, "read_payload.sql").rowsTouched()).isBetween((long) LIMIT, 2L * LIMIT);
    }

    @ParameterizedTest
    @ValueSource(strings = {Plan.GENERIC, Plan.CUSTOM})
    void flowsReadTheNewestSettlementsAndATickForEach(String mode) throws SQLException {
        assertThat(explain(mode, "read_flows.sql").rowsTouched()).isBetween(2L * LIMIT, 4L * LIMIT);
    }

    private static Plan explain(String mode, String file) throws SQLException {
        return Plan.explain(database, mode, Advisor.class, file, List.of("limit int"), LIMIT);
    }
}
