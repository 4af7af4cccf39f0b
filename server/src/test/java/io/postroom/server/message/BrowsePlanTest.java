package io.postroom.server.message;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.server.postgres.RowsRead;
import io.postroom.testkit.TestDatabase;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** That looking through messages reads what is shown, and not all there is. */
class BrowsePlanTest {
    private static final int MESSAGES = 40_000;

    private static TestDatabase database;

    @BeforeAll
    static void fill() {
        database = TestDatabase.create();
        // Over three days, so that there is more than one partition to look into.
        for (int day = 0; day < 3; day++) {
            database.execute(
                    "insert into postroom.outbox (day, id, tenant_id, aggregate_type, aggregate_id, event_type, payload)"
                            + " select (clock_timestamp() at time zone 'utc')::date + " + day
                            + ", gen_random_uuid(), 'acme', 'order',"
                            + " 'o-' || n % 5000, 'OrderPlaced', '{\"n\":1}' from generate_series(1, " + MESSAGES / 3
                            + ") as n");
        }
        database.postroom().journal().stampAll();
        database.execute(
                "insert into postroom.subscription (name, lanes) select 's' || n, 1 from generate_series(1, 10) as n",
                "insert into postroom.attempt (subscription, position, attempt, duration, node, outcome, error_class, error,"
                        + " fingerprint) select 's' || 1 + n % 10, n / 2, 1, interval '1 second', 'n', 'retry', 'e', 'e', 'f' from"
                        + " generate_series(1, 20000) as n",
                "insert into postroom.inbox (consumer, message_id, day, payload_hash) select 'billing', id, postroom.inbox_day(id),"
                        + " sha256('x') from (select postroom.time_ordered_id() as id from generate_series(1, 10000)) as made",
                "analyze");
    }

    @AfterAll
    static void drop() {
        database.close();
    }

    private static long read(String file, Map<String, String> values) throws Exception {
        return RowsRead.by(database, BrowseTable.class, file, values);
    }

    @Test
    void aPageReadsItsEntriesAndNoMore() throws Exception {
        assertThat(read("read_entries.sql", Map.of("after", "20000", "before", "20051", "limit", "50")))
                .isLessThanOrEqualTo(60);
        assertThat(read("read_entries.sql", Map.of("after", "0", "before", "39000", "limit", "50")))
                .isLessThanOrEqualTo(60);
        assertThat(read("read_floor.sql", Map.of())).isLessThanOrEqualTo(10);
        assertThat(read("read_place.sql", Map.of("position", "12345"))).isLessThanOrEqualTo(1);
    }

    @Test
    void aSearchReadsItsWindowAndNoMore() throws Exception {
        String seqs = IntStream.range(30_000, 35_000)
                .mapToObj(Integer::toString)
                .collect(Collectors.joining(",", "array[", "]::bigint[]"));
        Map<String, String> values = Map.of(
                "seqs", seqs, "first_day", "current_date", "last_day", "current_date + 3", "event_type", "'OrderPaid'");
        assertThat(read("read_rows.sql", values)).isLessThanOrEqualTo(5_100);
        Map<String, String> live = Map.of(
                "seqs",
                seqs,
                "first_day",
                "current_date",
                "last_day",
                "current_date + 3",
                "heavy_seqs",
                "'{}'::bigint[]",
                "paths",
                "array['{\"n\"}']",
                "value_length_max",
                "500");
        // A row of paths is read for each row.
        assertThat(read("read_live.sql", live)).isLessThanOrEqualTo(10_200);
    }

    @Test
    void theLifeOfAMessageIsFoundByItsKeys() throws Exception {
        assertThat(read("read_attempts.sql", Map.of("position", "777", "limit", "100")))
                .isLessThanOrEqualTo(30);
        assertThat(read(
                        "read_receipts.sql",
                        Map.of("message_id", "(select postroom.time_ordered_id())", "limit", "50")))
                .isLessThanOrEqualTo(1);
    }
}
