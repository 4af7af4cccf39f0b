package io.postroom.server.job;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.job.JobBoard;
import io.postroom.server.postgres.RowsRead;
import io.postroom.testkit.TestDatabase;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** That the page of queues reads no further than it counts. */
class QueuePlanTest {
    @Test
    void readsNoFurtherThanItCounts() throws Exception {
        try (TestDatabase database = TestDatabase.create()) {
            database.execute(
                    "insert into postroom.job (queue, kind, payload) select 'q' || n % 3, 'send', '{}' from generate_series(1, 20000)"
                            + " as n",
                    "insert into postroom.job (queue, kind, payload, run_at, waits) select 'later', 'send', '{}', now() + interval '1"
                            + " day', 'time' from generate_series(1, 10000)",
                    "vacuum analyze postroom.job");
            assertThat(RowsRead.by(database, JobBoard.class, "queues.sql", Map.of("count_max", "1000")))
                    .isLessThanOrEqualTo(4_100);
            assertThat(database.postroom().jobBoard().queues())
                    .extracting(queue -> queue.name() + " " + queue.ready() + " " + queue.waiting())
                    .containsExactly("later 0 10000", "q0 6666 0", "q1 6667 0", "q2 6667 0");
        }
    }
}
