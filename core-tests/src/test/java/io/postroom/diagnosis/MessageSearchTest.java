package io.postroom.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.message.Message;
import io.postroom.testkit.Messages;
import io.postroom.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A message is found by its id and in the journal, though no index has either. */
class MessageSearchTest {
    private TestDatabase database;

    @BeforeEach
    void create() {
        database = TestDatabase.create();
    }

    @AfterEach
    void drop() {
        database.close();
    }

    @Test
    void everyMessageHasTheFoundPosition() throws SQLException {
        List<Message> all = new ArrayList<>();
        for (int round = 0; round < 12; round++) {
            List<Message> some = Messages.ofManyKeys("k" + round, 1 + round);
            publish(some);
            stamp();
            all.addAll(some);
        }
        for (int i = 0; i < all.size(); i++) {
            assertThat(find(all.get(i).id()).position()).as("message %d", i).isEqualTo(i + 1L);
        }
    }

    @Test
    void aMessageThatWasCommittedLateIsFoundWhereItWasStamped() throws SQLException {
        Message late = Messages.order("late");
        try (Connection tx = database.begin()) {
            database.postroom().outbox().publish(tx, late);
            for (int i = 0; i < 10; i++) {
                publish(Messages.ofManyKeys("other", 3));
                stamp();
            }
            tx.commit();
        }
        assertThat(find(late.id()).position()).as("not stamped yet").isNull();
        stamp();
        publish(Messages.ofManyKeys("other", 3));
        stamp();
        assertThat(find(late.id()).position()).isEqualTo(31);
    }

    @Test
    void aMessageOfABulkThatIsStampedInSlicesIsFound() throws SQLException {
        List<Message> bulk = Messages.ofManyKeys("bulk", 25);
        publish(bulk);
        for (int slices = 0; slices < 3; slices++) {
            if (slices > 0) {
                database.execute("select * from postroom.stamp(10, '')");
            }
            for (int i = 0; i < bulk.size(); i++) {
                Long position = find(bulk.get(i).id()).position();
                assertThat(position).as("%d slices", slices).isEqualTo(i < slices * 10 ? i + 1L : null);
            }
        }
        stamp();
        assertThat(find(bulk.get(24).id()).position()).isEqualTo(25);
    }

    @Test
    void thinnedTicksStillTell() throws SQLException {
        List<Message> all = Messages.ofManyKeys("k", 30);
        for (Message message : all) {
            publish(List.of(message));
            stamp();
        }
        database.execute(
                "delete from postroom.tick where position % 7 <> 0 and position < (select max(position) from postroom.tick)");
        for (int i = 0; i < all.size(); i++) {
            assertThat(find(all.get(i).id()).position()).isEqualTo(i + 1L);
        }
    }

    @Test
    void inARestoredCopyTheTransactionIdsTellNothing() throws SQLException {
        List<Message> all = Messages.ofManyKeys("k", 5);
        publish(all);
        stamp();
        Message unstamped = Messages.order("unstamped");
        publish(List.of(unstamped));
        database.execute("update postroom.outbox set xid = '3'");
        for (int i = 0; i < all.size(); i++) {
            assertThat(find(all.get(i).id()).position()).isEqualTo(i + 1L);
        }
        Why why = database.postroom().diagnosis().why(unstamped.id());
        assertThat(why.message().position()).isNull();
        database.execute("select * from postroom.restamp()");
        assertThat(find(unstamped.id()).position()).isEqualTo(6);
    }

    @Test
    void anIdWithoutATimeAndOneWithAWrongTimeAreFound() throws SQLException {
        Message random = withId(UUID.randomUUID());
        Message early = withId(made(Instant.parse("2001-01-01T00:00:00Z")));
        Message future = withId(made(Instant.parse("9999-01-01T00:00:00Z")));
        publish(List.of(random, early, future));
        stamp();
        assertThat(find(random.id()).position()).isEqualTo(1);
        assertThat(find(early.id()).position()).isEqualTo(2);
        assertThat(find(future.id()).position()).isEqualTo(3);
    }

    @Test
    void aMessageInTheDefaultPartitionIsFound() throws SQLException {
        LocalDate past = LocalDate.parse("2020-02-02");
        Message old = withId(made(Instant.parse("2020-02-02T12:00:00Z")));
        Message between = withId(UUID.randomUUID());
        Message ahead = withId(UUID.randomUUID());
        publish(List.of(old, between, ahead));
        database.execute(
                "update postroom.outbox set day = '" + past + "' where id = '" + old.id() + "'",
                "drop table postroom.outbox_" + today().plusDays(3).toString().replace("-", ""),
                "update postroom.outbox set day = '" + today().plusDays(3) + "' where id = '" + between.id() + "'",
                "update postroom.outbox set day = '" + today().plusDays(300) + "' where id = '" + ahead.id() + "'");
        assertThat(database.queryLong("select count(*) from only postroom.outbox_default"))
                .isEqualTo(3);
        assertThat(find(old.id()).day()).isEqualTo(past);
        assertThat(find(between.id()).day()).isEqualTo(today().plusDays(3));
        assertThat(find(ahead.id()).day()).isEqualTo(today().plusDays(300));
    }

    @Test
    void ofTwoWithOneIdTheNewestIsTold() throws SQLException {
        Message once = Messages.order("a");
        Message again = Message.about("order", "b")
                .id(once.id())
                .event("OrderConfirmed")
                .payload("{}")
                .build();
        publish(List.of(once));
        publish(List.of(again));
        stamp();
        Found found = find(once.id());
        assertThat(found.copies()).isEqualTo(2);
        assertThat(found.key().aggregateId()).isEqualTo("b");
        assertThat(found.position()).isEqualTo(2);
    }

    @Test
    void anIdFromBeforeTheOldestDayIsSaidToBeGone() {
        Why why = database.postroom().diagnosis().why(made(Instant.parse("2020-02-02T12:00:00Z")));
        Reason reason = why.answers().get(0).reasons().get(0);
        assertThat(reason.code()).isEqualTo(Code.PARTITION_GONE);
        assertThat(reason.sentence())
                .isEqualTo(
                        "no message and no dead letter has this id: it was made on 2020-02-02, and the oldest day that is kept is "
                                + today().minusDays(1));
    }

    @Test
    void whatWasNotSearchedInTimeIsSaid() throws SQLException {
        Message random = withId(UUID.randomUUID());
        publish(List.of(random));
        Why hurried =
                new Diagnosis(database.postroom().database(), Duration.ofSeconds(2), Duration.ZERO).why(random.id());
        Reason reason = hurried.answers().get(0).reasons().get(0);
        assertThat(reason.code()).isEqualTo(Code.NOT_FOUND_IN_TIME);
        assertThat(reason.sentence()).contains("not searched whole: the default partition, " + today().plusDays(7));
    }

    /** Somebody holds a lock that every reader of one day waits for. */
    @Test
    void aDayThatTakesTooLongIsLeftOutAndTheOthersAreSearched() throws SQLException {
        Message random = withId(UUID.randomUUID());
        publish(List.of(random));
        String tomorrow = "postroom.outbox_" + today().plusDays(1).toString().replace("-", "");
        try (Connection locker = database.begin();
                Statement statement = locker.createStatement()) {
            statement.execute("lock table " + tomorrow + " in access exclusive mode");
            Diagnosis diagnosis =
                    new Diagnosis(database.postroom().database(), Duration.ofMillis(300), Duration.ofSeconds(20));
            assertThat(diagnosis.why(random.id()).message()).isNotNull();
            Reason reason =
                    diagnosis.why(UUID.randomUUID()).answers().get(0).reasons().get(0);
            assertThat(reason.code()).isEqualTo(Code.NOT_FOUND_IN_TIME);
            assertThat(reason.evidence())
                    .containsEntry("notSearched", today().plusDays(1).toString());
        }
    }

    @Test
    void theGapsBetweenPartitionsAreSearchedToo() {
        assertThat(MessageSearch.stretches(List.of(days("2026-01-03", "2026-01-04"), days("2026-01-01", "2026-01-02"))))
                .containsExactly(
                        new SearchTable.Days(LocalDate.parse("2026-01-04"), LocalDate.MAX),
                        days("2026-01-03", "2026-01-04"),
                        days("2026-01-02", "2026-01-03"),
                        days("2026-01-01", "2026-01-02"),
                        new SearchTable.Days(LocalDate.MIN, LocalDate.parse("2026-01-01")));
    }

    private static SearchTable.Days days(String first, String last) {
        return new SearchTable.Days(LocalDate.parse(first), LocalDate.parse(last));
    }

    private Found find(UUID id) {
        Found found = database.postroom().diagnosis().why(id).message();
        assertThat(found).as("message %s", id).isNotNull();
        return found;
    }

    private LocalDate today() {
        return LocalDate.ofEpochDay(
                database.queryLong("select (clock_timestamp() at time zone 'utc')::date - date '1970-01-01'"));
    }

    private static UUID made(Instant time) {
        return new UUID(time.toEpochMilli() << 16 | 0x7000L, 0x8000000000000001L);
    }

    private static Message withId(UUID id) {
        return Message.about("order", "a")
                .id(id)
                .event("OrderConfirmed")
                .payload("{}")
                .build();
    }

    private void stamp() {
        database.postroom().journal().stampAll();
    }

    private void publish(List<Message> messages) throws SQLException {
        try (Connection tx = database.begin()) {
            database.postroom().outbox().publishAll(tx, messages);
            tx.commit();
        }
    }
}
