package io.postroom.inbox;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.postgres.Plan;
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
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/** The functions for consumers at many rows in many days: they use their indexes and touch only the days they are about. */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class InboxPlanTest {
    static final int DAYS = 30;
    static final int PER_DAY = 10_000;

    static TestDatabase database;
    static LocalDate today;

    @BeforeAll
    static void fill() {
        database = TestDatabase.create();
        today = LocalDate.now(ZoneOffset.UTC);
        for (int ago = DAYS - 1; ago > 1; ago--) {
            for (String table : List.of("outbox", "journal", "inbox")) {
                database.execute("create table postroom.%s partition of postroom.%s for values from ('%s') to ('%s')"
                        .formatted(partition(table, ago), table, today.minusDays(ago), today.minusDays(ago - 1L)));
            }
            database.execute(
                    "create unique index on postroom." + partition("outbox", ago) + " (seq)",
                    "create unique index on postroom." + partition("journal", ago) + " (position)");
        }
        database.execute(
                "set synchronous_commit = off",
                """
                insert into postroom.outbox (day, id, aggregate_type, aggregate_id, event_type, payload)
                select date '%s' + (i / %d), gen_random_uuid(), 'order', (i %% 5000)::text, 'OrderPlaced', '{}'
                from generate_series(0, %d) as i""".formatted(today.minusDays(DAYS - 1L), PER_DAY, PER_DAY * DAYS - 1),
                """
                insert into postroom.journal (position, seq, day, outbox_day, key_hash, bytes)
                select seq, seq, day, day, 1, 30 from postroom.outbox order by day, seq""",
                "update postroom.tick set day = day - 40",
                """
                insert into postroom.tick (position, snapshot, seq, day)
                select max(position), pg_current_snapshot(), max(seq), day from postroom.journal group by day order by day""",
                // Ids that carry the day of their outbox row, and as many without a day.
                """
                insert into postroom.inbox (consumer, message_id, day, payload_hash, accepted_at)
                select 'billing', id, postroom.inbox_day(id), sha256('x'), clock_timestamp() - (30 - n / %1$d) * interval '1 day'
                from (select n, case when n %% 2 = 0 then gen_random_uuid()
                        else (lpad(to_hex((extract(epoch from date '%2$s' + n / %1$d) * 1000)::bigint), 12, '0')
                              || '7' || substr(md5(n::text), 1, 3) || '8' || substr(md5(n::text), 4, 15))::uuid end as id
                      from generate_series(0, %3$d) as n) as ids""".formatted(PER_DAY, today.minusDays(DAYS - 1L), PER_DAY * DAYS - 1));
    }

    @AfterAll
    static void drop() {
        database.close();
    }

    @Test
    @Order(1)
    void acceptLooksUpDuplicatesByIndexInTheirOwnDays() throws SQLException {
        checkAccept();
        checkRead();
    }

    @Test
    @Order(2)
    void theSameWithStatistics() throws SQLException {
        database.execute(
                "analyze postroom.outbox",
                "analyze postroom.journal",
                "analyze postroom.inbox",
                "analyze postroom.tick");
        checkAccept();
        checkRead();
    }

    @Test
    @Order(3)
    void aPurgeReadsNoMoreThanItTakes() throws SQLException {
        try (Connection connection = watched();
                Statement statement = connection.createStatement()) {
            for (int i = 0; i < 8; i++) {
                for (Plan plan : plans(statement, "select postroom.purge_inbox('8 days', 500)")) {
                    assertThat(plan.nodes())
                            .as(plan.text())
                            .noneMatch(node -> node.matches("Seq Scan inbox_([0-9]+|default|undated)"));
                    assertThat(plan.rowsTouched()).as(plan.text()).isLessThanOrEqualTo(1_500);
                }
            }
        }
    }

    private static void checkAccept() throws SQLException {
        try (Connection connection = watched();
                Statement statement = connection.createStatement()) {
            String some =
                    "select array_agg(message_id) as ids, array_agg(sha256('x')) as hashes from (select message_id from postroom.%s"
                            + " limit 1000) as known";
            for (int i = 0; i < 8; i++) {
                String day = i % 2 == 0 ? partition("inbox", 5) : "inbox_undated";
                List<Plan> plans = plans(
                        statement,
                        "select (postroom.accept('billing', ids, hashes))[1] from (" + some.formatted(day)
                                + ") as batch");
                assertThat(plans).hasSizeGreaterThan(2);
                for (Plan plan : plans) {
                    if (plan.text().contains("known")) {
                        continue;
                    }
                    assertThat(plan.scans())
                            .as(plan.text())
                            .allMatch(scan -> !scan.startsWith("Seq Scan inbox_")
                                    && (scan.endsWith(day) || scan.endsWith("inbox_undated")));
                    assertThat(plan.nodes()).as(plan.text()).noneMatch(node -> node.startsWith("Nested Loop"));
                    assertThat(plan.rowsTouched()).as(plan.text()).isLessThanOrEqualTo(1_100);
                }
            }
        }
    }

    private static void checkRead() throws SQLException {
        try (Connection connection = watched();
                Statement statement = connection.createStatement()) {
            for (int i = 0; i < 8; i++) {
                int ago = i + 3;
                long after = (long) PER_DAY * (DAYS - 1 - ago) + 100;
                for (Plan plan : plans(statement, "select count(*) from postroom.read(" + after + ", 1000)")) {
                    assertThat(plan.scans().stream()
                                    .filter(scan -> scan.matches(".* (outbox|journal)_.*"))
                                    .map(scan -> scan.replaceFirst(".* ", "")))
                            .as("the last tick before may be of the day before: %s", plan.text())
                            .isSubsetOf(
                                    partition("outbox", ago), partition("journal", ago), partition("journal", ago + 1));
                    assertThat(plan.nodes())
                            .as(plan.text())
                            .noneMatch(node -> node.startsWith("Seq Scan ") || node.startsWith("Nested Loop"));
                    assertThat(plan.rowsTouched()).as(plan.text()).isLessThanOrEqualTo(1_100);
                }
            }
        }
    }

    /** A connection on which PostgreSQL sends the plan of every statement within a function as a notice. */
    private static Connection watched() throws SQLException {
        Connection connection = database.dataSource().getConnection();
        try (Statement statement = connection.createStatement()) {
            statement.execute("load 'auto_explain'");
            statement.execute("set auto_explain.log_min_duration = 0; set auto_explain.log_nested_statements = on;"
                    + " set auto_explain.log_analyze = on; set auto_explain.log_timing = off; set auto_explain.log_format = json;"
                    + " set auto_explain.log_level = notice");
        }
        return connection;
    }

    private static List<Plan> plans(Statement statement, String sql) throws SQLException {
        statement.clearWarnings();
        try (ResultSet row = statement.executeQuery(sql)) {
            row.next();
        }
        List<Plan> plans = new ArrayList<>();
        for (SQLWarning each = statement.getWarnings(); each != null; each = each.getNextWarning()) {
            int json = each.getMessage().indexOf('{');
            if (each.getMessage().contains("plan:") && json >= 0) {
                plans.add(new Plan(each.getMessage().substring(json)));
            }
        }
        assertThat(plans).isNotEmpty();
        return plans;
    }

    private static String partition(String table, int ago) {
        return table + "_" + today.minusDays(ago).format(DateTimeFormatter.BASIC_ISO_DATE);
    }
}
