package io.postroom.archive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postroom.Postroom;
import io.postroom.PostroomException;
import io.postroom.doctor.Check;
import io.postroom.doctor.Finding;
import io.postroom.message.Message;
import io.postroom.relay.Relay;
import io.postroom.relay.Subscription;
import io.postroom.subscription.Act;
import io.postroom.telemetry.Telemetry;
import io.postroom.testkit.Messages;
import io.postroom.testkit.RecordingSink;
import io.postroom.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What is archived and when, and that whoever reads by position finds it. */
class ArchiveTest {
    static final Duration WEEK = Duration.ofDays(7);
    static final Act ACT = new Act("tester", "to see what happens");

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
    void aNewSubscriptionGetsEveryMessageOnceOverArchiveAndOutbox() {
        List<Message> published = fill();
        assertThat(outcomes()).containsExactly("10 ARCHIVED", "9 ARCHIVED", "8 ARCHIVED");
        assertThat(database.queryLong("select count(*) from postroom.outbox_archive"))
                .isEqualTo(120);
        assertThat(database.queryLong("select count(*) from postroom.journal_archive"))
                .isEqualTo(120);

        for (int lanes : new int[] {1, 3}) {
            RecordingSink sink = deliver(Subscription.named("all" + lanes).lanes(lanes));
            assertThat(ids(sink.accepted())).containsExactlyInAnyOrderElementsOf(ids(published));
        }
        RecordingSink filtered =
                deliver(Subscription.named("some").eventTypes("OrderChanged").lanes(2));
        assertThat(ids(filtered.accepted()))
                .containsExactlyInAnyOrderElementsOf(ids(published.stream()
                        .filter(message -> message.eventType().equals("OrderChanged"))
                        .toList()));
        assertThat(database.postroom().journal().keptAfter()).isZero();
    }

    @Test
    void readGoesOverFromTheArchiveToTheOutboxWithoutAGap() throws SQLException {
        List<Message> published = fill();
        archive.run(WEEK);
        for (int page : new int[] {1, 7, 50, 1_000}) {
            List<UUID> read = new ArrayList<>();
            long after = 0;
            for (long position = next(after, page, read); position > after; position = next(after, page, read)) {
                after = position;
            }
            assertThat(read).containsExactlyElementsOf(ids(published));
        }
        assertThat(database.queryLong("select count(*) from postroom.archived_message"))
                .isEqualTo(120);
    }

    private long next(long after, int page, List<UUID> read) throws SQLException {
        long last = after;
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows =
                        statement.executeQuery("select position, id from postroom.read(" + after + ", " + page + ")")) {
            while (rows.next()) {
                last = rows.getLong(1);
                read.add(rows.getObject(2, UUID.class));
            }
        }
        return last;
    }

    @Test
    void aDayThatALaneHasNotPassedStaysAndSoDoLaterOnes() {
        fill();
        RecordingSink sink = new RecordingSink();
        try (Relay relay = relay(Subscription.named("slow").lanes(1), sink)) {
            relay.runOnce();
        }
        database.execute("update postroom.lane set position = 50 where subscription = 'slow'");
        assertThat(outcomes()).containsExactly("10 ARCHIVED", "9 NEEDED");
        assertThat(archive.run(WEEK))
                .singleElement()
                .satisfies(step -> assertThat(step.sentence())
                        .isEqualTo("it is needed by subscription slow at 50; the day ends at 80"));
        assertThat(archive.due(WEEK)).extracting(HotDay::need).containsOnly("subscription slow at 50");
        database.execute("update postroom.lane set position = 80");
        assertThat(outcomes()).containsExactly("9 ARCHIVED", "8 NEEDED");
    }

    @Test
    void readersDeliveriesMovesAndGenerationsHoldADay() {
        fill();
        database.execute(
                "insert into postroom.consumer_offset (consumer, position) values ('python', 39)",
                "insert into postroom.read_model (name, freshness, freshness_limit, version) values ('sales', 'seconds', '1 minute', 1)");
        assertThat(outcomes()).containsExactly("10 NEEDED");
        assertThat(archive.due(WEEK).get(0).need()).isEqualTo("reader python at 39");
        database.execute(
                "update postroom.consumer_offset set position = 1000",
                "insert into postroom.generation (read_model, number, version, state, began_after) values ('sales', 2, 1, 'asked', 0)");
        assertThat(archive.due(WEEK).get(0).need()).as("nothing of it is live").isNull();
        database.execute(
                "insert into postroom.subscription (name, lanes) values ('sales.g1', 1)",
                "insert into postroom.generation (read_model, number, version, state, began_after, subscription, ddl, made_at)"
                        + " values ('sales', 1, 1, 'live', 0, 'sales.g1', '', now())");
        assertThat(archive.due(WEEK).get(0).need()).isEqualTo("generation sales 2 at 0");
        assertThat(outcomes()).containsExactly("10 NEEDED");
        database.execute(
                "delete from postroom.generation",
                "insert into postroom.subscription (name, lanes) values ('billing', 1)",
                "insert into postroom.subscription_move (subscription, target, feed, topics, group_id, position, offsets, overlap_since, actor, reason)"
                        + " values ('billing', 'postgres', 'feed', '{a}', 'g', 10, '{}', now(), 'a', 'b')");
        assertThat(archive.due(WEEK).get(0).need()).isEqualTo("move billing at 10");
        database.execute(
                "delete from postroom.subscription_move",
                "insert into postroom.delivery (subscription, position, lane, key_hash, seq, outbox_day, bytes, state, due_at)"
                        + " select 'billing', position, 0, key_hash, seq, outbox_day, bytes, 'waiting', now() from postroom.journal where position = 7");
        assertThat(archive.due(WEEK).get(0).need()).isEqualTo("delivery billing at 7");
        assertThat(outcomes()).containsExactly("10 NEEDED");
        database.execute("delete from postroom.delivery");
        assertThat(outcomes()).containsExactly("10 ARCHIVED", "9 ARCHIVED", "8 ARCHIVED");
    }

    /** A transaction that has been open for nine days, and one that has committed and was not stamped. */
    @Test
    void nothingWithoutAPositionIsArchived() throws SQLException {
        for (int ago : new int[] {10, 9, 8, 3}) {
            days.make("outbox", "seq", ago);
            days.make("journal", "position", ago);
        }
        try (Connection tx = database.begin();
                Statement statement = tx.createStatement()) {
            database.postroom().outbox().publish(tx, Messages.sample());
            statement.execute("update postroom.outbox set day = '" + days.day(9) + "'");
            fill();
            assertThat(outcomes()).containsExactly("10 LOCKED");
            tx.commit();
        }
        assertThat(outcomes()).containsExactly("10 ARCHIVED", "9 UNSTAMPED");
        database.postroom().journal().stampAll();
        assertThat(outcomes()).containsExactly("9 ARCHIVED", "8 ARCHIVED");
        RecordingSink sink = deliver(Subscription.named("all").lanes(2));
        assertThat(sink.accepted()).hasSize(201);
        ArchivedDay nine = archive.find(days.day(9), "read");
        assertThat(nine.lastPosition()).isEqualTo(80);
        assertThat(nine.passedAt()).as("the one that was stamped today").isEqualTo(201);
        List<Long> read = new ArrayList<>();
        archive.read(days.day(9), item -> read.add(item.position()));
        assertThat(read).hasSize(41).startsWith(41L, 42L).endsWith(80L, 201L);
    }

    @Test
    void aDayIsDroppedOnlyWhenNobodyNeedsItAndOnlyTheOldest() {
        List<Message> published = fill();
        archive.run(WEEK);
        try (Relay relay = relay(Subscription.named("slow").lanes(1), new RecordingSink())) {
            relay.runOnce();
        }
        database.execute("update postroom.lane set position = 30");
        assertThatThrownBy(() -> archive.drop(days.day(9), ACT))
                .hasMessageContaining("day " + days.day(10) + " is older and still there")
                .extracting("code")
                .isEqualTo("archive.not-oldest");
        for (Runnable act : List.<Runnable>of(
                () -> archive.planDrop(days.day(10)),
                () -> archive.drop(days.day(10)),
                () -> archive.drop(days.day(10), ACT))) {
            assertThatThrownBy(act::run)
                    .isInstanceOf(PostroomException.class)
                    .hasMessageContaining("it is needed by subscription slow at 30")
                    .extracting("code")
                    .isEqualTo("archive.needed");
        }
        database.execute("update postroom.lane set position = 40");
        archive.drop(days.day(10), ACT);
        assertThat(database.queryLong("select count(*) from postroom.audit where action = 'archive drop'"))
                .isOne();
        assertThat(archive.days(false)).extracting(ArchivedDay::day).containsExactly(days.day(8), days.day(9));
        assertThat(archive.days(true)).hasSize(3);
        assertThat(database.postroom().journal().keptAfter()).isEqualTo(40);
        assertThatThrownBy(() -> archive.drop(days.day(10), ACT))
                .extracting("code")
                .isEqualTo("archive.dropped");

        RecordingSink sink = deliver(Subscription.named("new").lanes(2));
        assertThat(ids(sink.accepted()))
                .containsExactlyInAnyOrderElementsOf(ids(published.subList(40, published.size())));
        assertThatThrownBy(() -> database.execute("select * from postroom.read(0)"))
                .hasMessageContaining("those at positions 1 to 40 are gone");
    }

    /** Published on a day whose evening nobody stamped. */
    @Test
    void aDayOnWhichNothingWasStampedIsReadAndDroppedWithItsMessages() {
        List<Message> late = Messages.ofManyKeys("late", 5);
        days.publish(10, Messages.ofManyKeys("old", 10));
        days.make("journal", "position", 9);
        days.publish(9, 8, late);
        days.publish(8, Messages.ofManyKeys("next", 10));
        days.publish(Messages.ofManyKeys("now", 5));
        assertThat(outcomes()).containsExactly("10 ARCHIVED", "9 ARCHIVED", "8 ARCHIVED");
        ArchivedDay empty = archive.find(days.day(9), "read");
        assertThat(empty.lastPosition()).isNull();
        assertThat(empty.passedAt()).isEqualTo(15);
        List<UUID> read = new ArrayList<>();
        archive.read(days.day(9), item -> read.add(item.message().id()));
        assertThat(read).containsExactlyElementsOf(ids(late));
        assertThat(deliver(Subscription.named("before")).accepted()).hasSize(30);
        archive.drop(days.day(10), ACT);
        archive.drop(days.day(9), ACT);
        assertThat(database.postroom().journal().keptAfter()).isEqualTo(15);
        assertThat(deliver(Subscription.named("after")).accepted()).hasSize(15);
    }

    @Test
    void theDoctorNamesWhoKeepsDaysFromTheArchive() {
        for (int ago : new int[] {14, 13}) {
            days.publish(ago, Messages.ofManyKeys("at-" + ago, 10));
        }
        days.publish(Messages.ofManyKeys("now", 10));
        assertThat(database.postroom().doctor().examine().findings())
                .extracting(Finding::check)
                .doesNotContain(Check.ARCHIVE_STUCK);
        database.execute("insert into postroom.consumer_offset (consumer, position) values ('python', 15)");
        assertThat(outcomes()).containsExactly("14 ARCHIVED", "13 NEEDED");
        database.execute("update postroom.archive_day set archived_at = archived_at - interval '6 days'");
        assertThat(database.postroom().doctor().examine().findings())
                .filteredOn(finding -> finding.check() == Check.ARCHIVE_STUCK)
                .singleElement()
                .extracting(Finding::evidence)
                .asString()
                .isEqualTo("day " + days.day(13)
                        + " is not archived, though others were after 8 days; it is needed by reader python at 15");
        database.execute("delete from postroom.consumer_offset");
        assertThat(outcomes()).containsExactly("13 ARCHIVED");
        assertThat(database.postroom().doctor().examine().findings())
                .extracting(Finding::check)
                .doesNotContain(Check.ARCHIVE_STUCK);
    }

    @Test
    void maintenanceArchivesAndDropsByItsRetentionAndNothingWithoutOne() {
        fill();
        database.postroom().maintenance().runOnce();
        assertThat(archive.days(true)).isEmpty();
        database.postroom().maintenance(Retention.USUAL).runOnce();
        assertThat(archive.days(false)).hasSize(3);
        database.postroom()
                .maintenance(Retention.USUAL.dropAfter(Duration.ofDays(9)))
                .runOnce();
        assertThat(archive.days(false)).extracting(ArchivedDay::day).containsExactly(days.day(8), days.day(9));
    }

    @Test
    void maintenanceTellsHowManyDaysAreArchivedAndHowManyAreStuck() {
        List<DayCount> told = new ArrayList<>();
        Postroom postroom = Postroom.builder(database.dataSource())
                .telemetry(new Telemetry() {
                    @Override
                    public void archiveDays(long archived, long stuck, long undropped) {
                        told.add(new DayCount(archived, stuck, undropped));
                    }
                })
                .build();
        fill();
        postroom.maintenance().runOnce();
        database.execute("insert into postroom.consumer_offset (consumer, position) values ('python', 50)");
        postroom.maintenance(Retention.USUAL).runOnce();
        database.execute("delete from postroom.consumer_offset");
        postroom.maintenance(Retention.USUAL).runOnce();
        database.execute("insert into postroom.consumer_offset (consumer, position) values ('python', 50)");
        postroom.maintenance(Retention.USUAL.dropAfter(WEEK)).runOnce();
        assertThat(told)
                .containsExactly(
                        new DayCount(0, 0, 0), new DayCount(1, 2, 0), new DayCount(3, 0, 0), new DayCount(2, 0, 2));
    }

    @Test
    void aRetentionSaysAllThatIsWrongWithIt() {
        assertThatThrownBy(() -> new Retention(Duration.ofHours(23), Duration.ofHours(1)))
                .hasMessageContaining("archive-after is PT23H, the range is 1 to 36500 days")
                .hasMessageContaining("drop-after is PT1H and archive-after PT23H")
                .extracting("code")
                .isEqualTo("archive.retention-invalid");
        assertThatThrownBy(() -> new Retention(Duration.ofDays(40_000), Duration.ofDays(50_000)))
                .hasMessageContaining("archive-after is 40000 days")
                .hasMessageContaining("drop-after is 50000 days, the most is");
        assertThatThrownBy(() -> archive.step(Duration.ofHours(3)))
                .extracting("code")
                .isEqualTo("archive.retention-invalid");
    }

    /** Forty messages on each of three old days and on each of two that are not old. */
    private List<Message> fill() {
        List<Message> all = new ArrayList<>();
        for (int ago : new int[] {10, 9, 8, 3}) {
            List<Message> messages = new ArrayList<>(Messages.sequence("of-" + ago, 20));
            messages.addAll(Messages.ofManyKeys("at-" + ago, 20));
            days.publish(ago, messages);
            all.addAll(messages);
        }
        List<Message> now = Messages.ofManyKeys("now", 40);
        days.publish(now);
        all.addAll(now);
        return all;
    }

    private List<String> outcomes() {
        return archive.run(WEEK).stream()
                .map(step -> (days.day(0).toEpochDay() - step.day().toEpochDay()) + " " + step.outcome())
                .toList();
    }

    private RecordingSink deliver(Subscription.Builder subscription) {
        RecordingSink sink = new RecordingSink();
        try (Relay relay = relay(subscription, sink)) {
            relay.runOnce();
        }
        return sink;
    }

    private Relay relay(Subscription.Builder subscription, RecordingSink sink) {
        return database.postroom().relay().deliver(subscription.build(), sink).build();
    }

    private static List<UUID> ids(List<Message> messages) {
        return messages.stream().map(Message::id).toList();
    }
}
