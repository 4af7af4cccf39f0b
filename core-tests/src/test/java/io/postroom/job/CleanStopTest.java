package io.postroom.job;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A deploy burns no attempt and leaves nothing behind. */
class CleanStopTest {
    private static Workshop shop;

    @BeforeAll
    static void open() {
        shop = new Workshop();
    }

    @AfterAll
    static void close() {
        shop.close();
    }

    @BeforeEach
    void clear() {
        shop.clear();
    }

    @Test
    void waitsForWhatRunsAndGivesBackWhatHasNotBegun() throws InterruptedException {
        CountDownLatch begun = new CountDownLatch(2);
        CountDownLatch finish = new CountDownLatch(1);
        List<Job> jobs = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            jobs.add(Job.of("work", "" + i).build());
        }
        shop.enqueueAll(jobs);
        Workers workers = shop.workers()
                .queue("default", 2)
                .handle("work", job -> {
                    begun.countDown();
                    finish.await();
                    return JobOutcome.done();
                })
                .build();
        workers.start();
        begun.await();
        Thread closing = new Thread(workers::close);
        closing.start();
        Workshop.await(
                () -> "what has not begun is given back",
                () -> shop.database.queryLong("select count(*) from postroom.job where state = 'ready'") == 8);
        assertThat(shop.database.queryLong(
                        "select count(*) from postroom.worker where leased_until > clock_timestamp()"))
                .as("the heartbeat goes on while handlers are waited for")
                .isEqualTo(1);
        finish.countDown();
        closing.join();
        assertThat(shop.rows("select state, attempt, count(*) from postroom.job group by 1, 2"))
                .containsExactly("ready|0|8");
        assertThat(shop.rows("select state, attempt, count(*) from postroom.job_done group by 1, 2"))
                .containsExactly("done|1|2");
        assertThat(shop.database.queryLong("select count(*) from postroom.worker"))
                .isZero();
        assertThat(shop.database.queryLong("select count(*) from postroom.job_attempt"))
                .isZero();
    }

    @Test
    void interruptsWhatTakesTooLongAndCountsNoAttempt() throws InterruptedException {
        CountDownLatch begun = new CountDownLatch(1);
        long id = shop.enqueue(Job.of("work", "{}"));
        Workers workers = shop.workers()
                .stopGrace(Duration.ofMillis(100))
                .queue("default", 1)
                .handle("work", job -> {
                    begun.countDown();
                    new CountDownLatch(1).await();
                    return JobOutcome.done();
                })
                .build();
        workers.start();
        begun.await();
        workers.close();
        assertThat(shop.rows("select state, waits, attempt from postroom.job where id = " + id))
                .containsExactly("ready|null|0");
        assertThat(shop.rows("select attempt, outcome from postroom.job_attempt"))
                .containsExactly("1|interrupted");
        assertThat(shop.database.queryLong("select count(*) from postroom.worker"))
                .isZero();
    }

    @Test
    void leavesAHandlerThatHearsNothingAndLetsOthersHaveItsJob() throws InterruptedException {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        AtomicInteger ran = new AtomicInteger();
        long id = shop.enqueue(Job.of("work", "{}"));
        Workers workers = shop.workers()
                .stopGrace(Duration.ofMillis(100))
                .queue("default", 1)
                .handle("work", job -> {
                    begun.countDown();
                    while (release.getCount() > 0) {
                        try {
                            release.await();
                        } catch (InterruptedException e) {
                            // Deaf.
                        }
                    }
                    ran.incrementAndGet();
                    return JobOutcome.done();
                })
                .build();
        try {
            workers.start();
            begun.await();
            workers.close();
            assertThat(shop.rows("select state, attempt from postroom.job where id = " + id))
                    .containsExactly("ready|0");
        } finally {
            release.countDown();
        }
        Workshop.await(() -> "the handler comes to its end", () -> ran.get() == 1);
        assertThat(shop.state(id)).as("what it says then changes nothing").isEqualTo("ready");
    }

    @Test
    void underLoadEndsOrGivesBackEveryJob() {
        List<Job> jobs = new ArrayList<>();
        for (int i = 0; i < 5_000; i++) {
            jobs.add(Job.of("work", "" + i).build());
        }
        shop.enqueueAll(jobs);
        for (int round = 0; round < 5; round++) {
            AtomicInteger ran = new AtomicInteger();
            try (Workers workers = shop.workers()
                    .queue("default", 4)
                    .handle("work", job -> {
                        ran.incrementAndGet();
                        return JobOutcome.done();
                    })
                    .build()) {
                workers.start();
                Workshop.await(
                        () -> "some ran",
                        () -> ran.get() > 200
                                || shop.database.queryLong("select count(*) from postroom.job where state = 'ready'")
                                        == 0);
            }
            assertThat(shop.rows("select state, attempt from postroom.job group by 1, 2"))
                    .isSubsetOf("ready|0");
            assertThat(shop.database.queryLong("select count(*) from postroom.worker"))
                    .isZero();
        }
        assertThat(shop.database.queryLong(
                        "select (select count(*) from postroom.job) + (select count(*) from postroom.job_done)"))
                .isEqualTo(5_000);
    }
}
