package io.postroom.relay;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.delivery.Promotion;
import io.postroom.postgres.Plan;
import io.postroom.testkit.TestDatabase;
import java.sql.SQLException;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.Collections;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.ClassOrderer;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.TestClassOrder;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The statements of a lane at a million deliveries: they touch what they are about, not what else waits. */
@TestClassOrder(ClassOrderer.OrderAnnotation.class)
class DeliveryPlanTest {
    /** A thousand keys with hundreds of messages each: one that waits for an hour, the rest parked behind it. */
    static final int KEYS = 1_000;

    static final int PER_KEY = Boolean.getBoolean("postroom.long") ? 1_000 : 300;

    static final int LAST = KEYS * PER_KEY - 1;

    /** Messages of lane 2 that a relay may have died of, each of a key of its own. */
    static final int SUSPECTS = 10_000;

    /** Messages in the outbox, and attempts that failed of each of the first of them. */
    static final int STORED = 5_000;

    static final int TRIED = 500;

    static TestDatabase database;

    @BeforeAll
    static void fill() {
        database = TestDatabase.create();
        database.execute(
                // Nobody else counts rows meanwhile.
                "alter table postroom.delivery set (autovacuum_enabled = off)",
                "insert into postroom.subscription (name, lanes) values ('all', 4)",
                "insert into postroom.lane (subscription, lane, position) select 'all', n, " + (LAST - 100_000)
                        + " from generate_series(0, 3) as n",
                """
                insert into postroom.delivery (subscription, position, lane, key_hash, seq, outbox_day, bytes, state, due_at, attempts)
                select 'all', n, n %% %1$d %% 4, n %% %1$d, n, current_date, 100,
                       case when n < %1$d then 'waiting' else 'parked' end,
                       case when n < %1$d then now() + interval '1 hour' end, case when n < %1$d then 1 else 0 end
                from generate_series(0, %2$d) as n""".formatted(KEYS, LAST),
                "update postroom.delivery set due_at = now() where position < 100",
                "update postroom.delivery set crashes = 1 where position between 100 and 103",
                "update postroom.delivery set due_at = now() where crashes = 1",
                """
                insert into postroom.delivery (subscription, position, lane, key_hash, seq, outbox_day, bytes, state, due_at, attempts,
                    crashes)
                select 'all', -n, 2, 2000000 + n * 4 + 2, n, current_date, 100, 'waiting', now() - interval '1 hour', 2,
                    1 + n %% 3
                from generate_series(1, %d) as n""".formatted(SUSPECTS),
                """
                insert into postroom.outbox (id, tenant_id, aggregate_type, aggregate_id, event_type, payload)
                select gen_random_uuid(), 'acme', 'order', 'o-' || n, 'OrderPlaced', '{}' from generate_series(1, %d) as n""".formatted(STORED),
                """
                insert into postroom.attempt (subscription, position, attempt, duration, node, outcome, error_class, error, fingerprint)
                select 'all', n / %1$d, n %% %1$d, interval '1 second', 'node', 'retry', 'retry', 'not now', 'f00d'
                from generate_series(%1$d, %2$d) as n""".formatted(TRIED, 200 * TRIED - 1),
                """
                insert into postroom.dead_letter (source, owner, position, key_hash, message_id, aggregate_type, aggregate_id, event_type,
                    event_version, payload, headers, occurred_at, cause, attempts, error_class, error, fingerprint, history, buried_by)
                select 'subscription', 'all', 3000000 + n, n, gen_random_uuid(), 'order', 'o', 'E', 1, '{}', '{}', now(), 'rejected', 1,
                    'rejected', 'never', 'f00d', '[]', 'node'
                from generate_series(1, 10) as n""",
                // A key whose first message has just gone through: all others are parked.
                "delete from postroom.delivery where position = 950");
    }

    @AfterAll
    static void drop() {
        database.close();
    }

    /** A statement, its parameters with values, and how many rows it may touch. */
    record Case(Class<?> owner, String file, List<String> parameters, List<String> values, long rowsMax) {
        Case(String file, List<String> parameters, List<String> values, long rowsMax) {
            this(DeliveryTable.class, file, parameters, values, rowsMax);
        }

        @Override
        public String toString() {
            return file + " " + String.join(" ", values.subList(0, 2));
        }
    }

    static Stream<Case> statements() {
        List<String> lane = List.of("subscription text", "lane int");
        List<String> keys = List.of("subscription text", "keys integer[]");
        return Stream.of(
                new Case(
                        "claim.sql",
                        List.of(
                                "subscription text",
                                "lane int",
                                "node text",
                                "limit int",
                                "bytes_max bigint",
                                "up_to bigint",
                                "former bigint[]",
                                "letters_up_to bigint"),
                        List.of("'all'", "1", "'node'", "200", "1000000", "9000000", "'{1,2}'", "9000000"),
                        200),
                new Case(
                        "claim_suspects.sql",
                        List.of(
                                "subscription text",
                                "lane int",
                                "node text",
                                "up_to bigint",
                                "former bigint[]",
                                "letters_up_to bigint"),
                        List.of("'all'", "1", "'node'", "9000000", "'{1,2}'", "9000000"),
                        200),
                new Case("next_due.sql", lane, List.of("'all'", "1"), 2),
                new Case("rescue.sql", lane, List.of("'all'", "1"), 10),
                new Case("reread.sql", lane, List.of("'all'", "1"), 10),
                new Case(
                        "unclaim.sql",
                        List.of("subscription text", "lane int", "in_hand bigint[]"),
                        List.of("'all'", "1", "'{}'"),
                        10),
                new Case(
                        "accept.sql",
                        List.of("subscription text", "positions bigint[]"),
                        List.of("'all'", "'{1,2,3,4,5,6,7,8,9,10}'"),
                        10),
                new Case("still_blocked.sql", keys, List.of("'all'", "'{1,2,3,4,5,6,7,8,9,10}'"), 10),
                new Case("park_behind.sql", keys, List.of("'all'", "'{101,201,301,401,950}'"), 10),
                new Case(
                        Promotion.class,
                        "promote.sql",
                        List.of("subscription text", "keys integer[]", "run int"),
                        List.of("'all'", "'{101,201,301,401,950}'", "100"),
                        5 * 202),
                new Case(
                        "known_beyond.sql",
                        List.of("subscription text", "lane int", "position bigint", "lanes int", "resume_at bigint"),
                        List.of("'all'", "1", String.valueOf(LAST - 1_000), "4", "0"),
                        1_000),
                new Case(
                        "claim.sql",
                        List.of(
                                "subscription text",
                                "lane int",
                                "node text",
                                "limit int",
                                "bytes_max bigint",
                                "up_to bigint",
                                "former bigint[]",
                                "letters_up_to bigint"),
                        List.of("'all'", "2", "'node'", "200", "1000000", "9000000", "'{1,2}'", "9000000"),
                        200),
                new Case(
                        "claim_suspects.sql",
                        List.of(
                                "subscription text",
                                "lane int",
                                "node text",
                                "up_to bigint",
                                "former bigint[]",
                                "letters_up_to bigint"),
                        List.of("'all'", "2", "'node'", "9000000", "'{1,2}'", "9000000"),
                        256),
                new Case("next_due.sql", lane, List.of("'all'", "2"), 4),
                // Those of other lanes of the subscription too, but nothing that is parked.
                new Case("blocked_keys.sql", lane, List.of("'all'", "1"), KEYS + SUSPECTS),
                new Case("keep.sql", kept(), keptValues(), 20),
                new Case("begin_sending.sql", noted(), notedValues(), 20),
                new Case("mark_alone.sql", List.of("subscription text", "position bigint"), List.of("'all'", "5"), 2),
                new Case("hold.sql", held(), heldValues(), 20),
                new Case("bury.sql", buried(), buriedValues(), 10 * 102));
    }

    /** Ten positions, as every statement takes them that writes deliveries. */
    private static final List<String> PLACES = List.of(
            "positions bigint[]", "key_hashes integer[]", "seqs bigint[]", "outbox_days text[]", "bytes integer[]");

    private static final String NUMBERS = "'{1,2,3,4,5,6,7,8,9,10}'";

    private static final String DAYS = ten(LocalDate.now(ZoneOffset.UTC));

    private static final List<String> PLACE_VALUES = List.of(NUMBERS, NUMBERS, NUMBERS, DAYS, ten(100));

    /** An array of ten of the same. */
    private static String ten(Object value) {
        return "'{" + String.join(",", Collections.nCopies(10, value.toString())) + "}'";
    }

    private static List<String> all(List<String> some, String... more) {
        return Stream.concat(some.stream(), Stream.of(more)).toList();
    }

    private static List<String> kept() {
        return all(
                PLACES,
                "subscription text",
                "lane int",
                "dead_letters bigint[]",
                "states text[]",
                "waits bigint[]",
                "due_ats text[]",
                "attempts integer[]",
                "error_classes text[]",
                "errors text[]",
                "fingerprints text[]");
    }

    private static List<String> keptValues() {
        return all(
                PLACE_VALUES,
                "'all'",
                "1",
                ten("null"),
                ten("waiting"),
                ten(1_000_000),
                ten("null"),
                ten(1),
                ten("retry"),
                ten("late"),
                ten("f00d"));
    }

    private static List<String> noted() {
        return all(PLACES, "subscription text", "lane int", "node text", "attempts integer[]");
    }

    private static List<String> notedValues() {
        return all(PLACE_VALUES, "'all'", "1", "'node'", ten(2));
    }

    private static List<String> held() {
        return all(PLACES, "subscription text", "lane int", "dead_letters bigint[]", "attempts integer[]");
    }

    private static List<String> heldValues() {
        return all(PLACE_VALUES, "'all'", "1", NUMBERS, ten(2));
    }

    private static List<String> buried() {
        return List.of(
                "subscription text",
                "node text",
                "positions bigint[]",
                "key_hashes integer[]",
                "seqs bigint[]",
                "outbox_days text[]",
                "causes text[]",
                "attempts integer[]",
                "error_classes text[]",
                "errors text[]",
                "fingerprints text[]");
    }

    private static List<String> buriedValues() {
        return List.of(
                "'all'",
                "'node'",
                NUMBERS,
                NUMBERS,
                NUMBERS,
                DAYS,
                ten("rejected"),
                ten(2),
                ten("rejected"),
                ten("never"),
                ten("f00d"));
    }

    static void touchesOnlyWhatItIsAbout(Case statement) throws SQLException {
        for (String mode : List.of(Plan.GENERIC, Plan.CUSTOM)) {
            Plan plan = Plan.explain(
                    database,
                    mode,
                    statement.owner(),
                    statement.file(),
                    statement.parameters(),
                    statement.values().toArray());
            assertThat(plan.nodes())
                    .as(plan.text())
                    .noneMatch(node -> node.startsWith("Seq Scan delivery") || node.startsWith("Seq Scan attempt"));
            assertThat(plan.rowsTouched()).as(mode + "\n" + plan.text()).isLessThanOrEqualTo(statement.rowsMax() * 2);
        }
    }

    @Nested
    @Order(1)
    class WithoutStatistics {
        static Stream<Case> statements() {
            return DeliveryPlanTest.statements();
        }

        @ParameterizedTest
        @MethodSource("statements")
        void everyStatementTouchesOnlyWhatItIsAbout(Case statement) throws SQLException {
            touchesOnlyWhatItIsAbout(statement);
        }
    }

    @Nested
    @Order(2)
    class WithStatistics {
        static Stream<Case> statements() {
            return DeliveryPlanTest.statements();
        }

        @BeforeAll
        static void analyze() {
            database.execute("vacuum analyze postroom.delivery");
        }

        @ParameterizedTest
        @MethodSource("statements")
        void everyStatementTouchesOnlyWhatItIsAbout(Case statement) throws SQLException {
            touchesOnlyWhatItIsAbout(statement);
        }
    }
}
