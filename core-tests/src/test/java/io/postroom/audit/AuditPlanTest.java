package io.postroom.audit;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.postgres.Plan;
import io.postroom.testkit.TestDatabase;
import java.sql.SQLException;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Two hundred thousand entries, a second apart: a page reads about as much as it shows, whatever is asked for. */
class AuditPlanTest {
    private static final int ENTRIES = 200_000;
    private static final int PAGE = 100;

    private static TestDatabase database;

    /** One actor in a thousand is hugo, one subject in ten thousand is rare; what lies before the begin is the oldest hour. */
    @BeforeAll
    static void fill() {
        database = TestDatabase.create();
        database.execute("set synchronous_commit = off", """
                insert into postroom.audit (at, actor, action, subject, reason)
                select timestamptz '2026-01-01Z' + make_interval(secs => n), case when n %% 1000 = 0 then 'hugo' else 'anna' end,
                       case when n %% 2 = 0 then 'subscription pause' else 'subscription resume' end,
                       case when n %% 10000 = 0 then 'rare' else 'subscription ' || n %% 7 end, 'r'
                from generate_series(1, %d) as n""".formatted(ENTRIES), "analyze postroom.audit");
    }

    @AfterAll
    static void drop() {
        database.close();
    }

    @ParameterizedTest
    @CsvSource(
            nullValues = "null",
            value = {
                "null, null, null, null, null, null",
                "null, null, null, null, null, 5000",
                "rare, null, null, null, null, null",
                "subscription 3, null, null, null, null, 150000",
                "null, subscription pause, null, null, 2026-01-01T01:00Z, null",
                "null, null, hugo, null, null, 100000",
                "null, null, hugo, null, 2026-01-01T03:00Z, null",
                "null, null, null, null, 2026-01-01T01:00Z, null",
                "null, null, null, 2026-01-01T00:30Z, 2026-01-01T01:00Z, null",
                "null, null, null, 2027-01-01Z, null, null",
                "null, null, nobody, null, null, null"
            })
    void aPageReadsLittleMoreThanItShows(
            String subject, String action, String actor, String from, String to, String before) throws SQLException {
        Plan plan = Plan.explain(
                database,
                Plan.CUSTOM,
                Audit.class,
                "list.sql",
                List.of(
                        "subject text",
                        "action text",
                        "actor text",
                        "from timestamptz",
                        "to timestamptz",
                        "before bigint",
                        "limit int"),
                quoted(subject),
                quoted(action),
                quoted(actor),
                quoted(from),
                quoted(to),
                before,
                PAGE);
        // What is frequent is found among all entries, what is rare by an index of its own.
        assertThat(plan.rowsTouched()).as(plan.text()).isLessThanOrEqualTo(10 * PAGE);
    }

    private static String quoted(String text) {
        return text == null ? "null" : "'" + text + "'";
    }
}
