package io.postroom.journal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.postroom.Postroom;
import io.postroom.message.Message;
import io.postroom.postgres.Database;
import io.postroom.postgres.Schema;
import io.postroom.telemetry.Telemetry;
import io.postroom.testkit.Messages;
import io.postroom.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Reading by position. */
class JournalTest {
    static final long PLENTY = 1L << 30;

    static TestDatabase database;
    static Postroom postroom;

    Journal journal;

    /** Where the journal stood before the test. */
    LanePosition start;

    @BeforeAll
    static void create() {
        database = TestDatabase.create();
        postroom = database.postroom();
    }

    @AfterAll
    static void drop() {
        database.close();
    }

    @BeforeEach
    void begin() {
        journal = new Journal(postroom.database(), Telemetry.NONE);
        journal.stampAll();
        start = journal.locate(journal.refreshHead().position());
    }

    @Test
    void readsInOrderWithinTheBoundOfMessages() throws SQLException {
        List<Message> published = publish(Messages.sequence("a", 25));
        journal.stampAll();
        LanePosition from = start;
        List<Message> read = new ArrayList<>();
        List<Integer> sizes = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            Batch batch = journal.read(whole(), from, 10, PLENTY);
            batch.items().forEach(item -> read.add(item.message()));
            sizes.add(batch.items().size());
            from = batch.next();
        }
        assertThat(sizes).containsExactly(10, 10, 5);
        assertThat(read).isEqualTo(published);
        assertThat(from.position()).isEqualTo(journal.head().position());
        assertThat(journal.read(whole(), from, 10, PLENTY).items()).isEmpty();
    }

    @Test
    void positionsAreDenseAndTheSameInEveryRead() throws SQLException {
        publish(Messages.sequence("a", 50));
        journal.stampAll();
        List<Long> once = positions(journal.read(whole(), start, 100, PLENTY));
        assertThat(once)
                .isEqualTo(LongStream.rangeClosed(start.position() + 1, start.position() + 50)
                        .boxed()
                        .toList());
        assertThat(positions(journal.read(whole(), start, 100, PLENTY))).isEqualTo(once);
    }

    @Test
    void theBoundOfBytesCutsABatchButNeverTheFirstMessage() throws SQLException {
        String large = "\"" + "x".repeat(10_000) + "\"";
        String small = "{}";
        publish(List.of(
                Messages.order("a", large),
                Messages.order("a", small),
                Messages.order("a", small),
                Messages.order("a", large)));
        journal.stampAll();
        Batch first = journal.read(whole(), start, 100, 100);
        assertThat(first.items()).hasSize(1);
        assertThat(first.items().get(0).message().payload()).isEqualTo(large);
        Batch second = journal.read(whole(), first.next(), 100, 5_000);
        assertThat(second.items()).hasSize(2);
        assertThat(journal.read(whole(), second.next(), 100, 5_000).items()).hasSize(1);
    }

    /** The size is what a reader takes into memory, so a payload that compresses well counts in full. */
    @Test
    void bytesAreThoseOfThePayloadNotOfItsStorage() throws SQLException {
        publish(List.of(
                Messages.order("a", "\"" + "x".repeat(500_000) + "\""),
                Messages.order("a", "\"y\""),
                Messages.order("a", Messages.awkwardPayloads().get("1 MB"))));
        journal.stampAll();
        List<Batch.Item> items = journal.read(whole(), start, 100, PLENTY).items();
        assertThat(items.get(0).bytes()).isBetween(500_000, 500_100);
        assertThat(items.get(1).bytes()).isLessThan(100);
        assertThat(items.get(2).bytes()).isBetween(1_000_000, 1_100_000);
    }

    @Test
    void everyMessageIsInOneLaneAndAKeyStaysInItsOwn() throws SQLException {
        List<Message> messages = new ArrayList<>();
        for (int round = 0; round < 3; round++) {
            for (int key = 0; key < 60; key++) {
                messages.add(Message.about("order", "k" + key)
                        .tenantId(key % 2 == 0 ? null : "t")
                        .event("E")
                        .payload("{}")
                        .build());
            }
        }
        publish(messages);
        journal.stampAll();
        for (int lanes : new int[] {1, 2, 7, 256}) {
            Map<Message.Key, Integer> laneOf = new HashMap<>();
            List<Long> seen = new ArrayList<>();
            Set<Integer> used = new java.util.TreeSet<>();
            for (int lane = 0; lane < lanes; lane++) {
                for (Batch.Item item : journal.read(new Journal.Lane(lane, lanes, Filter.ALL), start, 1_000, PLENTY)
                        .items()) {
                    Integer before = laneOf.put(item.message().key(), lane);
                    assertThat(before == null || before == lane).isTrue();
                    seen.add(item.position());
                    used.add(lane);
                }
            }
            assertThat(seen).hasSize(180).doesNotHaveDuplicates();
            assertThat(used).as("lanes used of %d", lanes).hasSizeGreaterThanOrEqualTo(Math.min(lanes, 7));
        }
    }

    @Test
    void aKeysPartsAreNotConfusedWithEachOther() {
        assertThat(database.queryLong("""
                select count(distinct postroom.key_hash(t, a, i))
                from (values (null, 'ab', 'c'), (null, 'a', 'bc'), ('a', 'b', 'c'), ('ab', 'c', ''), (null, 'c', 'ab'), ('c', 'ab', 'x'))
                    as k (t, a, i)""")).isEqualTo(6);
    }

    @Test
    void aFilterLeavesOutTheRestAndPassesIt() throws SQLException {
        publish(List.of(
                message("order", "Placed", null),
                message("order", "Paid", "t1"),
                message("case", "Placed", "t1"),
                message("case", "Closed", "t2"),
                message("order", "Placed", "t2")));
        journal.stampAll();
        assertThat(read(new Filter(Set.of("order"), Set.of(), Set.of()))).containsExactly(1, 2, 5);
        assertThat(read(new Filter(Set.of(), Set.of("Placed"), Set.of()))).containsExactly(1, 3, 5);
        assertThat(read(new Filter(Set.of(), Set.of(), Set.of("t1", "t2")))).containsExactly(2, 3, 4, 5);
        assertThat(read(new Filter(Set.of("case"), Set.of("Placed"), Set.of("t1"))))
                .containsExactly(3);
        assertThat(read(new Filter(Set.of("none"), Set.of(), Set.of()))).isEmpty();
        Batch none = journal.read(
                new Journal.Lane(0, 1, new Filter(Set.of("none"), Set.of(), Set.of())), start, 100, PLENTY);
        assertThat(none.next().position()).isEqualTo(start.position() + 5);
    }

    @Test
    void aScheduledMessageSaysHowEarlyItIs() throws SQLException {
        Instant now = Instant.now().truncatedTo(ChronoUnit.MICROS);
        publish(List.of(
                scheduled(now.plusSeconds(3_600)), scheduled(now.minusSeconds(10)),
                scheduled(Instant.parse("9999-12-31T23:59:59.999999Z")), Messages.sample()));
        journal.stampAll();
        List<Batch.Item> items = journal.read(whole(), start, 100, PLENTY).items();
        assertThat(items.get(0).early()).isBetween(Duration.ofMinutes(55), Duration.ofMinutes(61));
        assertThat(items.get(1).early()).isZero();
        assertThat(items.get(2).early()).isGreaterThan(Duration.ofDays(365_000));
        assertThat(items.get(3).early()).isZero();
        assertThat(items.get(0).message().availableAt()).isEqualTo(now.plusSeconds(3_600));
    }

    @Test
    void readsNothingBeyondTheLastStampItHeardOf() throws SQLException {
        publish(Messages.sequence("a", 3));
        assertThat(journal.read(whole(), start, 100, PLENTY).items()).isEmpty();
        Journal other = new Journal(postroom.database(), Telemetry.NONE);
        other.stampAll();
        assertThat(journal.read(whole(), start, 100, PLENTY).items()).isEmpty();
        journal.refreshHead();
        assertThat(journal.read(whole(), start, 100, PLENTY).items()).hasSize(3);
    }

    /** A backlog of days, read in many steps by lanes that find less than they look for: no day may be passed over. */
    @Test
    void aBacklogOfManyDaysIsReadToItsEnd() throws SQLException {
        int days = 3;
        long before = start.position();
        for (int ago = days; ago >= 0; ago--) {
            publish(IntStream.range(0, 200)
                    .mapToObj(n -> Messages.order("k" + n))
                    .toList());
            journal.stampAll();
        }
        moveBack(before, days);
        LanePosition from = journal.locate(before);
        for (int lanes : new int[] {1, 2, 4}) {
            List<Long> seen = new ArrayList<>();
            for (int lane = 0; lane < lanes; lane++) {
                LanePosition at = from;
                while (at.position() < journal.head().position()) {
                    Batch batch = journal.read(new Journal.Lane(lane, lanes, Filter.ALL), at, 20, PLENTY);
                    seen.addAll(positions(batch));
                    assertThat(batch.next().position()).isGreaterThan(at.position());
                    at = batch.next();
                }
            }
            assertThat(seen)
                    .as("positions read by %d lanes", lanes)
                    .hasSize(200 * (days + 1))
                    .doesNotHaveDuplicates();
        }
    }

    /** Spreads the entries after a position over the days before today, the last 200 being today's. */
    private static void moveBack(long after, int days) {
        LocalDate today = LocalDate.now(ZoneOffset.UTC);
        for (int ago = days; ago > 1; ago--) {
            LocalDate day = today.minusDays(ago);
            database.execute(
                    "create table postroom.journal_%s partition of postroom.journal for values from ('%s') to ('%s')"
                            .formatted(day.format(DateTimeFormatter.BASIC_ISO_DATE), day, day.plusDays(1)));
        }
        database.execute(
                "update postroom.journal set day = day - (%1$d - (position - %2$d - 1) / 200)::int where position > %2$d and position <= %2$d + 200 * %1$d"
                        .formatted(days, after),
                "update postroom.tick set day = day - (%1$d - (position - %2$d - 1) / 200)::int where position > %2$d and position <= %2$d + 200 * %1$d"
                        .formatted(days, after),
                "update postroom.tick set day = day - %1$d where position <= %2$d".formatted(days, after),
                "update postroom.journal set day = day - %1$d where position <= %2$d".formatted(days, after));
    }

    @Test
    void findsThePositionAtATime() throws SQLException {
        publish(Messages.sequence("a", 4));
        journal.stampAll();
        long first = journal.head().position();
        Instant between = instant("select extract(epoch from clock_timestamp()) * 1000000");
        publish(Messages.sequence("a", 4));
        journal.stampAll();
        assertThat(journal.positionAt(between)).isEqualTo(first);
        assertThat(journal.positionAt(Instant.parse("2000-01-01T00:00:00Z"))).isZero();
        assertThat(journal.positionAt(Instant.parse("2999-01-01T00:00:00Z"))).isEqualTo(first + 4);
    }

    @Test
    void aRowOfAnotherClusterIsNoticedAndEverythingGetsAPositionOnce() throws SQLException {
        AtomicLong restamped = new AtomicLong(-1);
        publish(Messages.sequence("before", 3));
        journal.stampAll();
        publish(Messages.sequence("unstamped", 2));
        database.execute("update postroom.cluster set system_identifier = system_identifier + 1");
        // A session asks for the cluster once: no session outlives its cluster.
        try (HikariDataSource sessions = TestDatabase.pool(database.url(), 2)) {
            Journal told = new Journal(new Database(sessions, Schema.POSTROOM), new Telemetry() {
                @Override
                public void restamped(long messages) {
                    restamped.set(messages);
                }
            });
            assertThat(told.stamp().messages()).isEqualTo(2);
            assertThat(restamped).hasValue(2);
            assertThat(told.stamp().messages()).isZero();
            publish(Messages.sequence("after", 4));
            assertThat(told.stamp().messages()).isEqualTo(4);
        }
        journal.refreshHead();
        assertThat(positions(journal.read(whole(), start, 100, PLENTY)))
                .isEqualTo(LongStream.rangeClosed(start.position() + 1, start.position() + 9)
                        .boxed()
                        .toList());
    }

    @Test
    void tellsHowManyWereStamped() throws SQLException {
        AtomicLong stamped = new AtomicLong();
        AtomicInteger calls = new AtomicInteger();
        Journal told = new Journal(postroom.database(), new Telemetry() {
            @Override
            public void stamped(long messages, Duration took) {
                stamped.addAndGet(messages);
                calls.incrementAndGet();
            }
        });
        publish(Messages.sequence("a", 6));
        told.stampAll();
        told.stampAll();
        assertThat(stamped).hasValue(6);
        assertThat(calls).hasValue(1);
        assertThat(told.head().position()).isEqualTo(start.position() + 6);
    }

    @Test
    void nudgesReachEveryListener() {
        AtomicInteger heard = new AtomicInteger();
        journal.onNudge(heard::incrementAndGet);
        journal.onNudge(heard::incrementAndGet);
        journal.nudge();
        assertThat(heard).hasValue(2);
    }

    @Test
    void refusesALaneThatIsNotThere() {
        for (int[] bad : new int[][] {{-1, 1}, {1, 1}, {5, 4}, {0, 0}}) {
            assertThatThrownBy(() -> new Journal.Lane(bad[0], bad[1], Filter.ALL))
                    .extracting("code")
                    .isEqualTo("lane.invalid");
        }
    }

    private static Journal.Lane whole() {
        return new Journal.Lane(0, 1, Filter.ALL);
    }

    private static List<Message> publish(List<Message> messages) throws SQLException {
        try (Connection tx = database.begin()) {
            postroom.outbox().publishAll(tx, messages);
            tx.commit();
            return messages;
        }
    }

    private static Message message(String type, String event, String tenant) {
        return Message.about(type, "x")
                .tenantId(tenant)
                .event(event)
                .payload("{}")
                .build();
    }

    private static Message scheduled(Instant at) {
        return Message.about("order", "x")
                .event("E")
                .payload("{}")
                .availableAt(at)
                .build();
    }

    /** The positions read through a filter, counted from this test's start. */
    private List<Integer> read(Filter filter) {
        return positions(journal.read(new Journal.Lane(0, 1, filter), start, 100, PLENTY)).stream()
                .map(position -> (int) (position - start.position()))
                .toList();
    }

    private static List<Long> positions(Batch batch) {
        return batch.items().stream().map(item -> item.position()).toList();
    }

    private static Instant instant(String sql) {
        return Instant.EPOCH.plus(database.queryLong(sql), ChronoUnit.MICROS);
    }
}
