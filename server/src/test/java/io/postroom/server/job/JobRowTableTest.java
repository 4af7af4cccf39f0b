package io.postroom.server.job;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.job.JobFilter;
import io.postroom.job.JobState;
import io.postroom.postgres.Schema;
import io.postroom.server.postgres.RowsRead;
import io.postroom.testkit.TestDatabase;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class JobRowTableTest {
    private static TestDatabase database;
    private static final JobRowTable TABLE = new JobRowTable(Schema.POSTROOM);

    @BeforeAll
    static void fill() {
        database = TestDatabase.create();
        database.execute(
                "insert into postroom.job (queue, kind, payload) select case when n % 2 = 0 then 'mail' else 'print' end, 'send', '{}'"
                        + " from generate_series(1, 10) as n",
                "insert into postroom.job_done (id, queue, kind, priority, payload, state, run_at, attempt, fence, created_at, ended_by,"
                        + " error_class, error, fingerprint) values (11, 'mail', 'send', 100, '{}', 'failed', now(), 1, 1, now(), 'w', 'E',"
                        + " repeat('x', 5000), 'f')");
    }

    @AfterAll
    static void drop() {
        database.close();
    }

    private static List<Long> ids(JobFilter filter, long from, long before) {
        return database.postroom().database().run(tx -> TABLE.rows(tx, filter, from, before, 100)).stream()
                .map(JobRow::id)
                .toList();
    }

    @Test
    void listsWhatFitsWithinTheWindow() {
        assertThat(ids(JobFilter.ALL, 0, 12)).containsExactly(11L, 10L, 9L, 8L, 7L, 6L, 5L, 4L, 3L, 2L, 1L);
        assertThat(ids(new JobFilter("mail", null, null, null, null), 7, 12)).containsExactly(11L, 10L, 8L);
        assertThat(ids(new JobFilter(null, null, JobState.FAILED, null, null), 0, 11))
                .isEmpty();
    }

    @Test
    void aPageNeverEndsBetweenTwoRunsOfAJob() {
        List<JobRow> found = database.postroom().database().run(tx -> TABLE.rows(tx, JobFilter.ALL, 0, 12, 100));
        List<JobRow> twice = List.of(found.get(0), found.get(1), found.get(1), found.get(2));
        assertThat(JobPages.whole(twice, 2)).containsExactly(found.get(0));
        assertThat(JobPages.whole(twice, 3)).hasSize(3);
        assertThat(JobPages.whole(List.of(found.get(1), found.get(1)), 1)).hasSize(1);
    }

    @Test
    void readsAWindowAndNoMore() throws Exception {
        database.execute(
                "insert into postroom.job_done (id, queue, kind, priority, payload, state, run_at, attempt, fence, created_at, ended_by)"
                        + " select 100 + n, 'mail', 'send', 100, '{}', 'done', now(), 1, 1, now(), 'w' from generate_series(1, 20000) as n",
                "analyze postroom.job_done");
        Map<String, String> rare = Map.of("state", "'failed'", "from", "10000", "before", "11000", "limit", "51");
        assertThat(RowsRead.by(database, JobRowTable.class, "list_rows.sql", rare))
                .isLessThanOrEqualTo(1_010);
        Map<String, String> newest = Map.of("from", "0", "before", "1000000", "limit", "51");
        assertThat(RowsRead.by(database, JobRowTable.class, "list_rows.sql", newest))
                .isLessThanOrEqualTo(120);
        database.execute("delete from postroom.job_done where id > 100");
    }

    @Test
    void knowsTheIdsThereAreAndCutsErrors() {
        assertThat(database.postroom().database().run(TABLE::span)).isEqualTo(new JobRowTable.Span(1, 11));
        assertThat(database.postroom()
                        .database()
                        .run(tx -> TABLE.rows(tx, JobFilter.ALL, 11, 12, 1))
                        .get(0)
                        .error())
                .hasSize(1000);
    }
}
