package io.postroom.fault;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.testkit.ChildJvm;
import io.postroom.testkit.TestDatabase;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A relay that was away for long comes back to many messages, several times as large as its heap. */
class BacklogTest {
    private static final int SMALL = 1_000_000;
    private static final int LARGE = 600;
    private static final int LARGE_BYTES = 500_000;
    private static final int KEYS = 5_000;
    private static final long RESIDENT_KILOBYTES_MAX = 256 * 1024;
    private static final Duration PATIENCE = Duration.ofMinutes(5);

    @Test
    void isDrainedByARelayWithASmallHeap() throws Exception {
        try (TestDatabase database = TestDatabase.create()) {
            insertSmall(database, 1, SMALL / 2);
            insertLarge(database);
            insertSmall(database, SMALL / 2 + 1, SMALL);
            try (ChildJvm relay = ChildJvm.start(
                    BacklogMain.class,
                    List.of("-Xmx128m", "-XX:+ExitOnOutOfMemoryError"),
                    database.url(),
                    Integer.toString(SMALL + LARGE),
                    Integer.toString(2 * KEYS))) {
                String summary = relay.awaitLine("drained ", PATIENCE);
                assertThat(summary)
                        .contains(" distinct=" + (SMALL + LARGE) + " ")
                        .contains(" repeated=0 ")
                        .contains(" outOfOrder=0 ");
                assertThat(number(summary, "bytes"))
                        .as("all of it went through the small heap")
                        .isGreaterThan(300L * SMALL + (long) LARGE_BYTES * LARGE);
                assertThat(number(summary, "residentKilobytes"))
                        .as("the most memory the process ever had, heap and all: %s", summary)
                        .isLessThan(RESIDENT_KILOBYTES_MAX);
                assertThat(relay.awaitExit(PATIENCE)).isZero();
            }
            assertThat(database.queryLong(
                            "select count(*) from postroom.lane l where l.position = (select max(position) from"
                                    + " postroom.journal) and l.position = " + (SMALL + LARGE)))
                    .as("lanes settled to the end")
                    .isEqualTo(4);
        }
    }

    private static void insertSmall(TestDatabase database, int from, int to) {
        database.execute(
                "insert into postroom.outbox (id, aggregate_type, aggregate_id, aggregate_version, event_type, payload)"
                        + " select gen_random_uuid(), 'order', (n % " + KEYS + ")::text, (n - 1) / " + KEYS
                        + " + 1, 'OrderPlaced',"
                        + " ('{\"text\":\"' || repeat('x', 300) || '\"}')::json"
                        + " from generate_series(" + from + ", " + to + ") as n");
    }

    /** One after the other, so that a batch bounded by count alone would not fit. Most of them compress well. */
    private static void insertLarge(TestDatabase database) {
        database.execute(
                "insert into postroom.outbox (id, aggregate_type, aggregate_id, aggregate_version, event_type, payload)"
                        + " select gen_random_uuid(), 'order', (" + KEYS + " + n)::text, 1, 'OrderPlaced',"
                        + " ('{\"text\":\"' || case when n % 10 > 0 then repeat('x', " + LARGE_BYTES + ") else ("
                        + " select string_agg(md5(random()::text || n || m), '') from generate_series(1, "
                        + (LARGE_BYTES / 32 + 1)
                        + ") as m) end || '\"}')::json"
                        + " from generate_series(1, " + LARGE + ") as n");
    }

    private static long number(String summary, String name) {
        int start = summary.indexOf(name + "=") + name.length() + 1;
        int end = summary.indexOf(' ', start);
        return Long.parseLong(summary.substring(start, end < 0 ? summary.length() : end));
    }
}
