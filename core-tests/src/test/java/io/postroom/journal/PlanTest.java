package io.postroom.journal;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.postgres.Plan;
import io.postroom.testkit.Messages;
import io.postroom.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLWarning;
import java.sql.Statement;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.ClassOrderer;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestClassOrder;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The hot statements at a million messages in thirty days: they use their indexes and touch only the days they are about. */
@TestClassOrder(ClassOrderer.OrderAnnotation.class)
class PlanTest {
    static final int DAYS = Boolean.getBoolean("postroom.long") ? 30 : 12;
    static final int PER_DAY = 33_333;
    static final int MESSAGES = DAYS * PER_DAY;

    static final String GENERIC = Plan.GENERIC;
    static final String CUSTOM = Plan.CUSTOM;

    static TestDatabase database;
    static LocalDate today;

    @BeforeAll
    static void fill() throws SQLException {
        database = TestDatabase.create();
        today = LocalDate.now(ZoneOffset.UTC);
        for (int ago = DAYS - 1; ago > 1; ago--) {
            for (String table : List.of("outbox", "journal")) {
                database.execute(
                        "create table postroom.%1$s partition of postroom.%2$s for values from ('%3$s') to ('%4$s')"
                                .formatted(
                                        partition(table, ago), table, today.minusDays(ago), today.minusDays(ago - 1L)),
                        "create unique index on postroom.%s (%s)"
                                .formatted(partition(table, ago), table.equals("outbox") ? "seq" : "position"));
            }
        }
        database.execute(
                "set synchronous_commit = off; set work_mem = '64MB'",
                """
                insert into postroom.outbox (day, id, aggregate_type, aggregate_id, event_type, payload)
                select date '%1$s' + (i / %2$d), '01900000-0000-7000-8000-000000000000', 'order', (i %% 5000)::text, 'OrderPlaced', '{}'
                from generate_series(0, %3$d) as i""".formatted(today.minusDays(DAYS - 1L), PER_DAY, PER_DAY * DAYS - 1),
                """
                insert into postroom.journal (position, seq, day, outbox_day, key_hash, bytes)
                select seq, seq, day, day, (seq * 7919) % 2147483647, 30 from postroom.outbox order by day, seq""",
                """
                insert into postroom.tick (position, snapshot, seq, day)
                select max(position), pg_current_snapshot(), max(seq), max(day) from postroom.journal group by day order by day""",
                "update postroom.tick set snapshot = pg_current_snapshot()");
    }

    @AfterAll
    static void drop() {
        database.close();
    }

    /** A partition's first hours: nobody has analyzed it yet. */
    @Nested
    @Order(1)
    class WithoutStatistics {
        @ParameterizedTest
        @ValueSource(strings = {GENERIC, CUSTOM})
        void readEntriesUsesItsIndexOnTheDaysInRange(String mode) throws SQLException {
            readsEntriesOfOneDay(mode);
        }

        /** A plan made for the values would sort them all; the journal therefore never asks for more than 20,000 at once. */
        @Test
        void readEntriesOfAWholeBacklogStopsWhenItHasEnough() throws SQLException {
            readsEntriesOfABacklog(GENERIC);
        }

        /** Before PostgreSQL 17 a thousand look-ups cost more than reading all of so small a partition, if planned for the values. */
        @Test
        void readMessagesUsesItsIndexOnTheDaysInRange() throws SQLException {
            boolean old = database.queryLong("select current_setting('server_version_num')::integer") < 170_000;
            for (String mode : old ? List.of(GENERIC) : List.of(GENERIC, CUSTOM)) {
                readsMessagesOfOneDay(mode);
                readsMessagesAcrossMidnight(mode);
            }
        }

        @Test
        void aStampTouchesOnlyTheLastDaysAndUsesTheIndexOnXid() throws SQLException {
            stampsTheLastDays();
        }

        @Test
        void aSliceOfABulkReadsNoMoreThanItTakes() throws SQLException {
            stampsABulkInSlices();
        }
    }

    /** After autovacuum has come by, with generic plans and with plans made for the values. */
    @Nested
    @Order(2)
    class WithStatistics {
        @BeforeAll
        static void analyze() {
            database.execute("analyze postroom.outbox", "analyze postroom.journal", "analyze postroom.tick");
        }

        @ParameterizedTest
        @ValueSource(strings = {GENERIC, CUSTOM})
        void readEntriesUsesItsIndexOnTheDaysInRange(String mode) throws SQLException {
            readsEntriesOfOneDay(mode);
        }

        @ParameterizedTest
        @ValueSource(strings = {GENERIC, CUSTOM})
        void readEntriesOfAWholeBacklogStopsWhenItHasEnough(String mode) throws SQLException {
            readsEntriesOfABacklog(mode);
        }

        @ParameterizedTest
        @ValueSource(strings = {GENERIC, CUSTOM})
        void readMessagesUsesItsIndexOnTheDaysInRange(String mode) throws SQLException {
            readsMessagesOfOneDay(mode);
            readsMessagesAcrossMidnight(mode);
        }

        @Test
        void aStampTouchesOnlyTheLastDaysAndUsesTheIndexOnXid() throws SQLException {
            stampsTheLastDays();
        }

        @Test
        void aSliceOfABulkReadsNoMoreThanItTakes() throws SQLException {
            stampsABulkInSlices();
        }
    }

    private static void readsEntriesOfOneDay(String mode) throws SQLException {
        String sql = "read_entries.sql";
        for (int ago : new int[] {DAYS - 1, 10, 0}) {
            long after = (long) PER_DAY * (DAYS - 1 - ago) + 100;
            Plan plan = explain(
                    mode,
                    sql,
                    List.of(
                            "after bigint",
                            "up_to bigint",
                            "first_day date",
                            "last_day date",
                            "lanes int",
                            "lane int",
                            "limit int"),
                    after,
                    after + 4_000,
                    day(ago),
                    day(ago),
                    4,
                    1,
                    1_000);
            assertThat(plan.scans())
                    .as(plan.text())
                    .hasSize(1)
                    .allMatch(scan -> scan.endsWith(partition("journal", ago)) && !scan.startsWith("Seq"));
            assertThat(plan.rowsTouched()).as(plan.text()).isLessThanOrEqualTo(4_100);
        }
    }

    private static void readsEntriesOfABacklog(String mode) throws SQLException {
        Plan plan = explain(
                mode,
                "read_entries.sql",
                List.of(
                        "after bigint",
                        "up_to bigint",
                        "first_day date",
                        "last_day date",
                        "lanes int",
                        "lane int",
                        "limit int"),
                0L,
                (long) MESSAGES,
                day(DAYS - 1),
                day(0),
                4,
                1,
                1_000);
        assertThat(plan.nodes())
                .as(plan.text())
                .noneMatch(node -> node.startsWith("Seq Scan") || node.startsWith("Sort"));
        assertThat(plan.rowsTouched()).as(plan.text()).isLessThanOrEqualTo(4_500);
    }

    private static void readsMessagesOfOneDay(String mode) throws SQLException {
        String sql = "read_messages.sql";
        for (int ago : new int[] {DAYS - 1, 10, 0}) {
            long first = (long) PER_DAY * (DAYS - 1 - ago) + 100;
            Plan plan = explain(
                    mode,
                    sql,
                    List.of(
                            "seqs bigint[]",
                            "first_day date",
                            "last_day date",
                            "aggregate_types text[]",
                            "event_types text[]",
                            "tenants text[]"),
                    array(first, first + 999),
                    day(ago),
                    day(ago),
                    "null",
                    "'{OrderPlaced}'",
                    "null");
            assertThat(plan.scans())
                    .as(plan.text())
                    .hasSize(1)
                    .allMatch(scan -> scan.endsWith(partition("outbox", ago)) && !scan.startsWith("Seq"));
            assertThat(plan.rowsTouched()).as(plan.text()).isLessThanOrEqualTo(2_000);
        }
    }

    private static void readsMessagesAcrossMidnight(String mode) throws SQLException {
        long midnight = (long) PER_DAY * (DAYS - 1);
        Plan plan = explain(
                mode,
                "read_messages.sql",
                List.of(
                        "seqs bigint[]",
                        "first_day date",
                        "last_day date",
                        "aggregate_types text[]",
                        "event_types text[]",
                        "tenants text[]"),
                array(midnight - 499, midnight + 500),
                day(1),
                day(0),
                "null",
                "null",
                "null");
        assertThat(plan.scans().stream().map(scan -> scan.replaceFirst(".* ", "")))
                .as(plan.text())
                .containsExactlyInAnyOrder(partition("outbox", 1), partition("outbox", 0));
        assertThat(plan.nodes()).as(plan.text()).noneMatch(node -> node.startsWith("Seq Scan"));
    }

    private static void stampsTheLastDays() throws SQLException {
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            publish(100);
            stamp(statement, 20_000);
            publish(100);
            stamp(statement, 20_000);
            watch(statement);
            // Enough for the function's statements to get their generic plans.
            for (int i = 0; i < 8; i++) {
                publish(500);
                statement.clearWarnings();
                stamp(statement, 20_000);
                check(plans(statement), "outbox_xid", 1_200);
                statement.clearWarnings();
                stamp(statement, 20_000);
                check(plans(statement), "outbox_xid", 200);
            }
        }
    }

    private static void stampsABulkInSlices() throws SQLException {
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            stamp(statement, 20_000);
            stamp(statement, 20_000);
            publish(10_000);
            watch(statement);
            for (int i = 0; i < 8; i++) {
                statement.clearWarnings();
                stamp(statement, 1_000);
                List<Plan> plans = plans(statement);
                assertThat(plans).isNotEmpty();
                for (Plan plan : plans) {
                    assertThat(plan.nodes()).as(plan.text()).noneMatch(node -> node.startsWith("Seq Scan outbox_2"));
                    assertThat(plan.rowsTouched()).as(plan.text()).isLessThanOrEqualTo(3_000);
                }
            }
            statement.execute("reset all");
            while (stamp(statement, 20_000).equals("more")) {
                // Finish for the next test.
            }
        }
    }

    @Test
    void theLastTickIsFoundByItsIndex() throws SQLException {
        for (String file : List.of("last_tick.sql", "day_of.sql")) {
            boolean parameter = file.equals("day_of.sql");
            Plan plan = explain(
                    GENERIC,
                    file,
                    parameter ? List.of("position bigint") : List.of(),
                    parameter ? new Object[] {MESSAGES / 2L} : new Object[0]);
            assertThat(plan.rowsTouched()).as(plan.text()).isLessThanOrEqualTo(2);
        }
    }

    private static void check(List<Plan> plans, String index, long rowsMax) {
        Set<String> recent = IntStream.rangeClosed(-30, 2)
                .mapToObj(ago -> partition("outbox", ago))
                .collect(Collectors.toCollection(TreeSet::new));
        recent.add("outbox_default");
        List<Plan> reading = plans.stream()
                .filter(plan -> plan.scans().stream().anyMatch(scan -> scan.contains(" outbox_2")))
                .toList();
        assertThat(reading).as("plans that read the outbox").isNotEmpty();
        for (Plan plan : reading) {
            assertThat(plan.scans().stream()
                            .filter(scan -> scan.contains(" outbox_") && !scan.contains("seq_seq"))
                            .map(scan -> scan.replaceFirst(".* ", "")))
                    .as(plan.text())
                    .isSubsetOf(recent);
            assertThat(plan.nodes()).as(plan.text()).noneMatch(node -> node.startsWith("Seq Scan outbox_2"));
            assertThat(plan.text()).contains("_xid_idx");
            assertThat(plan.rowsTouched()).as(plan.text()).isLessThanOrEqualTo(rowsMax);
        }
    }

    /** Has PostgreSQL send the plan of every statement within a function as a notice. */
    private static void watch(Statement statement) throws SQLException {
        statement.execute("load 'auto_explain'");
        statement.execute("set auto_explain.log_min_duration = 0; set auto_explain.log_nested_statements = on;"
                + " set auto_explain.log_analyze = on; set auto_explain.log_timing = off; set auto_explain.log_format = json;"
                + " set auto_explain.log_level = notice");
    }

    private static String stamp(Statement statement, int max) throws SQLException {
        try (ResultSet row = statement.executeQuery("select state from postroom.stamp(" + max + ", '')")) {
            row.next();
            return row.getString(1);
        }
    }

    private static List<Plan> plans(Statement statement) throws SQLException {
        List<Plan> plans = new ArrayList<>();
        for (SQLWarning each = statement.getWarnings(); each != null; each = each.getNextWarning()) {
            int json = each.getMessage().indexOf('{');
            if (each.getMessage().contains("plan:") && json >= 0) {
                plans.add(new Plan(each.getMessage().substring(json)));
            }
        }
        return plans;
    }

    private static void publish(int count) throws SQLException {
        try (Connection tx = database.begin()) {
            database.postroom().outbox().publishAll(tx, Messages.ofManyKeys("k", count));
            tx.commit();
        }
    }

    private static Plan explain(String mode, String file, List<String> parameters, Object... values)
            throws SQLException {
        return Plan.explain(database, mode, JournalTable.class, file, parameters, values);
    }

    private static String partition(String table, int ago) {
        return table + "_" + today.minusDays(ago).format(DateTimeFormatter.BASIC_ISO_DATE);
    }

    private static String day(int ago) {
        return "'" + today.minusDays(ago) + "'";
    }

    private static String array(long first, long last) {
        return LongStream.rangeClosed(first, last)
                .mapToObj(String::valueOf)
                .collect(Collectors.joining(",", "'{", "}'"));
    }
}
