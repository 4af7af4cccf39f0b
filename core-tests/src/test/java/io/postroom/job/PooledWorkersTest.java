package io.postroom.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.zaxxer.hikari.HikariDataSource;
import io.postroom.Postroom;
import io.postroom.retry.RetryPolicy;
import io.postroom.schedule.FixedRate;
import io.postroom.schedule.Schedule;
import io.postroom.schedule.Scheduler;
import io.postroom.testkit.PgBouncer;
import io.postroom.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Two nodes with workers and schedules behind a real PgBouncer that pools transactions: four sessions of the server for all. */
class PooledWorkersTest {
    private static final int SESSIONS = 4;
    private static final int NODES = 2;
    private static final int THREADS = 4;
    private static final int EACH = 40;

    private static Workshop shop;
    private static PgBouncer bouncer;
    private static final List<HikariDataSource> POOLS = new ArrayList<>();

    @BeforeAll
    static void start() throws InterruptedException {
        assumeTrue(PgBouncer.isInstalled(), "pgbouncer is not installed: apt-get install pgbouncer");
        shop = new Workshop();
        shop.database.execute("create table effect (job bigint, session int default pg_backend_pid())");
        bouncer = PgBouncer.start(shop.database.url(), SESSIONS);
        for (int i = 0; i < NODES; i++) {
            // Three of its own for each worker.
            POOLS.add(TestDatabase.pool(bouncer.url(shop.database.url()), 2 * THREADS + 3));
        }
    }

    @AfterAll
    static void stop() {
        if (bouncer != null) {
            POOLS.forEach(HikariDataSource::close);
            bouncer.close();
            shop.close();
        }
    }

    @Test
    void everyJobAndEveryTimeHasOneEndAndNothingIsLeftInASession() throws Exception {
        CountDownLatch told = new CountDownLatch(1);
        List<AutoCloseable> nodes = new ArrayList<>();
        long batch;
        long last;
        long held;
        try {
            for (HikariDataSource pool : POOLS) {
                Postroom postroom = Postroom.on(pool);
                Workers workers = workers(postroom, pool, told);
                nodes.add(workers);
                workers.start();
                postroom.database()
                        .transact(tx -> postroom.schedules()
                                .put(
                                        tx,
                                        Schedule.of(
                                                "tick",
                                                FixedRate.every(Duration.ofSeconds(1)),
                                                Job.of("book", "{}").build())));
                Scheduler scheduler = postroom.schedules().start();
                nodes.add(scheduler);
            }
            Postroom postroom = Postroom.on(POOLS.get(0));
            batch = postroom.database().transact(tx -> {
                postroom.jobs().declare(tx, Limit.ofConcurrency("few", 2));
                return postroom.jobs().batch(tx, "all");
            });
            last = postroom.database().transact(tx -> {
                postroom.jobs().enqueueAll(tx, batch(batch));
                return postroom.jobs()
                        .enqueue(tx, Job.of("book", "{}").afterBatch(batch).build());
            });
            held = postroom.database()
                    .transact(tx ->
                            postroom.jobs().enqueue(tx, Job.of("hold", "{}").build()));
            shop.awaitState(last, "done");
            told.await();
            assertThat(postroom.jobBoard().cancel(held, "tester", "enough")).isEqualTo(Cancellation.ASKED);
            shop.awaitState(held, "cancelled");
            Workshop.await(
                    () -> "three times have fired",
                    () -> shop.database.queryLong("select count(*) from postroom.schedule_run") >= 3);
        } finally {
            for (AutoCloseable each : nodes) {
                each.close();
            }
        }
        assertThat(shop.rows("select id from postroom.job_done group by id having count(*) > 1"))
                .isEmpty();
        assertThat(shop.rows("select state, count(*) from postroom.job_done where batch is not null group by state"))
                .containsExactly("done|" + 4 * EACH);
        assertThat(shop.rows("select id from postroom.job where kind <> 'book'"))
                .as("handed back at the end, if any")
                .isEmpty();
        assertThat(shop.rows("select job from effect group by job having count(*) > 1"))
                .isEmpty();
        assertThat(shop.rows("select outcome, count(*) from postroom.job_attempt where outcome <> 'interrupted'"
                        + " group by outcome order by outcome"))
                .as("nobody was taken for dead")
                .containsExactly("cancelled|1", "failed|" + EACH);
        assertThat(
                        shop.database.queryLong(
                                "select count(*) from postroom.schedule_run r"
                                        + " where not exists (select from postroom.job_done d where d.id = r.job_id and d.created_at >= r.fire_at)"
                                        + " and not exists (select from postroom.job j where j.id = r.job_id and j.created_at >= r.fire_at)"))
                .as("times without a job, or with one before its time")
                .isZero();
        assertThat(shop.database.queryLong("select count(distinct session) from effect"))
                .as("sessions of the server")
                .isLessThanOrEqualTo(SESSIONS);
        assertNothingIsLeft();
    }

    private static List<Job> batch(long batch) {
        List<Job> jobs = new ArrayList<>();
        for (int i = 0; i < EACH; i++) {
            jobs.add(Job.of("book", "{}").batch(batch).build());
            jobs.add(Job.of("count", "{}")
                    .batch(batch)
                    .runAfter(Duration.ofMillis(5L * i))
                    .build());
            jobs.add(Job.of("count", "{}")
                    .batch(batch)
                    .limit("few", "key-" + i % 3)
                    .build());
            jobs.add(Job.of("flaky", "{}").batch(batch).build());
        }
        return jobs;
    }

    private static Workers workers(Postroom postroom, HikariDataSource pool, CountDownLatch told) {
        RetryPolicy soon = RetryPolicy.parse("linear step=10ms cap=10ms jitter=0 attempts=3");
        return postroom.jobs()
                .workers()
                .name("pooled")
                .lease(Duration.ofSeconds(30))
                .queue("default", THREADS)
                .handle(Kind.transactional("book", (tx, job) -> effect(tx, job)))
                .handle("count", job -> effect(pool, job))
                .handle(Kind.of("flaky", job -> {
                            if (job.attempt() == 1) {
                                throw new IllegalStateException("not the first time");
                            }
                            return effect(pool, job);
                        })
                        .retry(soon))
                .handle("hold", job -> {
                    told.countDown();
                    new CountDownLatch(1).await();
                    return JobOutcome.done();
                })
                .build();
    }

    private static JobOutcome effect(HikariDataSource pool, JobContext job) throws SQLException {
        try (Connection connection = pool.getConnection()) {
            return effect(connection, job);
        }
    }

    private static JobOutcome effect(Connection tx, JobContext job) throws SQLException {
        try (Statement statement = tx.createStatement()) {
            statement.execute("insert into effect (job) values (" + job.id() + ")");
        }
        return JobOutcome.done();
    }

    /** All sessions at once, so that each is seen. */
    private static void assertNothingIsLeft() throws SQLException {
        assertThat(shop.database.queryLong("select count(*) from pg_locks where locktype = 'advisory' and database ="
                        + " (select oid from pg_database where datname = current_database())"))
                .isZero();
        List<Connection> all = new ArrayList<>();
        try {
            for (int i = 0; i < SESSIONS; i++) {
                Connection each = POOLS.get(0).getConnection();
                all.add(each);
                each.setAutoCommit(false);
                try (Statement statement = each.createStatement();
                        ResultSet row = statement.executeQuery(
                                "select count(*) from pg_settings where name in ('lock_timeout', 'statement_timeout',"
                                        + " 'idle_in_transaction_session_timeout') and setting = '0'")) {
                    row.next();
                    assertThat(row.getLong(1)).isEqualTo(3);
                }
            }
        } finally {
            for (Connection each : all) {
                each.rollback();
                each.close();
            }
        }
    }
}
