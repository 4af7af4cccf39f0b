package io.postroom.fault;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.postroom.Postroom;
import io.postroom.journal.Journal;
import io.postroom.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/** A consumer that knows nothing but SQL, twice at once, with rollbacks and connections that are cut, behind writers that race. */
class ForeignConsumerTest {
    private static final int KEYS = 30;
    private static final int WRITERS = 8;
    private static final Duration RUN = Duration.ofSeconds(Boolean.getBoolean("postroom.long") ? 120 : 3);
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private static final String ROUND = """
            select position from postroom.consumer_offset where consumer = 'books' for update;
            with batch as materialized (
                select message.* from postroom.consumer_offset as mine
                cross join lateral postroom.read(mine.position, %d) as message
                where mine.consumer = 'books'
            ), applied as (
                insert into applied (id, account, version, position)
                select id, aggregate_id, aggregate_version, position from batch order by position
            )
            update postroom.consumer_offset set position = (select max(position) from batch)
            where consumer = 'books' and exists (select 1 from batch)""";

    private final AtomicLong rollbacks = new AtomicLong();
    private final AtomicLong cuts = new AtomicLong();
    private final AtomicLong rounds = new AtomicLong();

    @Test
    void takesInEveryMessageOnceInOrderWhoeverReadsAndHoweverItsTransactionsEnd() throws Exception {
        long seed = Long.getLong("postroom.seed", System.nanoTime());
        History history = new History();
        try (TestDatabase database = TestDatabase.create();
                HikariDataSource pool = TestDatabase.pool(database.url(), 2 * WRITERS + 4)) {
            Writers.createAccounts(database.dataSource(), KEYS);
            database.execute(
                    "create table applied (n bigserial, id uuid, account text, version bigint, position bigint)",
                    "insert into postroom.consumer_offset (consumer, position) values ('books', 0)");
            CountDownLatch done = new CountDownLatch(1);
            Journal journal = Postroom.on(database.dataSource()).journal();
            Thread stamper = start("stamper", () -> {
                while (done.getCount() > 0) {
                    journal.stamp();
                    LockSupport.parkNanos(2_000_000);
                }
            });
            Thread one = start("consumer-1", () -> consume(pool, done, new Random(seed)));
            Thread other = start("consumer-2", () -> consume(pool, done, new Random(seed + 1)));
            Writers writers =
                    new Writers(pool, database.postroom(), history, KEYS, seed, 0.004, Writers.Style.values());
            writers.start(WRITERS);
            assertThat(done.await(RUN.toMillis(), TimeUnit.MILLISECONDS)).isFalse();
            Deadline.await(
                    "it is hard",
                    PATIENCE,
                    () -> history.acknowledgedCount() > 500
                            && rollbacks.get() > 0
                            && cuts.get() > 0
                            && database.queryLong(Truth.lateCommits()) > 0);
            writers.stop();
            Deadline.await(
                    "the consumer has not read to the end",
                    PATIENCE,
                    () -> database.queryLong("select (select count(*) from postroom.outbox)"
                                    + " - (select position from postroom.consumer_offset)")
                            == 0);
            done.countDown();
            for (Thread thread : new Thread[] {stamper, one, other}) {
                thread.join(PATIENCE.toMillis());
            }
            assertExact(
                    database,
                    "seed %d, %d rounds, %d rolled back, %d cut"
                            .formatted(seed, rounds.get(), rollbacks.get(), cuts.get()));
            assertThat(history.acknowledgedCount()).isGreaterThan(500);
            assertThat(database.queryLong(Truth.lateCommits())).isPositive();
            assertThat(rollbacks).hasPositiveValue();
            assertThat(cuts).hasPositiveValue();
        }
    }

    private static void assertExact(TestDatabase database, String run) {
        assertThat(database.queryLong("select (select count(*) from applied) - (select count(*) from postroom.outbox)"))
                .as(run)
                .isZero();
        assertThat(database.queryLong("""
                select count(*) from (select id from applied except select id from postroom.outbox) as invented""")).as(run).isZero();
        assertThat(database.queryLong("""
                select count(*) from (select id from postroom.outbox except select id from applied) as lost""")).as(run).isZero();
        assertThat(database.queryLong("""
                select count(*) from (select version - lag(version, 1, 0::bigint) over (partition by account order by n) as step from applied) as s
                where step <> 1""")).as("%s: versions out of order", run).isZero();
    }

    /** Ends when done; whatever happens to a transaction, the next one goes on. */
    private void consume(HikariDataSource pool, CountDownLatch done, Random random) {
        while (done.getCount() > 0) {
            try (Connection tx = pool.getConnection()) {
                tx.setAutoCommit(false);
                round(tx, random);
            } catch (SQLException e) {
                cuts.incrementAndGet();
            }
            LockSupport.parkNanos(random.nextInt(4_000_000));
        }
    }

    private void round(Connection tx, Random random) throws SQLException {
        try (Statement statement = tx.createStatement()) {
            statement.execute(ROUND.formatted(1 + random.nextInt(40)));
            rounds.incrementAndGet();
            switch (random.nextInt(10)) {
                case 0, 1 -> {
                    tx.rollback();
                    rollbacks.incrementAndGet();
                }
                case 2 -> {
                    statement.execute("select pg_terminate_backend(pg_backend_pid())");
                    tx.commit();
                }
                default -> tx.commit();
            }
        }
    }

    private static Thread start(String name, Runnable work) {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }
}
