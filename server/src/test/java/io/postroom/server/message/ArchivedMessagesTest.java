package io.postroom.server.message;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.journal.Journal;
import io.postroom.message.Message;
import io.postroom.testkit.Messages;
import io.postroom.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.LocalDate;
import java.time.format.DateTimeFormatter;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The console looks through archived days as through others. */
class ArchivedMessagesTest {
    @Test
    void archivedMessagesAreListedAndFoundByTheirPosition() throws SQLException {
        try (TestDatabase database = TestDatabase.create()) {
            LocalDate old = LocalDate.ofEpochDay(
                    database.queryLong("select (now() at time zone 'utc')::date - date '1970-01-01' - 10"));
            List<Message> archived = Messages.ofManyKeys("old", 20);
            publish(database, archived);
            String day = old.format(DateTimeFormatter.BASIC_ISO_DATE);
            for (String table : List.of("outbox", "journal")) {
                database.execute(
                        "create table postroom.%1$s_%2$s partition of postroom.%1$s for values from ('%3$s') to ('%4$s')"
                                .formatted(table, day, old, old.plusDays(1)),
                        "update postroom." + table + " set day = '" + old + "'");
            }
            database.execute(
                    "update postroom.journal set outbox_day = '" + old + "'",
                    "update postroom.tick set day = '" + old + "'");
            publish(database, Messages.ofManyKeys("now", 5));
            assertThat(database.postroom().archive().run(Duration.ofDays(7))).hasSize(1);

            BrowseTable table = new BrowseTable(database.postroom().database().schema());
            try (Connection tx = database.begin()) {
                assertThat(table.floor(tx)).isEqualTo(1);
                List<BrowseTable.Entry> entries = table.entries(tx, 10, 24, null, 100);
                assertThat(entries)
                        .extracting(BrowseTable.Entry::position)
                        .containsExactly(23L, 22L, 21L, 20L, 19L, 18L, 17L, 16L, 15L, 14L, 13L, 12L, 11L);
                assertThat(table.entries(tx, 10, 24, null, 4))
                        .extracting(BrowseTable.Entry::position)
                        .containsExactly(23L, 22L, 21L, 20L);
                Journal.Place place = table.place(tx, 3).orElseThrow();
                assertThat(database.postroom().journal().fetch(List.of(place)).get(place))
                        .isEqualTo(archived.get(2));
                assertThat(table.transaction(tx, place).orElseThrow().messages())
                        .isEqualTo(archived.size());
            }
        }
    }

    private static void publish(TestDatabase database, List<Message> messages) throws SQLException {
        try (Connection tx = database.begin()) {
            database.postroom().outbox().publishAll(tx, messages);
            tx.commit();
        }
        database.postroom().journal().stampAll();
    }
}
