package io.postroom.archive;

import io.postroom.message.Message;
import io.postroom.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.LocalDate;
import java.time.format.DateTimeFormatter;
import java.util.List;

/** Messages as if they had been published and stamped on days that have passed. Days are counted back from today. */
public final class PastDays {
    private final TestDatabase database;
    private final LocalDate today;

    public PastDays(TestDatabase database) {
        this.database = database;
        this.today =
                LocalDate.ofEpochDay(database.queryLong("select (now() at time zone 'utc')::date - date '1970-01-01'"));
    }

    public LocalDate day(int ago) {
        return today.minusDays(ago);
    }

    /** Publishes and stamps messages of a day; days are given oldest first. */
    public PastDays publish(int ago, List<Message> messages) {
        return publish(ago, ago, messages);
    }

    /** The same for messages that were stamped on a later day than they were published. */
    public PastDays publish(int publishedAgo, int stampedAgo, List<Message> messages) {
        make("outbox", "seq", publishedAgo);
        return publishStray(publishedAgo, stampedAgo, messages);
    }

    /** The same where nobody had made the outbox's day, unless it is there: the messages lie in the default partition. */
    PastDays publishStray(int publishedAgo, int stampedAgo, List<Message> messages) {
        make("journal", "position", stampedAgo);
        long before = end();
        if (before == 0) {
            int first = Math.max(publishedAgo, stampedAgo);
            database.execute("update postroom.tick set day = '" + day(first) + "', at = at - interval '" + first
                    + " days' where position = 0");
        }
        publish(messages);
        database.execute(
                "update postroom.outbox set day = '" + day(publishedAgo)
                        + "' where seq in (select seq from postroom.journal where position > " + before + ")",
                "update postroom.journal set day = '" + day(stampedAgo) + "', outbox_day = '" + day(publishedAgo)
                        + "' where position > " + before,
                "update postroom.tick set day = '" + day(stampedAgo) + "', at = at - interval '" + stampedAgo
                        + " days' where position > " + before,
                // As if the cluster had been there then.
                "update postroom.cluster set since = since - interval '40 days' where since > now() - interval '39 days'");
        return this;
    }

    /** Publishes and stamps messages now. */
    public void publish(List<Message> messages) {
        try (Connection tx = database.begin()) {
            database.postroom().outbox().publishAll(tx, messages);
            tx.commit();
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
        database.postroom().journal().stampAll();
    }

    long end() {
        return database.queryLong("select max(position) from postroom.tick");
    }

    /** Makes a day's partition if it is not there. */
    void make(String table, String unique, int ago) {
        String partition = partition(table, ago);
        if (database.queryLong("select count(*) from pg_class where relname = '" + partition + "'") == 0) {
            database.execute(
                    "create table postroom.%s partition of postroom.%s for values from ('%s') to ('%s')"
                            .formatted(partition, table, day(ago), day(ago - 1)),
                    "create unique index on postroom." + partition + " (" + unique + ")");
        }
    }

    String partition(String table, int ago) {
        return table + "_" + day(ago).format(DateTimeFormatter.BASIC_ISO_DATE);
    }
}
