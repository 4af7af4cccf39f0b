package io.postroom.journal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postroom.message.Message;
import io.postroom.outbox.Outbox;
import io.postroom.postgres.DatabaseException;
import io.postroom.testkit.Messages;
import io.postroom.testkit.TestDatabase;
import io.postroom.testkit.TestPostgres;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The function stamp: every committed message once, densely, in an order that keeps each aggregate's own. */
class StampTest {
    static final int MANY = 1_000;

    static TestDatabase database;
    static Outbox outbox;
    static JournalTable table;

    /** Where the journal stood before the test. */
    long start;

    @BeforeAll
    static void create() {
        database = TestDatabase.create();
        outbox = database.postroom().outbox();
        table = new JournalTable(database.postroom().database().schema());
    }

    @AfterAll
    static void drop() {
        database.close();
    }

    @BeforeEach
    void begin() {
        stampAll();
        start = database.queryLong("select max(position) from postroom.tick");
    }

    /** Whatever a test did: all that is committed is stamped, once, with no gap. */
    @AfterEach
    void everyCommittedMessageHasOnePositionAndThereIsNoGap() throws SQLException {
        stampAll();
        assertThat(database.queryLong("select count(*) from postroom.outbox"))
                .isEqualTo(database.queryLong("select count(*) from postroom.journal"))
                .isEqualTo(database.queryLong("select count(distinct seq) from postroom.journal"))
                .isEqualTo(database.queryLong("select max(position) from postroom.journal"))
                .isEqualTo(database.queryLong("select count(distinct position) from postroom.journal"))
                .isEqualTo(database.queryLong("select max(position) from postroom.tick"));
        assertThat(database.queryLong("""
                select count(*) from (
                    select position, pg_snapshot_xmax(snapshot) as xmax, xid, seq, day, at, lag(pg_snapshot_xmax(snapshot)) over w as xmax_before,
                           lag(xid) over w as xid_before, lag(seq) over w as seq_before, lag(day) over w as day_before, lag(at) over w as at_before
                    from postroom.tick window w as (order by position)
                ) as t where xmax < xmax_before or xid <= xid_before or seq < seq_before or day < day_before or at < at_before""")).as("ticks that go back").isZero();
    }

    @Test
    void findsNothingWhenThereIsNothing() throws SQLException {
        long ticks = database.queryLong("select count(*) from postroom.tick");
        Stamp stamp = stamp(MANY);
        assertThat(stamp.state()).isEqualTo(Stamp.State.IDLE);
        assertThat(stamp.stamped()).isZero();
        assertThat(database.queryLong("select count(*) from postroom.tick")).isEqualTo(ticks);
    }

    @Test
    void doesNotLookAgainUntilTheSnapshotMoves() throws SQLException {
        try (Connection connection = database.dataSource().getConnection()) {
            Stamp first = table.stamp(connection, MANY, "");
            Stamp second = table.stamp(connection, MANY, first.lookedAt());
            assertThat(second.state()).isEqualTo(Stamp.State.IDLE);
            assertThat(second.lastPosition())
                    .as("not even the last tick was read")
                    .isZero();
            publish("a", 1);
            Stamp third = table.stamp(connection, MANY, second.lookedAt());
            assertThat(third.state()).isEqualTo(Stamp.State.STAMPED);
            assertThat(third.stamped()).isOne();
            assertThat(third.lastPosition()).isEqualTo(start + 1);
        }
    }

    @Test
    void aLateCommitComesAfterWhatWasCommittedBeforeIt() throws SQLException {
        try (Connection late = database.begin()) {
            outbox.publish(late, Messages.order("late"));
            publish("early", 2);
            assertThat(stamp(MANY).stamped()).isEqualTo(2);
            assertThat(stamp(MANY).state()).isEqualTo(Stamp.State.IDLE);
            late.commit();
        }
        assertThat(stamp(MANY).stamped()).isOne();
        assertThat(journal()).containsExactly("early 1", "early 2", "late null");
    }

    @Test
    void aLongTransactionDelaysOnlyItself() throws SQLException {
        try (Connection slow = database.begin()) {
            outbox.publish(slow, Messages.order("slow"));
            for (int i = 0; i < 20; i++) {
                publish("fast" + i, 1);
                assertThat(stamp(MANY).stamped()).isOne();
            }
            outbox.publish(slow, Messages.order("slow too"));
            slow.commit();
        }
        assertThat(stamp(MANY).stamped()).isEqualTo(2);
        assertThat(journal()).hasSize(22).endsWith("slow null", "slow too null");
    }

    @Test
    void anOpenTransactionInAnotherDatabaseDelaysNobody() throws SQLException {
        try (TestDatabase other = TestDatabase.empty(TestPostgres.shared())) {
            try (Connection open = other.begin();
                    Connection prepared = other.begin()) {
                execute(open, "select pg_current_xact_id()");
                execute(prepared, "create table t (i int)");
                execute(prepared, "prepare transaction 'forgotten'");
                prepared.commit();
                publish("a", 3);
                assertThat(stamp(MANY).stamped()).isEqualTo(3);
            }
            other.execute("rollback prepared 'forgotten'");
        }
    }

    /** The trap of ordering by xid: a transaction gets its xid early, waits for the aggregate, and writes last. */
    @ParameterizedTest
    @ValueSource(strings = {"", "between", "before", "before between"})
    void anEarlyXidDoesNotOvertake(String stamps) throws SQLException {
        try (Connection early = database.begin();
                Connection quick = database.begin()) {
            execute(early, "select pg_current_xact_id()");
            if (stamps.contains("before")) {
                publish("other", 1);
                stamp(MANY);
            }
            outbox.publish(quick, version("a", 1));
            quick.commit();
            if (stamps.contains("between")) {
                stamp(MANY);
            }
            outbox.publish(early, version("a", 2));
            early.commit();
        }
        publish("a", 3, 3);
        stamp(MANY);
        assertThat(journal().stream().filter(line -> line.startsWith("a "))).containsExactly("a 1", "a 2", "a 3");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void writersOfOneKeyThatDoNotExcludeEachOtherComeInEitherOrder(boolean stampBetween) throws SQLException {
        try (Connection first = database.begin();
                Connection second = database.begin()) {
            outbox.publish(first, version("a", 1));
            outbox.publish(second, version("a", 2));
            second.commit();
            if (stampBetween) {
                stamp(MANY);
            }
            first.commit();
        }
        stamp(MANY);
        // The second one committed first: only a stamp in between could see that.
        assertThat(journal()).containsExactlyElementsOf(stampBetween ? List.of("a 2", "a 1") : List.of("a 1", "a 2"));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void writersOfOneKeyThatLockItsRowComeInTheOrderOfTheirCommits(boolean stampBetween) throws Exception {
        database.execute(
                "create table if not exists account (id text primary key)",
                "insert into account values ('a') on conflict do nothing");
        try (Connection first = database.begin();
                Connection second = database.begin()) {
            // It has its xid first, and comes to the row last.
            execute(second, "select pg_current_xact_id()");
            execute(first, "select from account where id = 'a' for update");
            outbox.publish(first, version("a", 1));
            CompletableFuture<Void> waiting = CompletableFuture.runAsync(() -> {
                try {
                    execute(second, "select from account where id = 'a' for update");
                    outbox.publish(second, version("a", 2));
                    second.commit();
                } catch (SQLException e) {
                    throw new IllegalStateException(e);
                }
            });
            if (stampBetween) {
                stamp(MANY);
            }
            first.commit();
            waiting.get(20, TimeUnit.SECONDS);
        }
        stamp(MANY);
        assertThat(journal()).containsExactly("a 1", "a 2");
    }

    @Test
    void whatASavepointKeptIsStampedOnceAndWhatItLostNever() throws SQLException {
        try (Connection tx = database.begin()) {
            outbox.publish(tx, version("a", 1));
            Savepoint kept = tx.setSavepoint();
            outbox.publish(tx, version("a", 2));
            tx.releaseSavepoint(kept);
            Savepoint lost = tx.setSavepoint();
            outbox.publish(tx, version("a", 99));
            stamp(MANY);
            tx.rollback(lost);
            Savepoint nested = tx.setSavepoint();
            outbox.publish(tx, version("a", 3));
            Savepoint deeper = tx.setSavepoint();
            outbox.publish(tx, version("a", 4));
            tx.releaseSavepoint(deeper);
            tx.releaseSavepoint(nested);
            publish("b", 1);
            assertThat(stamp(MANY).stamped()).isOne();
            tx.commit();
        }
        assertThat(stamp(MANY).stamped()).isEqualTo(4);
        assertThat(journal()).containsExactly("b 1", "a 1", "a 2", "a 3", "a 4");
    }

    @ParameterizedTest
    @CsvSource({"commit, 2", "rollback, 0"})
    void aPreparedTransactionIsStampedWhenItIsFinished(String end, int stamped) throws SQLException {
        try (Connection tx = database.begin()) {
            outbox.publishAll(tx, Messages.sequence("prepared", 2));
            execute(tx, "prepare transaction 'later'");
            tx.commit();
        }
        publish("a", 1);
        assertThat(stamp(MANY).stamped()).isOne();
        publish("a", 2, 2);
        assertThat(stamp(MANY).stamped()).isOne();
        database.execute(end + " prepared 'later'");
        assertThat(stamp(MANY).stamped()).isEqualTo(stamped);
        assertThat(stamp(MANY).stamped()).isZero();
    }

    @Test
    void rollbacksLeaveNoGapInThePositions() throws SQLException {
        for (int i = 0; i < 10; i++) {
            try (Connection tx = database.begin()) {
                outbox.publish(tx, version("a", i + 1));
                if (i % 2 == 0) {
                    tx.rollback();
                } else {
                    tx.commit();
                }
            }
        }
        stamp(MANY);
        assertThat(journal()).containsExactly("a 2", "a 4", "a 6", "a 8", "a 10");
    }

    @Test
    void aBulkIsStampedInSlicesInTheOrderOfSeq() throws SQLException {
        publish("a", 1, 95);
        List<Stamp> steps = new ArrayList<>();
        do {
            steps.add(stamp(10));
        } while (steps.get(steps.size() - 1).state() == Stamp.State.MORE);
        assertThat(steps)
                .extracting(Stamp::stamped)
                .containsExactly(10L, 10L, 10L, 10L, 10L, 10L, 10L, 10L, 10L, 5L, 0L);
        assertThat(steps).last().extracting(Stamp::state).isEqualTo(Stamp.State.IDLE);
        assertThat(steps.get(3).lastPosition()).isEqualTo(start + 40);
        assertThat(journal()).isEqualTo(versions("a", 1, 95));
    }

    @Test
    void aBulkThatIsAMultipleOfTheBatchEndsToo() throws SQLException {
        publish("a", 1, 30);
        assertThat(stamp(10).stamped()).isEqualTo(10);
        assertThat(stamp(10).stamped()).isEqualTo(10);
        assertThat(stamp(10).stamped()).isEqualTo(10);
        assertThat(database.queryLong("select count(*) from postroom.tick where target is not null"))
                .isPositive();
        assertThat(stamp(10).state()).isEqualTo(Stamp.State.MORE);
        assertThat(stamp(10).state()).isEqualTo(Stamp.State.IDLE);
        publish("a", 31, 31);
        assertThat(stamp(10).stamped()).isOne();
        assertThat(journal()).isEqualTo(versions("a", 1, 31));
    }

    @Test
    void exactlyOneBatchIsNoBulk() throws SQLException {
        publish("a", 1, 10);
        assertThat(stamp(10).state()).isEqualTo(Stamp.State.STAMPED);
        assertThat(stamp(10).state()).isEqualTo(Stamp.State.IDLE);
    }

    /** What commits while a bulk is worked off, late or new, comes after it; nothing of it is forgotten. */
    @Test
    void aBulkIsContinuedOnAnotherConnectionWhileOthersCommit() throws SQLException {
        try (Connection late = database.begin();
                Connection later = database.begin()) {
            outbox.publish(late, version("late", 1));
            outbox.publish(later, version("later", 1));
            publish("a", 1, 25);
            outbox.publish(late, version("late", 2));
            assertThat(stamp(10).state()).isEqualTo(Stamp.State.MORE);
            publish("a", 26, 30);
            late.commit();
            try (Connection other = database.dataSource().getConnection()) {
                assertThat(table.stamp(other, 10, "").stamped()).isEqualTo(10);
            }
            publish("a", 31, 31);
            assertThat(stamp(10).stamped()).isEqualTo(5);
            assertThat(stamp(10).stamped()).as("5 of a, 2 of late, 1 of a").isEqualTo(8);
            assertThat(stamp(10).state()).isEqualTo(Stamp.State.IDLE);
            outbox.publish(later, version("later", 2));
            later.commit();
            assertThat(stamp(10).stamped()).isEqualTo(2);
        }
        List<String> journal = journal();
        assertThat(journal.subList(0, 25)).isEqualTo(versions("a", 1, 25));
        assertThat(journal.stream().filter(line -> line.startsWith("a ")))
                .containsExactlyElementsOf(versions("a", 1, 31));
        assertThat(journal.stream().filter(line -> line.startsWith("late "))).containsExactly("late 1", "late 2");
        assertThat(journal).endsWith("later 1", "later 2");
    }

    @Test
    void anotherBulkMayFollowABulkWithALongTransactionOpenThroughBoth() throws SQLException {
        try (Connection open = database.begin()) {
            outbox.publish(open, version("open", 1));
            publish("a", 1, 40);
            stampAll(7);
            publish("a", 41, 80);
            stampAll(9);
            outbox.publish(open, version("open", 2));
            publish("a", 81, 100);
            open.commit();
        }
        stampAll(6);
        List<String> journal = journal();
        assertThat(journal.stream().filter(line -> line.startsWith("a ")))
                .containsExactlyElementsOf(versions("a", 1, 100));
        assertThat(journal.stream().filter(line -> line.startsWith("open "))).containsExactly("open 1", "open 2");
        assertThat(journal).hasSize(102);
    }

    @Test
    void aSecondStamperIsToldThatItIsBusyAndDoesNotWait() throws SQLException {
        publish("a", 1, 3);
        try (Connection one = database.begin();
                Connection two = database.dataSource().getConnection()) {
            assertThat(table.stamp(one, MANY, "").stamped()).isEqualTo(3);
            Stamp busy = table.stamp(two, MANY, "");
            assertThat(busy.state()).isEqualTo(Stamp.State.BUSY);
            assertThat(busy.stamped()).isZero();
            assertThat(busy.lastPosition()).as("what is committed so far").isEqualTo(start);
            one.rollback();
            assertThat(table.stamp(two, MANY, "").stamped())
                    .as("a stamper that died left nothing")
                    .isEqualTo(3);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {Connection.TRANSACTION_REPEATABLE_READ, Connection.TRANSACTION_SERIALIZABLE})
    void refusesAnIsolationThatDoesNotSeeTheLatest(int isolation) throws SQLException {
        publish("a", 1);
        try (Connection tx = database.begin()) {
            tx.setTransactionIsolation(isolation);
            assertThatThrownBy(() -> table.stamp(tx, MANY, ""))
                    .isInstanceOfSatisfying(
                            DatabaseException.class,
                            e -> assertThat(e.sqlState()).isEqualTo("25001"))
                    .hasMessageContaining("read committed");
            tx.rollback();
            tx.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
        }
    }

    /** A server whose clock ran days ahead, and was put right before anybody stamped. */
    @Test
    void aRowWrittenByAClockThatRanAheadIsStamped() throws SQLException {
        database.execute("insert into postroom.outbox (day, id, aggregate_type, aggregate_id, event_type, payload)"
                + " values (current_date + 5, gen_random_uuid(), 'order', 'ahead', 'X', '{}')");
        long before = database.queryLong("select count(*) from postroom.journal");
        stampAll();
        assertThat(database.queryLong("select count(*) from postroom.journal") - before)
                .isEqualTo(1);
    }

    /** A stamp made while the clock ran days ahead does not hide what is written once it was put right. */
    @Test
    void aTickFromAClockThatRanAheadHidesNothing() {
        try (TestDatabase wrong = TestDatabase.create()) {
            for (int i = 0; i < 3; i++) {
                wrong.execute(
                        "select postroom.publish('order', '1', 'Placed', '{}')",
                        "select * from postroom.stamp(10, '')");
                wrong.execute("update postroom.tick set at = now() + interval '3 days'");
            }
            assertThat(wrong.queryLong("select count(*) from postroom.journal")).isEqualTo(3);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"0", "-1", "null", "1000001"})
    void refusesABatchThatStampsNothingOrTooMuch(String batchMax) {
        assertThatThrownBy(() -> database.queryLong("select stamped from postroom.stamp(" + batchMax + ", '')"))
                .hasRootCauseInstanceOf(SQLException.class)
                .rootCause()
                .hasMessageContaining("could not stamp: batch_max is " + batchMax + ", the range is 1 to 1000000");
    }

    @Test
    void refusesATransactionThatHasWritten() throws SQLException {
        try (Connection tx = database.begin()) {
            outbox.publish(tx, version("own", 1));
            assertThatThrownBy(() -> execute(tx, "select * from postroom.stamp(10, '')"))
                    .hasMessageContaining("this transaction has written already");
            tx.rollback();
        }
    }

    @Test
    void aTransactionOfManyStatementsKeepsItsOwnOrder() throws SQLException {
        try (Connection tx = database.begin();
                Connection other = database.begin()) {
            outbox.publish(tx, version("a", 1));
            outbox.publishAll(tx, List.of(version("a", 2), version("b", 1), version("a", 3)));
            outbox.publish(other, version("c", 1));
            execute(tx, "select postroom.publish('order', 'a', 'OrderChanged', '{}', aggregate_version => 4)");
            other.commit();
            outbox.publish(tx, version("a", 5));
            tx.commit();
        }
        stamp(MANY);
        assertThat(journal()).containsExactly("a 1", "a 2", "b 1", "a 3", "c 1", "a 4", "a 5");
    }

    private static Stamp stamp(int max) throws SQLException {
        try (Connection connection = database.dataSource().getConnection()) {
            return table.stamp(connection, max, "");
        }
    }

    private static void stampAll() {
        database.postroom().journal().stampAll();
    }

    private static void stampAll(int max) throws SQLException {
        Stamp stamp;
        do {
            stamp = stamp(max);
        } while (stamp.state() == Stamp.State.MORE);
    }

    private static Message version(String aggregateId, long version) {
        return Message.about("order", aggregateId)
                .event("OrderChanged")
                .aggregateVersion(version)
                .payload("{}")
                .build();
    }

    /** One transaction for all. */
    private static void publish(String aggregateId, int first, int last) throws SQLException {
        try (Connection tx = database.begin()) {
            for (int i = first; i <= last; i++) {
                outbox.publish(tx, version(aggregateId, i));
            }
            tx.commit();
        }
    }

    private static void publish(String aggregateId, int count) throws SQLException {
        publish(aggregateId, 1, count);
    }

    private static List<String> versions(String aggregateId, int first, int last) {
        List<String> lines = new ArrayList<>();
        for (int i = first; i <= last; i++) {
            lines.add(aggregateId + " " + i);
        }
        return lines;
    }

    /** What this test has stamped, in order: aggregate id and version. */
    private List<String> journal() throws SQLException {
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("""
                        select o.aggregate_id || ' ' || coalesce(o.aggregate_version::text, 'null')
                        from postroom.journal as j join postroom.outbox as o on o.seq = j.seq and o.day = j.outbox_day
                        where j.position > %d order by j.position""".formatted(start))) {
            List<String> lines = new ArrayList<>();
            while (rows.next()) {
                lines.add(rows.getString(1));
            }
            return lines;
        }
    }

    private static void execute(Connection tx, String sql) throws SQLException {
        try (Statement statement = tx.createStatement()) {
            statement.execute(sql);
        }
    }
}
