package io.postroom.archive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postroom.diagnosis.Why;
import io.postroom.message.Message;
import io.postroom.relay.Outcome;
import io.postroom.relay.Relay;
import io.postroom.relay.Subscription;
import io.postroom.retry.RetryPolicy;
import io.postroom.subscription.Act;
import io.postroom.subscription.Point;
import io.postroom.subscription.ReplayRequest;
import io.postroom.testkit.Messages;
import io.postroom.testkit.RecordingSink;
import io.postroom.testkit.TestDatabase;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What is not delivered at once is found in the archive too: when it is due, when it is given up, when somebody asks. */
class ArchivedDeliveryTest {
    private static final Duration WEEK = Duration.ofDays(7);
    private static final Act ACT = new Act("tester", "to see what happens");

    TestDatabase database;
    PastDays days;
    Archive archive;

    @BeforeEach
    void create() {
        database = TestDatabase.create();
        days = new PastDays(database);
        archive = database.postroom().archive();
    }

    @AfterEach
    void drop() {
        database.close();
    }

    @Test
    void aMessageThatFailsInAReplayOfTheArchiveIsBuriedWhole() {
        List<Message> old = Messages.ofManyKeys("old", 20);
        days.publish(9, old);
        days.publish(Messages.ofManyKeys("now", 5));
        RecordingSink sink = new RecordingSink();
        run(sink);
        assertThat(archive.run(WEEK)).hasSize(1);
        Message bad = old.get(7);
        sink.answer(message -> message.id().equals(bad.id()), Outcome.rejected("no"));
        database.postroom()
                .subscriptions()
                .replay(new ReplayRequest("all", Point.beginning(), null, null), ACT, Duration.ofSeconds(30));
        run(sink);
        assertThat(sink.accepted()).hasSize(25 + 24);
        assertThat(database.queryLong("select count(*) from postroom.dead_letter where message_id = '" + bad.id()
                        + "' and payload::text = '" + bad.payload() + "' and aggregate_id = '" + bad.aggregateId()
                        + "'"))
                .isOne();
    }

    @Test
    void aMessageForLaterHoldsItsDayInTheArchiveAndIsReadThereWhenItIsDue() {
        Message later = Message.about("order", "o-1")
                .event("OrderReminded")
                .payload("{\"n\":1}")
                .availableAt(Instant.now().plus(Duration.ofDays(30)))
                .build();
        days.publish(9, List.of(later));
        days.publish(8, Messages.ofManyKeys("old", 3));
        days.publish(Messages.ofManyKeys("now", 3));
        RecordingSink sink = new RecordingSink();
        run(sink);
        assertThat(sink.accepted()).hasSize(6);
        assertThat(archive.run(WEEK)).extracting(ArchiveStep::outcome).containsOnly(ArchiveStep.Outcome.ARCHIVED);
        assertThatThrownBy(() -> archive.drop(days.day(9), ACT))
                .hasMessageContaining("it is needed by delivery all at 1");
        database.execute("update postroom.delivery set due_at = now() - interval '1 second'");
        run(sink);
        assertThat(sink.accepted()).hasSize(7).last().isEqualTo(later);
        archive.drop(days.day(9), ACT);
    }

    @Test
    void whyFindsAnArchivedMessage() {
        List<Message> old = Messages.ofManyKeys("old", 20);
        days.publish(9, old);
        days.publish(Messages.ofManyKeys("now", 5));
        run(new RecordingSink());
        Why before = database.postroom().diagnosis().why(old.get(3).id());
        archive.run(WEEK);
        Why after = database.postroom().diagnosis().why(old.get(3).id());
        assertThat(after.message()).isNotNull().isEqualTo(before.message());
        assertThat(after.answers())
                .extracting(answer -> answer.verdict().name())
                .containsExactly("DONE");
    }

    /** The day's entry is archived, and its message, written just after midnight, is not. */
    @Test
    void aRestoredCopyGivesNoSecondPositionToWhatIsArchived() {
        days.publish(9, Messages.ofManyKeys("old", 20));
        days.publish(7, 8, Messages.ofManyKeys("midnight", 5));
        days.publish(Messages.ofManyKeys("now", 5));
        assertThat(archive.run(WEEK)).hasSize(2);
        long end = days.end();
        database.execute("update postroom.cluster set system_identifier = 1");
        assertThat(archive.step(Duration.ofDays(1)))
                .get()
                .extracting(ArchiveStep::outcome)
                .isEqualTo(ArchiveStep.Outcome.FOREIGN);
        database.execute("select restamped from postroom.restamp()");
        assertThat(days.end()).as("nothing was without a position").isEqualTo(end);
        RecordingSink sink = new RecordingSink();
        run(sink);
        assertThat(sink.accepted()).hasSize(30).doesNotHaveDuplicates();
    }

    /**
     * Messages that do not lie in a partition of the day on which they were stamped: nobody had made it, or that of an earlier day, or
     * they were published just after midnight. The next day's may be hot or archived.
     */
    @Test
    void aRestoredCopyDeliversNothingOfADroppedDayAgain() {
        days.publish(10, Messages.ofManyKeys("first", 5));
        days.publishStray(9, 9, Messages.ofManyKeys("stray", 5));
        days.publishStray(9, 8, Messages.ofManyKeys("stray-stamped-later", 5));
        days.publish(7, 8, Messages.ofManyKeys("midnight", 5));
        days.publish(7, Messages.ofManyKeys("kept", 5));
        days.publish(5, 6, Messages.ofManyKeys("hot-midnight", 5));
        days.publishStray(4, 4, Messages.ofManyKeys("hot-stray", 5));
        days.publish(Messages.ofManyKeys("now", 5));
        RecordingSink sink = new RecordingSink();
        run(sink);
        assertThat(sink.accepted()).hasSize(40);
        archive.run(Duration.ofDays(5));
        for (int ago : new int[] {10, 9, 8}) {
            archive.drop(days.day(ago), ACT);
        }
        assertThat(messages("stray-%")).isZero();
        assertThat(messages("midnight-%")).isZero();
        assertThat(messages("kept-%") + messages("hot-%") + messages("now-%")).isEqualTo(20);
        archive.drop(days.day(7), ACT);
        archive.drop(days.day(6), ACT);
        assertThat(messages("hot-midnight-%")).isZero();

        long end = days.end();
        database.execute("update postroom.cluster set system_identifier = 1");
        database.postroom().journal().stampAll();
        assertThat(days.end()).as("nothing was without a position").isEqualTo(end);
        run(sink);
        assertThat(sink.accepted()).hasSize(40);
        RecordingSink later = new RecordingSink();
        try (Relay relay = database.postroom()
                .relay()
                .deliver(Subscription.named("later").build(), later)
                .build()) {
            relay.runOnce();
        }
        assertThat(later.accepted()).hasSize(10);
    }

    /** It waits where the day does not look for it: published on the next one. */
    @Test
    void aDeliveryHoldsTheDayOnWhichItsMessageWasStamped() {
        Message midnight = Message.about("order", "o-1")
                .event("OrderReminded")
                .payload("{\"n\":1}")
                .availableAt(Instant.now().plus(Duration.ofDays(30)))
                .build();
        days.publish(8, 9, List.of(midnight));
        days.publish(Messages.ofManyKeys("now", 3));
        RecordingSink sink = new RecordingSink();
        run(sink);
        assertThat(archive.run(WEEK)).hasSize(2);
        assertThatThrownBy(() -> archive.drop(days.day(9), ACT))
                .hasMessageContaining("it is needed by delivery all at 1");
        database.execute("update postroom.delivery set due_at = now() - interval '1 second'");
        run(sink);
        assertThat(sink.accepted()).hasSize(4).last().isEqualTo(midnight);
        archive.drop(days.day(9), ACT);
    }

    private long messages(String key) {
        String where = " where aggregate_id like '" + key + "'";
        return database.queryLong("select (select count(*) from postroom.outbox" + where
                + ") + (select count(*) from postroom.outbox_archive" + where + ")");
    }

    private void run(RecordingSink sink) {
        try (Relay relay = database.postroom()
                .relay()
                .deliver(
                        Subscription.named("all")
                                .lanes(2)
                                .retry(RetryPolicy.builder().attemptsMax(1).build())
                                .build(),
                        sink)
                .build()) {
            relay.runOnce();
        }
    }
}
