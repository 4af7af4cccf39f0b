package io.postroom.archive;

import io.postroom.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.LocalDate;
import java.time.ZoneOffset;

/** Many days that were archived long ago, each with a few messages; nothing is hot. */
public record ManyDays(TestDatabase database, int days, int perDay) {
    /** A transaction has so many locks at most, and a day takes six. */
    private static final int AT_ONCE = 100;

    public void fill() {
        for (int n = 0; n < days; n += AT_ONCE) {
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
                    end $$""".formatted(n, Math.min(days, n + AT_ONCE) - 1, first()));
        }
        database.execute("set synchronous_commit = off", """
                insert into postroom.outbox_archive (xid, seq, day, id, aggregate_type, aggregate_id, event_type, event_version, payload, occurred_at)
                select '3', i + 1, date '%s' + i / %d, '01900000-0000-7000-8000-000000000000', 'order', (i %% 500)::text, 'OrderPlaced',
                       1, '{}', now()
                from generate_series(0, %d) as i""".formatted(first(), perDay, perDay * days - 1), """
                insert into postroom.journal_archive (position, seq, day, outbox_day, key_hash, bytes)
                select seq, seq, day, day, (seq * 7919) % 2147483647, 30 from postroom.outbox_archive""", """
                insert into postroom.archive_day (day, first_position, last_position, passed_at, has_messages)
                select day, min(position), max(position), max(position), true from postroom.journal_archive group by day""");
    }

    private LocalDate first() {
        return LocalDate.now(ZoneOffset.UTC).minusDays(days + 10L);
    }

    /** A position in the middle of a day. */
    public long within(int day) {
        return (long) perDay * day + perDay / 2;
    }

    /** How many partitions of archived days, and indexes of them, a transaction has locked so far. */
    public static long locked(Connection tx) throws SQLException {
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
}
