package io.postroom.job;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.postgres.Schema;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * Somebody holds a snapshot while thousands of jobs come and go: nothing of them can be cleaned away, and all of it lies in front of the
 * next job. Counted are the pages that a look reads, not the time it takes.
 */
class HeldSnapshotTest {
    private static final int GONE = 20_000;
    private static final int CLAIM = 2;

    /** To find a job, lock it and change it and its entries in the indexes, whatever lies before it. */
    private static final long PAGES_MAX = 80;

    private static final GateTable GATE = new GateTable(Schema.POSTROOM);
    private static final ReaperTable REAPER = new ReaperTable(Schema.POSTROOM);

    private static Workshop shop;
    private static Instant lastAt;
    private static Hand hand;
    /** Has ended its jobs, and long after their deadlines. */
    private static Hand late;

    private static Connection holder;
    private static final TreeMap<Integer, Long> CLAIMED = new TreeMap<>();

    @BeforeAll
    static void churn() throws SQLException {
        shop = new Workshop();
        shop.database.execute("alter table postroom.job set (autovacuum_enabled = off)");
        hand = new Hand(shop, "hand", Kind.of("work", job -> JobOutcome.done()));
        holder = shop.database.begin();
        holder.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
        try (Statement statement = holder.createStatement()) {
            statement.execute("select count(*) from postroom.job");
        }
        enqueue(GONE / 2);
        enqueue(GONE / 2);
        for (List<ClaimedJob> jobs = hand.claim(1_000); !jobs.isEmpty(); jobs = hand.claim(1_000)) {
            jobs.forEach(job -> CLAIMED.merge(job.priority(), job.turn(), Math::max));
            assertThat(hand.complete(jobs)).hasSize(jobs.size());
        }
        enqueue(10 * CLAIM);
        delay(GONE);
        for (GateTable.Promoted some = promote(null); some.jobs() > 0; some = promote(null)) {
            lastAt = some.lastAt();
        }
        delay(CLAIM);
        late = new Hand(shop, "late", Kind.of("work", job -> JobOutcome.done()));
        shop.database.execute(
                "insert into postroom.job (queue, kind, payload, state, worker, claimed_at, deadline_at)"
                        + " select 'late', 'work', '{}', 'running', '" + late.id()
                        + "', clock_timestamp(), clock_timestamp() - interval '1 h' from generate_series(1, " + GONE
                        + ")",
                "delete from postroom.job where queue = 'late'");
    }

    /** Jobs whose time comes at once. */
    private static void delay(int count) {
        shop.database.execute(
                "insert into postroom.job (queue, kind, payload, waits, run_at) select 'later', 'work', '{}', 'time',"
                        + " clock_timestamp() from generate_series(1, " + count + ")");
    }

    private static GateTable.Promoted promote(Instant since) {
        return shop.postroom.database().run(tx -> GATE.promote(tx, since, 5_000));
    }

    @AfterAll
    static void close() throws SQLException {
        holder.close();
        shop.close();
    }

    private static void enqueue(int count) {
        List<Job> jobs = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            jobs.add(Job.of("work", "{}").priority(100 + i % 2).build());
        }
        shop.enqueueAll(jobs);
    }

    @Test
    void aClaimPassesWhatWasClaimedBefore() throws SQLException {
        long whole;
        long onward;
        try (Connection tx = shop.database.begin()) {
            long before = pages(tx);
            assertThat(hand.claim(tx, CLAIM)).hasSize(CLAIM);
            whole = pages(tx) - before;
            tx.rollback();
        }
        try (Connection tx = shop.database.begin()) {
            long before = pages(tx);
            assertThat(hand.claimOnward(tx, CLAIMED, CLAIM)).hasSize(CLAIM);
            onward = pages(tx) - before;
            tx.rollback();
        }
        assertThat(whole)
                .as("pages from the beginning: the snapshot holds them")
                .isGreaterThan(2 * PAGES_MAX);
        assertThat(onward).as("pages from where the last claim ended").isLessThan(PAGES_MAX);
    }

    /** More than are looked at one by one where that is not needed. */
    @Test
    void soItDoesWithManyPriorities() throws SQLException {
        Front front = new Front("many", hand.claims(), Duration.ZERO, new Pace(Duration.ZERO, Duration.ofSeconds(5)));
        prioritize(GONE);
        List<ClaimedJob> gone = shop.postroom.database().run(tx -> front.claim(tx, GONE));
        assertThat(gone).hasSize(GONE);
        shop.database.execute("delete from postroom.job where queue = 'many'");
        prioritize(200);
        List<Long> pages = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            try (Connection tx = shop.database.begin()) {
                long before = pages(tx);
                assertThat(front.claim(tx, CLAIM)).hasSize(CLAIM);
                pages.add(pages(tx) - before);
                tx.commit();
            }
        }
        // Some of them look from the beginning, as often as that may cost.
        assertThat(pages).anyMatch(each -> each < PAGES_MAX);
    }

    private static void prioritize(int count) {
        shop.database.execute(
                "insert into postroom.job (queue, kind, payload, priority) select 'many', 'work', '{}', n % 40"
                        + " from generate_series(1, " + count + ") as n");
    }

    @Test
    void aLookForTimesThatHaveComePassesThoseThatWereLetGo() throws SQLException {
        long whole = pagesOfPromotion(null);
        long onward = pagesOfPromotion(lastAt);
        assertThat(whole)
                .as("pages from the beginning: the snapshot holds them")
                .isGreaterThan(2 * PAGES_MAX);
        assertThat(onward).as("pages from the last time that was let go").isLessThan(PAGES_MAX);
    }

    @Test
    void aLookForDeadWorkersPassesWhatTheLivingHaveEnded() throws SQLException {
        Hand dead = new Hand(shop, "dead", Kind.of("work", job -> JobOutcome.done()));
        runLong(dead, 2);
        dead.die();
        assertThat(pagesOfLook(2, tx -> REAPER.findLost(tx, 1_000, Set.of()))).isLessThan(PAGES_MAX);
        runLong(new Hand(shop, "unknown", Kind.of("work", job -> JobOutcome.done())), 3);
        shop.database.execute("delete from postroom.worker where name = 'unknown'");
        assertThat(pagesOfLook(3, tx -> REAPER.findStray(tx, 1_000, Set.of()))).isLessThan(PAGES_MAX);
    }

    @Test
    void aLookForOverdueJobsPassesWhatTheLastOneHasSeen() throws SQLException {
        assertThat(pagesOfLook(0, tx -> REAPER.findOverdue(tx, Duration.ofDays(1), 1_000, Set.of())))
                .as("pages from the beginning: the snapshot holds them")
                .isGreaterThan(2 * PAGES_MAX);
        assertThat(pagesOfLook(0, tx -> REAPER.findOverdue(tx, Duration.ofMinutes(1), 1_000, Set.of())))
                .isLessThan(PAGES_MAX);
    }

    @Test
    void aLookForClaimsWithoutAnAnswerPassesWhatIsLongOver() throws SQLException {
        runLong(late, 1);
        assertThat(pagesOfLook(
                        1,
                        tx -> late.claims()
                                .findUnknown(tx, new TreeMap<>(), 1_000)
                                .keySet()))
                .isLessThan(PAGES_MAX);
    }

    private static void runLong(Hand worker, int count) {
        shop.database.execute("insert into postroom.job (queue, kind, payload, state, worker, claimed_at, deadline_at)"
                + " select 'long', 'work', '{}', 'running', '" + worker.id()
                + "', clock_timestamp(), clock_timestamp() + interval '1 h' from generate_series(1, " + count + ")");
    }

    private static long pagesOfLook(int found, Function<Connection, Collection<?>> look) throws SQLException {
        try (Connection tx = shop.database.begin()) {
            long before = pages(tx);
            assertThat(look.apply(tx)).hasSize(found);
            long pages = pages(tx) - before;
            tx.rollback();
            return pages;
        }
    }

    private static long pagesOfPromotion(Instant since) throws SQLException {
        try (Connection tx = shop.database.begin()) {
            long before = pages(tx);
            assertThat(GATE.promote(tx, since, 5_000).jobs()).isEqualTo(CLAIM);
            long pages = pages(tx) - before;
            tx.rollback();
            return pages;
        }
    }

    /** What this session's transaction has asked for, of the table and its indexes. */
    private static long pages(Connection tx) throws SQLException {
        try (Statement statement = tx.createStatement();
                ResultSet row = statement.executeQuery("select sum(pg_stat_get_xact_blocks_fetched(oid)) from pg_class"
                        + " where oid = 'postroom.job'::regclass"
                        + " or oid in (select indexrelid from pg_index where indrelid = 'postroom.job'::regclass)")) {
            row.next();
            return row.getLong(1);
        }
    }
}
