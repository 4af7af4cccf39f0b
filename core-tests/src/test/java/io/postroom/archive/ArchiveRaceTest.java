package io.postroom.archive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postroom.Postroom;
import io.postroom.fault.CapturedLog;
import io.postroom.journal.Batch;
import io.postroom.journal.Filter;
import io.postroom.journal.Journal;
import io.postroom.journal.LanePosition;
import io.postroom.maintenance.Maintenance;
import io.postroom.message.Message;
import io.postroom.relay.Relay;
import io.postroom.relay.Subscription;
import io.postroom.testkit.CrashPoint;
import io.postroom.testkit.CrashingDataSource;
import io.postroom.testkit.Messages;
import io.postroom.testkit.RecordingSink;
import io.postroom.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Days that are archived while others read, write and archive. */
class ArchiveRaceTest {
    private static final Duration WEEK = Duration.ofDays(7);

    TestDatabase database;
    PastDays days;
    Archive archive;
    List<Message> published;

    @BeforeEach
    void create() {
        database = TestDatabase.create();
        days = new PastDays(database);
        archive = database.postroom().archive();
        published = new ArrayList<>();
        for (int ago : new int[] {10, 9, 8, 3}) {
            List<Message> messages = Stream.concat(
                            Messages.sequence("of-" + ago, 20).stream(), Messages.ofManyKeys("at-" + ago, 20).stream())
                    .toList();
            days.publish(ago, messages);
            published.addAll(messages);
        }
        List<Message> now = Messages.ofManyKeys("now", 10);
        days.publish(now);
        published.addAll(now);
    }

    @AfterEach
    void drop() {
        database.close();
    }

    /** Every day is archived before the n-th time that a statement of a reader is sent. */
    @ParameterizedTest
    @CsvSource({
        "journal, 1", "journal, 2", "journal, 3", "journal, 5",
        "outbox, 1", "outbox, 2", "outbox, 3", "outbox, 5"
    })
    void aReaderMissesNothingOfADayThatIsArchivedUnderItsEyes(String table, int time) {
        for (Filter filter : List.of(Filter.ALL, new Filter(Set.of(), Set.of("OrderChanged"), Set.of()))) {
            AtomicBoolean archived = new AtomicBoolean();
            CrashingDataSource source = new CrashingDataSource(database.dataSource())
                    .before(
                            text -> text.contains("from \"postroom\"." + table + "\n") && text.startsWith("select"),
                            CrashPoint.act(table, time, () -> {
                                archive.run(WEEK);
                                archived.set(true);
                            }));
            Journal journal = Postroom.on(source).journal();
            journal.refreshHead();
            List<UUID> read = new ArrayList<>();
            for (int lane = 0; lane < 2; lane++) {
                Journal.Lane share = new Journal.Lane(lane, 2, filter);
                LanePosition at = journal.locate(0);
                while (at.position() < published.size()) {
                    Batch batch = journal.read(share, at, 10, 1_000_000);
                    batch.items().forEach(item -> read.add(item.message().id()));
                    assertThat(batch.next().position()).isGreaterThan(at.position());
                    at = batch.next();
                }
            }
            assertThat(read)
                    .containsExactlyInAnyOrderElementsOf(published.stream()
                            .filter(filter::wants)
                            .map(Message::id)
                            .toList());
            assertThat(archived).isTrue();
        }
        assertThat(archive.days(false)).hasSize(3);
    }

    /** The snapshot of a transaction does not know of the archive, but the catalog does. */
    @Test
    void readFindsADayThatWasArchivedAfterTheSnapshotOfItsTransaction() throws SQLException {
        try (Connection tx = database.begin();
                Statement statement = tx.createStatement()) {
            statement.execute("set transaction isolation level repeatable read");
            statement.execute("select count(*) from postroom.archive_day");
            archive.run(WEEK);
            assertThat(archive.days(false)).hasSize(3);
            List<UUID> read = new ArrayList<>();
            long after = 0;
            while (after < published.size()) {
                try (ResultSet rows =
                        statement.executeQuery("select position, id from postroom.read(" + after + ", 30)")) {
                    while (rows.next()) {
                        after = rows.getLong(1);
                        read.add(rows.getObject(2, UUID.class));
                    }
                }
            }
            assertThat(read)
                    .containsExactlyElementsOf(
                            published.stream().map(Message::id).toList());
            tx.rollback();
        }
    }

    /** An export that lacks messages would be believed. */
    @Test
    void nothingIsDroppedWhileADayIsRead() {
        archive.run(WEEK);
        List<UUID> read = new ArrayList<>();
        archive.read(days.day(10), item -> {
            if (read.isEmpty()) {
                assertThatThrownBy(() -> archive.drop(days.day(10)))
                        .extracting("code")
                        .isEqualTo("archive.locked");
            }
            read.add(item.message().id());
        });
        assertThat(read)
                .containsExactlyElementsOf(
                        published.subList(0, 40).stream().map(Message::id).toList());
        archive.drop(days.day(10));
    }

    @RepeatedTest(10)
    void manyArchiversArchiveEachDayOnce() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(4);
        try {
            List<Callable<List<ArchiveStep>>> runs = Collections.nCopies(4, () -> {
                List<ArchiveStep> all = new ArrayList<>();
                for (int i = 0; i < 5; i++) {
                    all.addAll(database.postroom().archive().run(WEEK));
                }
                return all;
            });
            List<ArchiveStep> steps = new ArrayList<>();
            for (Future<List<ArchiveStep>> run : threads.invokeAll(runs, 60, TimeUnit.SECONDS)) {
                steps.addAll(run.get());
            }
            archive.run(WEEK).forEach(steps::add);
            assertThat(steps)
                    .filteredOn(step -> step.outcome() == ArchiveStep.Outcome.ARCHIVED)
                    .extracting(ArchiveStep::day)
                    .containsExactlyInAnyOrder(days.day(10), days.day(9), days.day(8));
            assertThat(steps)
                    .extracting(ArchiveStep::outcome)
                    .isSubsetOf(ArchiveStep.Outcome.ARCHIVED, ArchiveStep.Outcome.BUSY);
        } finally {
            threads.shutdownNow();
        }
    }

    /** Three steps for each day: it goes wrong in the first of the second day. */
    @Test
    void whatAnOperatorArchivedIsInTheAuditThoughTheRestFailed() {
        CrashingDataSource source = new CrashingDataSource(database.dataSource())
                .before(text -> text.contains("archive_step"), CrashPoint.act("step", 4, () -> {
                    throw new IllegalStateException("out of memory");
                }));
        assertThatThrownBy(() -> Postroom.on(source).archive().run(WEEK, ArchiveTest.ACT))
                .hasMessageContaining("out of memory");
        assertThat(archive.days(false)).hasSize(1);
        assertThat(database.queryLong(
                        "select count(*) from postroom.audit where action = 'archive run' and subject = 'archived day "
                                + days.day(10) + "'"))
                .isEqualTo(1);
    }

    @Test
    void aDayThatAnotherProcessDropsJustNowIsLeftToIt() throws Exception {
        archive.run(WEEK);
        try (Connection other = database.begin();
                Statement statement = other.createStatement()) {
            statement.execute("select postroom.drop_archived_day('" + days.day(10) + "')");
            assertThatThrownBy(() -> archive.drop(days.day(10)))
                    .extracting("code")
                    .isEqualTo("archive.locked");
            ExecutorService threads = Executors.newSingleThreadExecutor();
            Future<?> drops;
            try (CapturedLog log = new CapturedLog();
                    Maintenance maintenance =
                            database.postroom().maintenance(new Retention(Duration.ofDays(5), WEEK))) {
                drops = threads.submit(() -> {
                    LockSupport.parkNanos(Duration.ofMillis(50).toNanos());
                    other.commit();
                    return null;
                });
                maintenance.runOnce();
                drops.get(10, TimeUnit.SECONDS);
                maintenance.runOnce();
                assertThat(log.text()).doesNotContain("it was dropped just now");
            } finally {
                threads.shutdownNow();
            }
        }
        assertThat(archive.days(false)).isEmpty();
    }

    /** Small transactions without an end, relays that deliver, and three days that are archived meanwhile. */
    @Test
    void whoPublishesGoesOnWhileDaysAreArchivedAndNothingIsLost() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(3);
        AtomicBoolean stop = new AtomicBoolean();
        AtomicLong longestNanos = new AtomicLong();
        ConcurrentLinkedQueue<UUID> more = new ConcurrentLinkedQueue<>();
        RecordingSink sink = new RecordingSink();
        try (Relay relay = database.postroom()
                .relay()
                .deliver(Subscription.named("all").lanes(3).build(), sink)
                .build()) {
            relay.start();
            await(() -> sink.accepted().size() == published.size());
            List<Future<?>> writers = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                writers.add(threads.submit(() -> {
                    while (!stop.get()) {
                        Message message = Messages.sample();
                        long began = System.nanoTime();
                        try (Connection tx = database.begin()) {
                            database.postroom().outbox().publish(tx, message);
                            tx.commit();
                        }
                        longestNanos.accumulateAndGet(System.nanoTime() - began, Math::max);
                        more.add(message.id());
                    }
                    return null;
                }));
            }
            await(() -> more.size() > 50);
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
            while (archive.days(false).size() < 3 && System.nanoTime() < deadline) {
                assertThat(archive.run(WEEK))
                        .extracting(ArchiveStep::outcome)
                        // Needed, as long as the relay has not written its positions.
                        .isSubsetOf(
                                ArchiveStep.Outcome.ARCHIVED,
                                ArchiveStep.Outcome.LOCKED,
                                ArchiveStep.Outcome.BUSY,
                                ArchiveStep.Outcome.NEEDED);
            }
            int then = more.size();
            await(() -> more.size() > then + 50);
            stop.set(true);
            for (Future<?> writer : writers) {
                writer.get(30, TimeUnit.SECONDS);
            }
            assertThat(archive.days(false)).hasSize(3);
            await(() -> sink.accepted().size() >= published.size() + more.size());
        } finally {
            stop.set(true);
            threads.shutdownNow();
        }
        assertThat(sink.accepted().stream().map(Message::id))
                .containsExactlyInAnyOrderElementsOf(
                        Stream.concat(published.stream().map(Message::id), more.stream())
                                .toList());
        assertThat(Duration.ofNanos(longestNanos.get()))
                .as("the longest that a publishing transaction took")
                .isLessThan(Duration.ofSeconds(5));
    }

    /** It is not waited for: others go on within the time of a lock's wait, the day stays whole, and it is said once. */
    @Test
    void aTransactionThatStaysOpenIsNotWaitedForAndSaidOnce() throws Exception {
        try (CapturedLog log = new CapturedLog();
                Connection open = database.begin();
                Maintenance maintenance = database.postroom().maintenance(Retention.USUAL)) {
            database.postroom().outbox().publish(open, Messages.sample());
            ExecutorService other = Executors.newSingleThreadExecutor();
            try {
                Future<?> rounds = other.submit(() -> {
                    maintenance.runOnce();
                    maintenance.runOnce();
                });
                long longest = 0;
                while (!rounds.isDone()) {
                    long began = System.nanoTime();
                    days.publish(List.of(Messages.sample()));
                    longest = Math.max(longest, System.nanoTime() - began);
                }
                rounds.get();
                assertThat(Duration.ofNanos(longest)).isLessThan(Duration.ofSeconds(3));
            } finally {
                other.shutdownNow();
            }
            assertThat(archive.days(false)).isEmpty();
            assertThat(log.text().lines())
                    .filteredOn(line -> line.contains("could not archive day " + days.day(10)))
                    .singleElement()
                    .asString()
                    .contains("somebody holds a lock on the outbox");
            open.rollback();
            maintenance.runOnce();
        }
        assertThat(archive.days(false)).hasSize(3);
    }

    private static void await(BooleanSupplier condition) {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).as("in time").isLessThan(deadline);
            LockSupport.parkNanos(1_000_000);
        }
    }
}
