package io.postroom.job;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.retry.RetryPolicy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Handlers whose effect is committed together with the end of their job. */
class TransactionalJobTest {
    private static Workshop shop;

    @BeforeAll
    static void open() {
        shop = new Workshop();
        shop.database.execute("create table effect (job bigint, attempt int)");
    }

    @AfterAll
    static void close() {
        shop.close();
    }

    @BeforeEach
    void clear() {
        shop.clear();
        shop.database.execute("truncate effect");
    }

    private static void effect(Connection tx, JobContext job) throws SQLException {
        try (Statement statement = tx.createStatement()) {
            statement.execute("insert into effect values (" + job.id() + ", " + job.attempt() + ")");
        }
    }

    @Test
    void takeEffectWithTheEndOfTheJobOrNotAtAll() {
        Kind kind = Kind.transactional("book", (tx, job) -> {
                    effect(tx, job);
                    if (job.attempt() == 1) {
                        throw new IllegalStateException("after the effect");
                    }
                    return job.attempt() == 2 ? JobOutcome.retry("not yet") : JobOutcome.done("3");
                })
                .retry(RetryPolicy.parse("linear step=1ms cap=1ms attempts=5"));
        try (Workers workers = shop.workers().queue("default", 1).handle(kind).build()) {
            workers.start();
            long id = shop.enqueue(Job.of("book", "{}"));
            shop.awaitState(id, "done");
            assertThat(shop.rows("select job, attempt from effect")).containsExactly(id + "|3");
            assertThat(shop.rows("select state, attempt, result from postroom.job_done"))
                    .containsExactly("done|3|3");
        }
    }

    @Test
    void takeNoEffectIfTheJobWasTakenAway() throws InterruptedException {
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        AtomicInteger runs = new AtomicInteger();
        Kind kind = Kind.transactional("book", (tx, job) -> {
            effect(tx, job);
            if (runs.incrementAndGet() == 1) {
                inside.countDown();
                goOn.await();
            }
            return JobOutcome.done();
        });
        try (Workers workers = shop.workers().queue("default", 2).handle(kind).build()) {
            workers.start();
            long id = shop.enqueue(Job.of("book", "{}"));
            inside.await();
            // As a reaper does that holds the worker for dead.
            shop.database.execute(
                    "update postroom.job set state = 'ready', worker = null, claimed_at = null, deadline_at = null,"
                            + " fence = fence + 1, turn = default where id = " + id);
            shop.awaitState(id, "done");
            goOn.countDown();
        }
        assertThat(runs.get()).isEqualTo(2);
        assertThat(shop.rows("select count(*), max(attempt) from effect")).containsExactly("1|2");
        assertThat(shop.database.queryLong("select count(*) from postroom.job_done"))
                .isEqualTo(1);
    }

    @Test
    void thatEndTheirTransactionAreFoundOut() {
        Kind kind = Kind.transactional("book", (tx, job) -> {
                    effect(tx, job);
                    tx.commit();
                    return JobOutcome.done();
                })
                .retry(RetryPolicy.builder().attemptsMax(1).build());
        try (Workers workers = shop.workers().queue("default", 1).handle(kind).build()) {
            workers.start();
            long id = shop.enqueue(Job.of("book", "{}"));
            shop.awaitState(id, "failed");
            assertThat(shop.text("select error from postroom.job_done where id = " + id))
                    .contains("has ended the transaction");
        }
    }

    @Test
    void thatHangInAStatementAreEndedByTheServer() {
        Kind kind = Kind.transactional("book", (tx, job) -> {
                    effect(tx, job);
                    try (Statement statement = tx.createStatement()) {
                        statement.execute("select pg_sleep(600)");
                    }
                    return JobOutcome.done();
                })
                .retry(RetryPolicy.builder().attemptsMax(1).build())
                .deadline(Duration.ofMillis(200));
        try (Workers workers = shop.workers().queue("default", 1).handle(kind).build()) {
            workers.start();
            long id = shop.enqueue(Job.of("book", "{}"));
            shop.awaitState(id, "failed");
            assertThat(shop.rows("select * from effect")).isEmpty();
        }
    }
}
