package io.postroom.relay;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.postgres.Schema;
import io.postroom.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** Which deliveries the statements of a lane choose. */
class DeliveryTableTest {
    private static final RelayTable.Held LANE = new RelayTable.Held("all", 1, 1);
    private static final DeliveryTable TABLE = new DeliveryTable(Schema.POSTROOM);

    private static final DeliveryTable.Reach ALL = new DeliveryTable.Reach(Long.MAX_VALUE, List.of(), Long.MAX_VALUE);

    static TestDatabase database;

    @BeforeAll
    static void create() {
        database = TestDatabase.create();
        database.execute("insert into postroom.subscription (name, lanes) values ('all', 4)");
    }

    @AfterAll
    static void drop() {
        database.close();
    }

    @BeforeEach
    void clear() {
        database.execute("delete from postroom.delivery");
    }

    /** Messages that wait, with so many crashes each, each due a second after the one before it. */
    static void waiting(long from, long to, int crashes, String firstDue) {
        database.execute("""
                insert into postroom.delivery (subscription, position, lane, key_hash, seq, outbox_day, bytes, state, due_at, attempts,
                    crashes)
                select 'all', n, 1, n * 4 + 1, n, current_date, 100, 'waiting',
                    now() + interval '%s' + make_interval(secs => n - %d), 2, %d
                from generate_series(%d, %d) as n""".formatted(firstDue, from, crashes, from, to));
    }

    interface Statement<T> {
        T run(Connection tx) throws SQLException;
    }

    static <T> T run(Statement<T> statement) throws SQLException {
        try (Connection tx = database.begin()) {
            T result = statement.run(tx);
            tx.commit();
            return result;
        }
    }

    /** {@code claim_suspects.sql}. */
    @Nested
    class ClaimSuspects {
        @Test
        void takesAnEighthAtOnce() throws SQLException {
            waiting(1, 80, 1, "-1 hour");
            List<DeliveryTable.Row> rows = claim();
            assertThat(positions(rows)).containsExactlyElementsOf(span(1, 10));
            assertThat(rows).allSatisfy(row -> {
                assertThat(row.alone()).isFalse();
                assertThat(row.past().attempts()).isEqualTo(3);
                assertThat(row.past().crashes()).isEqualTo(1);
            });
            assertThat(count("state = 'sending' and attempts = 3 and not alone and sending_by = 'node'"))
                    .isEqualTo(10);
        }

        @Test
        void takesAFewOfVeryMany() throws SQLException {
            waiting(1, 10_000, 1, "-1 day");
            assertThat(claim()).hasSize(32);
        }

        @Test
        void takesOneOfAFewAndAlone() throws SQLException {
            waiting(1, 7, 1, "-1 hour");
            List<DeliveryTable.Row> rows = claim();
            assertThat(positions(rows)).containsExactly(1L);
            assertThat(rows).allMatch(DeliveryTable.Row::alone);
            assertThat(count("state = 'sending'")).isEqualTo(1);
            assertThat(count("alone")).as("others may still be on their way").isZero();
            run(tx -> {
                TABLE.markAlone(tx, "all", 1);
                TABLE.markAlone(tx, "all", 2);
                return true;
            });
            assertThat(count("alone and position = 1")).isEqualTo(1);
            assertThat(count("alone")).isEqualTo(1);
        }

        @Test
        void takesThoseWithFewerCrashesFirst() throws SQLException {
            waiting(1, 40, 2, "-1 day");
            waiting(41, 64, 1, "-1 hour");
            assertThat(positions(claim())).containsExactly(41L, 42L, 43L);
            database.execute("delete from postroom.delivery where crashes = 1");
            assertThat(positions(claim())).containsExactlyElementsOf(span(1, 5));
        }

        @Test
        void takesNoneThatIsNotDueOrNotSuspect() throws SQLException {
            waiting(1, 8, 1, "1 hour");
            waiting(11, 18, 0, "-1 hour");
            assertThat(claim()).isEmpty();
        }

        @Test
        void isHeldUpByNoneThatIsNotDue() throws SQLException {
            waiting(1, 1_000, 1, "1 hour");
            waiting(1_001, 1_001, 2, "-1 hour");
            assertThat(positions(claim())).containsExactly(1_001L);
        }

        private List<DeliveryTable.Row> claim() throws SQLException {
            return run(tx -> TABLE.claimSuspects(tx, LANE, "node", ALL));
        }
    }

    /** {@code claim.sql}. */
    @Nested
    class Claim {
        @Test
        void leavesSuspectsAlone() throws SQLException {
            waiting(1, 8, 1, "-1 hour");
            waiting(11, 13, 0, "-1 hour");
            List<DeliveryTable.Row> rows = run(tx -> TABLE.claim(tx, LANE, "node", ALL, 200, 1_000_000));
            assertThat(positions(rows)).containsExactly(11L, 12L, 13L);
            assertThat(rows).noneMatch(DeliveryTable.Row::alone);
        }

        @Test
        void takesWhatIsNotReadAgain() throws SQLException {
            waiting(1, 8, 0, "-1 hour");
            waiting(11, 18, 1, "-1 hour");
            DeliveryTable.Reach few = new DeliveryTable.Reach(2, List.of(), Long.MAX_VALUE);
            assertThat(positions(run(tx -> TABLE.claim(tx, LANE, "node", few, 200, 1_000_000))))
                    .as("none beyond the lane")
                    .containsExactly(1L, 2L);
            assertThat(positions(run(tx -> TABLE.claimSuspects(tx, LANE, "node", few))))
                    .isEmpty();
            // The hashes of these keys leave 1 if divided by four.
            DeliveryTable.Reach former = new DeliveryTable.Reach(2, List.of(9L, 4L, 9L, 9L), Long.MAX_VALUE);
            assertThat(positions(run(tx -> TABLE.claim(tx, LANE, "node", former, 200, 1_000_000))))
                    .as("but what the lane before had come to")
                    .containsExactly(3L, 4L);
            database.execute("""
                    insert into postroom.dead_letter (source, owner, position, key_hash, message_id, aggregate_type, aggregate_id,
                        event_type, event_version, payload, headers, occurred_at, cause, attempts, error_class, error, fingerprint,
                        history, buried_by)
                    select 'subscription', 'all', 6, 25, gen_random_uuid(), 'order', 'o', 'E', 1, '{}', '{}', now(), 'rejected', 1,
                        'rejected', 'never', 'f00d', '[]', 'node'""", """
                    update postroom.delivery set dead_letter = (select max(id) from postroom.dead_letter)
                    where position in (6, 8, 12)""");
            DeliveryTable.Reach letters = new DeliveryTable.Reach(2, List.of(), 7);
            assertThat(positions(run(tx -> TABLE.claim(tx, LANE, "node", letters, 200, 1_000_000))))
                    .as("and dead letters")
                    .containsExactly(6L);
            assertThat(positions(run(tx -> TABLE.claimSuspects(tx, LANE, "node", few))))
                    .containsExactly(12L);
        }
    }

    /** {@code next_due.sql}. */
    @Nested
    class NextDue {
        @Test
        void isThatOfTheFirstSuspectOrNot() throws SQLException {
            assertThat(nextDue()).isEmpty();
            waiting(1, 5, 3, "1 hour");
            assertThat(nextDue()).hasValueSatisfying(due -> assertThat(due).isBetween(minutes(59), minutes(61)));
            waiting(11, 15, 1, "2 hours");
            assertThat(nextDue()).hasValueSatisfying(due -> assertThat(due).isBetween(minutes(59), minutes(61)));
            waiting(21, 25, 0, "30 minutes");
            assertThat(nextDue()).hasValueSatisfying(due -> assertThat(due).isBetween(minutes(29), minutes(31)));
            waiting(31, 31, 2, "-1 minute");
            assertThat(nextDue()).hasValueSatisfying(due -> assertThat(due).isNegative());
        }

        private Optional<Duration> nextDue() throws SQLException {
            return run(tx -> TABLE.nextDue(tx, LANE));
        }

        private Duration minutes(int minutes) {
            return Duration.ofMinutes(minutes);
        }
    }

    /** {@code park_behind.sql}, of a key with messages 1 to 5. */
    @Nested
    class ParkBehind {
        @BeforeEach
        void waitTogether() {
            waiting(1, 5, 0, "-1 hour");
            database.execute(
                    "update postroom.delivery set key_hash = 1, due_at = now() - interval '1 hour', attempts = 0");
        }

        @Test
        void parksNothingBehindWhatIsDueAndWasNotTried() throws SQLException {
            assertThat(parked()).isEmpty();
        }

        @Test
        void parksWhatIsBehindOneThatWasTried() throws SQLException {
            database.execute("update postroom.delivery set attempts = 1 where position = 2");
            assertThat(parked()).containsExactly(3L, 4L, 5L);
        }

        @Test
        void parksWhatWouldOvertakeAClaimThatWasHandedBack() throws SQLException {
            database.execute("update postroom.delivery set due_at = now() where position <= 2");
            assertThat(parked()).containsExactly(3L, 4L, 5L);
        }

        @Test
        void parksWhatWouldOvertakeAClaimThatWasTakenBack() throws SQLException {
            run(tx -> TABLE.claim(tx, LANE, "node", ALL, 2, 1_000_000));
            Set<Integer> keys = run(tx -> TABLE.unclaim(tx, LANE, List.of()));
            assertThat(keys).containsExactly(1);
            assertThat(parked()).containsExactly(3L, 4L, 5L);
            assertThat(count("state = 'waiting' and attempts = 0 and due_at <= clock_timestamp()"))
                    .isEqualTo(2);
        }

        private List<Long> parked() throws SQLException {
            return run(tx -> {
                TABLE.parkBehind(tx, "all", List.of(1));
                try (var rows = tx.createStatement()
                        .executeQuery(
                                "select position from postroom.delivery where state = 'parked' order by position")) {
                    List<Long> parked = new ArrayList<>();
                    while (rows.next()) {
                        parked.add(rows.getLong(1));
                    }
                    return parked;
                }
            });
        }
    }

    static List<Long> positions(List<DeliveryTable.Row> rows) {
        return rows.stream().map(row -> row.id().position()).sorted().toList();
    }

    static List<Long> span(long from, long to) {
        return LongStream.rangeClosed(from, to).boxed().toList();
    }

    static long count(String where) {
        return database.queryLong("select count(*) from postroom.delivery where " + where);
    }
}
