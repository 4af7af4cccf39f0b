package io.postroom.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postroom.message.Envelope;
import io.postroom.relay.Outcome;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Processes that end where they are told to, and not before. */
class CrashPointTest {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Envelope ENVELOPE = Messages.firstAttempt(Messages.sample());

    private static TestDatabase database;

    @TempDir
    Path directory;

    @BeforeAll
    static void create() {
        database = TestDatabase.empty(TestPostgres.shared());
        database.execute("create table crash (row int not null primary key)");
    }

    @AfterAll
    static void drop() {
        database.close();
    }

    @BeforeEach
    void clear() {
        database.execute("truncate crash");
    }

    @Test
    void somethingElseMayBreakInTheProcessThatRunsTheTests() {
        AtomicInteger acts = new AtomicInteger();
        CrashPoint second = CrashPoint.act("second", 2, acts::incrementAndGet);
        second.reach();
        assertThat(acts).hasValue(0);
        second.reach();
        second.reach();
        assertThat(acts).hasValue(1);
        assertThat(second.times()).isEqualTo(3);
    }

    @Test
    void aProcessDiesBeforeAStatement() throws Exception {
        dies("before", database.url());
        assertThat(rows()).isEqualTo(1);
    }

    @Test
    void aProcessDiesAfterAStatementAndBeforeItsCommit() throws Exception {
        dies("after", database.url());
        assertThat(rows()).as("what was not committed is gone").isEqualTo(1);
    }

    @Test
    void aProcessDiesRightAfterACommit() throws Exception {
        dies("committed", database.url());
        assertThat(rows()).isEqualTo(2);
    }

    @Test
    void aProcessDiesRightAfterAStatementThatIsATransactionOfItsOwn() throws Exception {
        dies("alone", database.url());
        assertThat(rows()).isEqualTo(2);
    }

    @Test
    void aProcessDiesBeforeAnEffectOrBetweenItAndTheAnswer() throws Exception {
        Path before = directory.resolve("before");
        dies("sink before", before.toString());
        assertThat(Files.readAllLines(before)).containsExactly("order-1");
        Path after = directory.resolve("after");
        dies("sink after", after.toString());
        assertThat(Files.readAllLines(after)).containsExactly("order-1", "order-2");
    }

    @Test
    void aProcessStandsStillInTheMiddleOfATransactionUntilItIsThawed() throws Exception {
        try (ChildJvm child = ChildJvm.start(CrashMain.class, List.of("-Xmx64m"), "freeze", database.url())) {
            child.awaitLine(CrashPoint.lineOf("freeze"), PATIENCE);
            awaitState(child, "T");
            assertThat(database.queryLong("select count(*) from pg_stat_activity where datname = current_database()"
                            + " and state = 'idle in transaction'"))
                    .isEqualTo(1);
            assertThat(rows()).isEqualTo(1);
            child.thaw();
            child.awaitLine("the end", PATIENCE);
            assertThat(child.awaitExit(PATIENCE)).isZero();
            assertThat(rows()).isEqualTo(3);
        }
    }

    /** In this process, as the thread does not go on for whoever interrupts it; it dies with the JVM. */
    @Test
    void aThreadStandsStillForGoodWhileOthersGoOn() throws Exception {
        CrashPoint point = CrashPoint.hold("held", 2);
        point.reach();
        AtomicInteger gone = new AtomicInteger();
        Thread held = new Thread(() -> {
            point.reach();
            gone.incrementAndGet();
        });
        held.setDaemon(true);
        held.start();
        while (point.times() < 2 || held.getState() != Thread.State.WAITING) {
            LockSupport.parkNanos(1_000_000);
        }
        held.interrupt();
        point.reach();
        held.join(100);
        assertThat(held.isAlive()).isTrue();
        assertThat(gone).hasValue(0);
    }

    @Test
    void aPointIsReachedOnlyByWhatFitsAndOnlyIfItIsCommitted() throws SQLException {
        CrashPoint before = never();
        CrashPoint after = never();
        CrashPoint committed = never();
        CrashingDataSource crashing = new CrashingDataSource(database.dataSource())
                .before(sql -> sql.contains("insert"), before)
                .after(sql -> sql.contains("insert"), after)
                .committed(sql -> sql.contains("insert"), committed);
        try (Connection tx = crashing.getConnection()) {
            tx.setAutoCommit(false);
            run(tx, "select 1");
            tx.commit();
            assertThat(List.of(before.times(), after.times(), committed.times()))
                    .containsExactly(0, 0, 0);
            run(tx, "insert into crash values (1)");
            tx.rollback();
            tx.commit();
            assertThat(List.of(before.times(), after.times(), committed.times()))
                    .containsExactly(1, 1, 0);
            try (PreparedStatement insert = tx.prepareStatement("insert into crash values (?)")) {
                for (int row = 1; row <= 3; row++) {
                    insert.setInt(1, row);
                    insert.addBatch();
                }
                insert.executeBatch();
                assertThat(insert.getConnection()).isSameAs(tx);
            }
            try (Statement statement = tx.createStatement()) {
                statement.addBatch("insert into crash values (4)");
                statement.executeBatch();
                statement.executeBatch();
            }
            tx.setAutoCommit(true);
            assertThat(List.of(before.times(), after.times(), committed.times()))
                    .as("a transaction counts once, whatever it has run")
                    .containsExactly(3, 3, 1);
        }
        assertThat(rows()).isEqualTo(4);
    }

    @Test
    void aStatementThatIsATransactionOfItsOwnHasNoMomentBeforeItsCommit() throws SQLException {
        CrashingDataSource crashing = new CrashingDataSource(database.dataSource())
                .after(sql -> sql.contains("insert"), CrashPoint.kill("in between", 99));
        try (Connection tx = crashing.getConnection()) {
            assertThatThrownBy(() -> run(tx, "insert into crash values (1)"))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage(
                            "could not reach crash point in between (KILL at time 99): its statement is committed when it"
                                    + " returns; choose before or committed");
        }
        assertThat(rows()).isZero();
    }

    @Test
    void errorsOfTheDriverComeThroughAsTheyAre() throws SQLException {
        CrashingDataSource crashing = new CrashingDataSource(database.dataSource());
        try (Connection tx = crashing.getConnection()) {
            assertThatThrownBy(() -> run(tx, "select nonsense"))
                    .isInstanceOf(SQLException.class)
                    .hasMessageContaining("nonsense");
        }
    }

    @Test
    void aSinkReachesAPointAfterWhatItAcceptedOnly() {
        CrashPoint before = never();
        CrashPoint after = never();
        Outcome refused = Outcome.retry("no");
        RecordingSink recording = new RecordingSink().answer(message -> true, refused, 1);
        CrashingSink sink =
                new CrashingSink(recording).before(envelope -> true, before).after(envelope -> true, after);
        assertThat(sink.send(ENVELOPE).toCompletableFuture()).isCompletedWithValue(refused);
        assertThat(List.of(before.times(), after.times())).containsExactly(1, 0);
        assertThat(sink.send(ENVELOPE).toCompletableFuture()).isCompletedWithValue(Outcome.accepted());
        assertThat(List.of(before.times(), after.times())).containsExactly(2, 1);
        sink.flush();
        sink.close();
        assertThat(recording.flushes()).isEqualTo(1);
        assertThat(recording.closed()).isTrue();
    }

    @Test
    void thereIsNoTimeBeforeTheFirst() {
        assertThatThrownBy(() -> CrashPoint.kill("early", 0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("could not make crash point early: time is 0, the first is 1");
    }

    private static void dies(String what, String where) throws InterruptedException {
        try (ChildJvm child = ChildJvm.start(CrashMain.class, List.of("-Xmx64m"), what, where)) {
            assertThat(child.awaitExit(PATIENCE)).as(child::toString).isEqualTo(CrashPoint.EXIT_CODE);
            child.awaitLine(CrashPoint.lineOf(what), PATIENCE);
            assertThat(child.lines()).doesNotContain("the end");
        }
    }

    private static CrashPoint never() {
        return CrashPoint.kill("never", Integer.MAX_VALUE);
    }

    private static void run(Connection tx, String sql) throws SQLException {
        try (Statement statement = tx.createStatement()) {
            statement.execute(sql);
        }
    }

    private static long rows() {
        return database.queryLong("select count(*) from crash");
    }

    /** The state of a process as {@code ps} shows it; T is stopped. */
    private static void awaitState(ChildJvm child, String state) throws Exception {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (true) {
            Process ps = new ProcessBuilder("ps", "-o", "state=", "-p", Long.toString(child.pid())).start();
            String shown = new String(ps.getInputStream().readAllBytes(), StandardCharsets.US_ASCII).strip();
            if (shown.startsWith(state)) {
                return;
            }
            assertThat(System.nanoTime()).as("it is %s, not %s", shown, state).isLessThan(deadline);
            LockSupport.parkNanos(5_000_000);
        }
    }
}
