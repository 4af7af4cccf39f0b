package io.postroom.server.message;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.journal.Journal;
import io.postroom.postgres.Schema;
import io.postroom.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** That looking at old messages opens the days they lie in and no others: all days together have more partitions than a server has locks. */
class BrowseLocksTest {
    private static final int DAYS = 40;
    private static final int PER_DAY = 20;
    /** A transaction has so many locks at most, and a day takes six. */
    private static final int AT_ONCE = 100;

    private static final int HOT = 30;

    private static TestDatabase database;
    private final BrowseTable table = new BrowseTable(Schema.POSTROOM);

    @BeforeAll
    static void fill() {
        database = TestDatabase.create();
        LocalDate first = LocalDate.now(ZoneOffset.UTC).minusDays(DAYS + 10L);
        for (int n = 0; n < DAYS; n += AT_ONCE) {
            database.execute("""
                    do $$
                    declare day date;
                    begin
                        for n in %d..%d loop
                            day := date '%s' + n;
                            execute format('create table postroom.outbox_%%s partition of postroom.outbox_archive for values from (%%L) to (%%L)',
                                           to_char(day, 'YYYYMMDD'), day, day + 1);
                            execute format('create unique index on postroom.outbox_%%s (seq)', to_char(day, 'YYYYMMDD'));
                            execute format('create table postroom.journal_%%s partition of postroom.journal_archive for values from (%%L) to (%%L)',
                                           to_char(day, 'YYYYMMDD'), day, day + 1);
                            execute format('create unique index on postroom.journal_%%s (position)', to_char(day, 'YYYYMMDD'));
                        end loop;
                    end $$""".formatted(n, Math.min(DAYS, n + AT_ONCE) - 1, first));
        }
        database.execute(
                "set synchronous_commit = off",
                """
                insert into postroom.outbox_archive (xid, seq, day, id, aggregate_type, aggregate_id, event_type, event_version, payload, occurred_at)
                select '3', i + 1, date '%s' + i / %d, gen_random_uuid(), 'order', (i %% 500)::text, 'OrderPlaced', 1, '{}', now()
                from generate_series(0, %d) as i""".formatted(first, PER_DAY, PER_DAY * DAYS - 1),
                """
                insert into postroom.journal_archive (position, seq, day, outbox_day, key_hash, bytes)
                select seq, seq, day, day, seq % 5, 30 from postroom.outbox_archive""",
                """
                insert into postroom.archive_day (day, first_position, last_position, passed_at, has_messages)
                select day, min(position), max(position), max(position), true from postroom.journal_archive group by day""",
                """
                insert into postroom.journal (position, seq, day, outbox_day, key_hash, bytes)
                select %1$d + n, %1$d + n, current_date, current_date, n %% 5, 30
                from generate_series(1, %2$d) as n""".formatted(PER_DAY * DAYS, HOT),
                "analyze postroom.journal");
    }

    @AfterAll
    static void drop() {
        database.close();
    }

    /** As the console's connections read. */
    private static Connection begin() throws SQLException {
        Connection tx = database.begin();
        try (Statement statement = tx.createStatement()) {
            statement.execute("set local plan_cache_mode = force_custom_plan");
        }
        return tx;
    }

    /** How many partitions of archived days, and indexes of them, a transaction has locked so far. */
    private static long locked(Connection tx) throws SQLException {
        try (Statement statement = tx.createStatement();
                ResultSet row = statement.executeQuery(
                        "with archived as (select inhrelid as oid from pg_inherits where inhparent in"
                                + " ('postroom.outbox_archive'::regclass, 'postroom.journal_archive'::regclass)) select count(*) from"
                                + " pg_locks as l where l.pid = pg_backend_pid() and (l.relation in (select oid from archived) or l.relation"
                                + " in (select indexrelid from pg_index where indrelid in (select oid from archived)))")) {
            row.next();
            return row.getLong(1);
        }
    }

    private List<Long> positions(Connection tx, long after, long before, @Nullable Integer keyHash, int limit) {
        return table.entries(tx, after, before, keyHash, limit).stream()
                .map(BrowseTable.Entry::position)
                .toList();
    }

    @Test
    void aWindowOpensTheDaysItLiesIn() throws Exception {
        long middle = PER_DAY * 20L;
        try (Connection tx = begin()) {
            assertThat(positions(tx, middle - 5, middle + 5, null, 100))
                    .containsExactly(
                            middle + 4,
                            middle + 3,
                            middle + 2,
                            middle + 1,
                            middle,
                            middle - 1,
                            middle - 2,
                            middle - 3,
                            middle - 4);
            assertThat(locked(tx)).as("of two days").isLessThanOrEqualTo(4);
        }
    }

    @Test
    void aWindowOfWhatIsHotOpensNoArchivedDay() throws Exception {
        long last = PER_DAY * (long) DAYS;
        try (Connection tx = begin()) {
            assertThat(positions(tx, last, last + 1_000, null, 5)).hasSize(5).startsWith(last + HOT);
            assertThat(positions(tx, last, last + 1_000, 3, 100)).hasSize(6);
            assertThat(locked(tx)).isZero();
        }
    }

    @Test
    void aWindowFromTheOneToTheOtherHasAllInOrder() throws Exception {
        long last = PER_DAY * (long) DAYS;
        try (Connection tx = begin()) {
            assertThat(positions(tx, last - 3, last + 3, null, 100))
                    .containsExactly(last + 2, last + 1, last, last - 1, last - 2);
            assertThat(positions(tx, last - 3, last + 3, null, 4)).containsExactly(last + 2, last + 1, last, last - 1);
            assertThat(positions(tx, last - 10, last + 10, 0, 100)).containsExactly(last + 5, last, last - 5);
            assertThat(locked(tx)).as("of the last day").isLessThanOrEqualTo(2);
        }
    }

    @Test
    void aMessageIsFoundInItsDay() throws Exception {
        try (Connection tx = begin()) {
            Journal.Place place =
                    table.place(tx, PER_DAY * 20L + 7).orElseThrow(() -> new AssertionError("it is there"));
            assertThat(locked(tx)).as("of one day").isLessThanOrEqualTo(2);
            assertThat(Objects.requireNonNull(table.transaction(tx, place).orElse(null))
                            .messages())
                    .isEqualTo(PER_DAY);
            assertThat(locked(tx)).as("of one day").isLessThanOrEqualTo(4);
            assertThat(table.place(tx, PER_DAY * (long) DAYS + 1)).isPresent();
            assertThat(table.place(tx, 1_000_000)).isEmpty();
            assertThat(locked(tx)).as("of one day").isLessThanOrEqualTo(4);
        }
    }

    @Test
    void theFirstPositionIsKnownWithoutAnyDay() throws Exception {
        try (Connection tx = begin()) {
            assertThat(table.floor(tx)).isEqualTo(1);
            assertThat(locked(tx)).isZero();
        }
    }
}
