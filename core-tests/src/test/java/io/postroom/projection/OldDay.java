package io.postroom.projection;

import io.postroom.testkit.TestDatabase;
import java.time.LocalDate;
import java.time.format.DateTimeFormatter;

/** The first messages of a journal as if they had been published ten days ago, and their day dropped as the operators' page says. */
public final class OldDay {
    private final TestDatabase database;
    private final LocalDate day;

    public OldDay(TestDatabase database) {
        this.database = database;
        long today = database.queryLong("select (now() at time zone 'utc')::date - date '1970-01-01'");
        this.day = LocalDate.ofEpochDay(today - 10);
        database.execute("update postroom.tick set day = '" + day + "' where position = 0");
    }

    /** Moves the messages up to a position to the old day, in the outbox and in the journal. */
    public void take(long position) {
        make("outbox", "seq");
        make("journal", "position");
        takeAside(position);
        database.execute("update postroom.journal set day = '" + day + "' where position <= " + position);
    }

    /** The same where the day has no partition of its own. */
    public void takeAside(long position) {
        database.execute(
                "update postroom.outbox set day = '" + day
                        + "' where seq in (select seq from postroom.journal where position <= " + position + ")",
                "update postroom.journal set outbox_day = '" + day + "' where position <= " + position);
    }

    /** As docs/operating/disk.md says: the day of the outbox, not that of the journal. */
    public void drop() {
        database.execute(
                "alter table postroom.outbox detach partition postroom." + partition("outbox"),
                "drop table postroom." + partition("outbox"));
    }

    private void make(String table, String unique) {
        String partition = partition(table);
        database.execute(
                "create table postroom." + partition + " partition of postroom." + table + " for values from ('" + day
                        + "') to ('" + day.plusDays(1) + "')",
                "create unique index on postroom." + partition + " (" + unique + ")");
    }

    private String partition(String table) {
        return table + "_" + day.format(DateTimeFormatter.BASIC_ISO_DATE);
    }
}
