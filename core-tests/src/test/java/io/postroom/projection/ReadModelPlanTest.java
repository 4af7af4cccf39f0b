package io.postroom.projection;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.postgres.Plan;
import io.postroom.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A thousand read models, three generations each, and a hundred thousand ticks, deliveries and settlements. */
class ReadModelPlanTest {
    private static final int MODELS = 1_000;
    private static final int MANY = 100_000;

    private static TestDatabase database;

    @BeforeAll
    static void fill() {
        database = TestDatabase.create();
        database.execute(
                "set synchronous_commit = off",
                """
                insert into postroom.read_model (name, freshness, freshness_limit, version)
                select 'm' || n, 'seconds', '1 min', 1 from generate_series(1, %d) as n""".formatted(MODELS),
                """
                insert into postroom.subscription (name, lanes, receiver)
                select 'm' || n || '.g' || g, 4, 'projection' from generate_series(1, %d) as n, generate_series(1, 3) as g""".formatted(MODELS),
                "insert into postroom.lane (subscription, lane, position) select s.name, l, 90000 from postroom.subscription as s,"
                        + " generate_series(0, 3) as l",
                """
                insert into postroom.generation (read_model, number, version, state, subscription, ddl, began_after, made_at)
                select 'm' || n, g, 1, case g when 1 then 'former' when 2 then 'live' else 'building' end, 'm' || n || '.g' || g, '', 0, now()
                from generate_series(1, %d) as n, generate_series(1, 3) as g""".formatted(MODELS),
                """
                insert into postroom.tick (position, snapshot, seq, day, at, xid)
                select n, pg_current_snapshot(), n, current_date, now() - interval '1 day' + n * interval '0.1 s', pg_current_xact_id()
                from generate_series(1, %d) as n""".formatted(MANY),
                """
                insert into postroom.delivery (subscription, position, lane, key_hash, seq, outbox_day, bytes, state, due_at)
                select 'm7.g2', n, 0, n, n, current_date, 2, case when n > 100 then 'scheduled' else 'waiting' end, now()
                from generate_series(1, %d) as n""".formatted(MANY),
                // The same the other way round, and with nothing that waits.
                """
                insert into postroom.delivery (subscription, position, lane, key_hash, seq, outbox_day, bytes, state, due_at)
                select name, n, 0, n, n, current_date, 2,
                       case when name = 'm8.g2' and n > %1$d - 100 then 'waiting' else 'scheduled' end, now()
                from generate_series(1, %1$d) as n, (values ('m8.g2'), ('m9.g2')) as s (name)""".formatted(MANY),
                """
                insert into postroom.settlement (subscription, lane, position, at, node)
                select 'm7.g2', l, n, now(), 'node' from generate_series(1, %d) as n, generate_series(0, 3) as l""".formatted(MANY / 4),
                "analyze");
    }

    @AfterAll
    static void drop() {
        database.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {Plan.GENERIC, Plan.CUSTOM})
    void aBatchFindsItsGenerationByItsKey(String mode) throws SQLException {
        Plan enter = Plan.explain(
                database,
                mode,
                GenerationTable.class,
                "enter.sql",
                List.of("read_model text", "number int"),
                "'m7'",
                2);
        assertThat(enter.rowsTouched()).as(enter.text()).isEqualTo(2);
        Plan epoch = Plan.explain(
                database, mode, GenerationTable.class, "read_epoch.sql", List.of("read_model text"), "'m7'");
        assertThat(epoch.rowsTouched()).as(epoch.text()).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {Plan.GENERIC, Plan.CUSTOM})
    void aBeatReadsOnlyTheGenerationsOfItsModels(String mode) throws SQLException {
        Plan plan = Plan.explain(
                database, mode, GenerationTable.class, "roster.sql", List.of("names text[]"), "array['m7', 'm8']");
        assertThat(plan.rowsTouched()).as(plan.text()).isLessThanOrEqualTo(6);
    }

    @ParameterizedTest
    @ValueSource(strings = {"m7", "m8", "m9"})
    void howFarGenerationsAreIsFoundWithoutReadingAllThatWaits(String model) throws SQLException {
        Plan plan = Plan.explain(
                database,
                Plan.CUSTOM,
                ReadModelTable.class,
                "list_generations.sql",
                List.of("name text", "count_max int"),
                "'" + model + "'",
                50);
        // Three generations, four lanes each; fifty deliveries, sixty settlements; no scheduled ones.
        assertThat(plan.rowsTouched()).as(plan.text()).isLessThan(300);
    }

    @ParameterizedTest
    @ValueSource(strings = {"m7", "m8", "m9"})
    void theAgeOfAReadModelIsFoundInAFewPages(String model) throws SQLException {
        try (Connection tx = database.begin();
                Statement statement = tx.createStatement()) {
            statement.execute("select * from postroom.freshness('" + model + "')");
            try (ResultSet row = statement.executeQuery(
                    "explain (analyze, buffers, format json) select * from postroom.freshness('" + model + "')")) {
                row.next();
                JsonNode plan =
                        JsonMapper.shared().readTree(row.getString(1)).get(0).get("Plan");
                assertThat(plan.get("Shared Hit Blocks").asLong()
                                + plan.get("Shared Read Blocks").asLong())
                        .isLessThan(300);
            }
        }
    }
}
