package io.postroom.journal;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.postgres.Plan;
import io.postroom.testkit.TestDatabase;
import java.sql.SQLException;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The statements that read the archive, and the one before them, with ninety archived days. */
class ArchivePlanTest {
    static final int DAYS = 90;
    static final int PER_DAY = 2_000;

    static TestDatabase database;
    static LocalDate first;

    @BeforeAll
    static void fill() {
        database = TestDatabase.create();
        first = LocalDate.now(ZoneOffset.UTC).minusDays(DAYS + 10);
        for (int n = 0; n < DAYS; n++) {
            for (String table : List.of("outbox", "journal")) {
                database.execute(
                        "create table postroom.%1$s partition of postroom.%2$s_archive for values from ('%3$s') to ('%4$s')"
                                .formatted(partition(table, n), table, day(n), day(n + 1)),
                        "create unique index on postroom.%s (%s)"
                                .formatted(partition(table, n), table.equals("outbox") ? "seq" : "position"));
            }
        }
        database.execute("set synchronous_commit = off", """
                insert into postroom.outbox_archive (xid, seq, day, id, aggregate_type, aggregate_id, event_type, event_version, payload, occurred_at)
                select '3', i + 1, date '%1$s' + (i / %2$d), '01900000-0000-7000-8000-000000000000', 'order', (i %% 500)::text, 'OrderPlaced',
                       1, '{}', now()
                from generate_series(0, %3$d) as i""".formatted(first, PER_DAY, PER_DAY * DAYS - 1), """
                insert into postroom.journal_archive (position, seq, day, outbox_day, key_hash, bytes)
                select seq, seq, day, day, (seq * 7919) % 2147483647, 30 from postroom.outbox_archive""", """
                insert into postroom.archive_day (day, first_position, last_position, passed_at, has_messages)
                select day, min(position), max(position), max(position), true from postroom.journal_archive group by day""");
    }

    @AfterAll
    static void drop() {
        database.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {Plan.GENERIC, Plan.CUSTOM})
    void entriesAreReadFromTheirDayAloneByItsIndex(String mode) throws SQLException {
        for (int n : new int[] {0, 45, DAYS - 1}) {
            long after = (long) PER_DAY * n + 100;
            Plan plan = explain(
                    mode,
                    "read_archived_entries.sql",
                    List.of("after bigint", "up_to bigint", "day date", "lanes int", "lane int", "limit int"),
                    after,
                    after + 1_000,
                    "'" + day(n) + "'",
                    4,
                    1,
                    1_002);
            assertThat(plan.scans())
                    .as(plan.text())
                    .hasSize(1)
                    .allMatch(scan -> scan.endsWith(partition("journal", n)) && !scan.startsWith("Seq"));
            assertThat(plan.rowsTouched()).as(plan.text()).isLessThanOrEqualTo(1_100);
        }
    }

    /** Without statistics, and planned for the values, PostgreSQL may read all of so small a day. */
    @Test
    void messagesAreReadFromTheirDaysAloneByTheirIndex() throws SQLException {
        for (int n : new int[] {0, 45, DAYS - 2}) {
            long middle = (long) PER_DAY * (n + 1);
            Plan plan = explain(
                    Plan.GENERIC,
                    "read_archived_messages.sql",
                    List.of(
                            "seqs bigint[]",
                            "first_day date",
                            "last_day date",
                            "aggregate_types text[]",
                            "event_types text[]",
                            "tenants text[]"),
                    LongStream.rangeClosed(middle - 99, middle + 100)
                            .mapToObj(String::valueOf)
                            .collect(Collectors.joining(",", "'{", "}'")),
                    "'" + day(n) + "'",
                    "'" + day(n + 1) + "'",
                    "null",
                    "'{OrderPlaced}'",
                    "null");
            assertThat(plan.scans().stream().map(scan -> scan.replaceFirst(".* ", "")))
                    .as(plan.text())
                    .containsExactlyInAnyOrder(partition("outbox", n), partition("outbox", n + 1));
            assertThat(plan.nodes()).as(plan.text()).noneMatch(node -> node.startsWith("Seq Scan"));
            assertThat(plan.rowsTouched()).as(plan.text()).isLessThanOrEqualTo(600);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {Plan.GENERIC, Plan.CUSTOM})
    void theDayOfAPositionIsFoundInOneSmallTable(String mode) throws SQLException {
        Plan plan = explain(mode, "find_archived_day.sql", List.of("position bigint"), 45L * PER_DAY + 7);
        assertThat(plan.scans()).as(plan.text()).allMatch(scan -> scan.contains("archive_day"));
        assertThat(plan.rowsTouched()).as(plan.text()).isLessThanOrEqualTo(DAYS);
    }

    /** Whoever reads what is hot locks and plans none of the archive. */
    @Test
    void theHotStatementsKnowNothingOfTheArchive() throws SQLException {
        Plan entries = explain(
                Plan.GENERIC,
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
                1_000L,
                "'" + day(0) + "'",
                "current_date",
                4,
                1,
                1_002);
        assertThat(entries.text()).doesNotContain("archive").doesNotContain(partition("journal", 0));
        assertThat(entries.rowsTouched()).isZero();
    }

    private static Plan explain(String mode, String file, List<String> parameters, Object... values)
            throws SQLException {
        return Plan.explain(database, mode, JournalTable.class, file, parameters, values);
    }

    private static LocalDate day(int n) {
        return first.plusDays(n);
    }

    private static String partition(String table, int n) {
        return table + "_" + day(n).format(DateTimeFormatter.BASIC_ISO_DATE);
    }
}
