package io.postroom.lock;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.postgres.Plan;
import io.postroom.testkit.TestDatabase;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** A hundred thousand leases and names: whatever touches one reads one. */
class LockPlanTest {
    private static final String HOLDER = "'00000000-0000-0000-0000-000000000001'";

    private static TestDatabase database;

    @BeforeAll
    static void fill() {
        database = TestDatabase.create();
        database.execute(
                "set synchronous_commit = off", """
                insert into postroom.lease (name, holder, node, fence, leased_until, taken_at)
                select 'lease-' || n, case when n % 2 = 0 then '00000000-0000-0000-0000-000000000001'::uuid end, 'node:1', 7,
                       case when n % 2 = 0 then clock_timestamp() + interval '1 hour' end,
                       clock_timestamp() - case when n <= 90 then interval '31 days' else interval '1 day' end
                from generate_series(1, 100000) as n""", """
                insert into postroom.lock_name (key, name, noted_at)
                select n, 'name-' || n, clock_timestamp() - case when n <= 90 then interval '31 days' else interval '1 day' end
                from generate_series(1, 100000) as n""", "analyze postroom.lease", "analyze postroom.lock_name");
    }

    @AfterAll
    static void drop() {
        database.close();
    }

    static Stream<Arguments> statements() {
        String take = "name text,holder uuid,node text,lease float8";
        String held = "name text,holder uuid,fence bigint";
        return Stream.of(
                Arguments.of("take.sql", take, List.of("'lease-7'", HOLDER, "'n:1'", "60"), 4, "one that is free"),
                Arguments.of("take.sql", take, List.of("'lease-8'", HOLDER, "'n:1'", "60"), 4, "its own"),
                Arguments.of("take.sql", take, List.of("'new'", HOLDER, "'n:1'", "60"), 4, "a new one"),
                Arguments.of("renew.sql", held + ",lease float8", List.of("'lease-8'", HOLDER, "7", "60"), 4, ""),
                Arguments.of("release.sql", held, List.of("'lease-8'", HOLDER, "7"), 1, ""),
                Arguments.of(
                        "require.sql",
                        held + ",idle float8,idle_millis text",
                        List.of("'lease-8'", HOLDER, "7", "60", "'60000'"),
                        1,
                        ""));
    }

    @ParameterizedTest
    @MethodSource("statements")
    void ofOneLeaseReadItsRowOnly(String file, String parameters, List<String> values, int rowsMax, String which)
            throws SQLException {
        for (String mode : List.of(Plan.GENERIC, Plan.CUSTOM)) {
            Plan plan = Plan.explain(
                    database, mode, LeaseTable.class, file, Arrays.asList(parameters.split(",")), values.toArray());
            assertThat(plan.rowsTouched()).as(which + plan.text()).isLessThanOrEqualTo(rowsMax);
        }
    }

    static Stream<Arguments> names() {
        return Stream.of(Arguments.of("note_names.sql"), Arguments.of("find_sharers.sql"));
    }

    @ParameterizedTest
    @MethodSource("names")
    void ofNamesReadThoseOnly(String file) throws SQLException {
        for (String mode : List.of(Plan.GENERIC, Plan.CUSTOM)) {
            Plan plan = Plan.explain(
                    database,
                    mode,
                    HoldTable.class,
                    file,
                    List.of("keys bigint[]", "names text[]"),
                    "array[5, 6, 1000000]",
                    "array['name-5', 'other', 'new']");
            assertThat(plan.rowsTouched()).as(plan.text()).isLessThanOrEqualTo(3);
        }
    }
}
