package io.postroom.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Cancelling jobs, whatever they are doing. */
class JobCancelTest {
    private static Workshop shop;
    private static JobBoard board;

    @BeforeAll
    static void open() {
        shop = new Workshop();
        board = shop.postroom.jobBoard();
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
    void endsWhatHasNotBegunAtOnceAndForGood() {
        long id = shop.enqueue(Job.of("note", "{}"));
        assertThat(board.cancel(id, "ann", "not wanted")).isEqualTo(Cancellation.CANCELLED);
        assertThat(board.cancel(id, "ann", "once more")).isEqualTo(Cancellation.TOO_LATE);
        assertThat(shop.rows("select state, attempt, ended_by from postroom.job_done where id = " + id))
                .containsExactly("cancelled|0|ann");
        assertThat(board.find(id).orElseThrow().state()).isEqualTo(JobState.CANCELLED);
        assertThat(shop.rows("select actor, action, subject from postroom.audit"))
                .containsExactly("ann|job cancel|job " + id);
        assertThatThrownBy(() -> board.cancel(id + 1, "ann", "a typing error"))
                .hasMessageContaining("there is none with this id")
                .extracting("code")
                .isEqualTo("job.unknown");
    }

    @Test
    void inATransactionOfTheApplicationsHappensIfThatCommits() throws Exception {
        long id = shop.enqueue(Job.of("note", "{}"));
        try (var tx = shop.database.begin()) {
            assertThat(board.cancel(tx, id, "checkout")).isEqualTo(Cancellation.CANCELLED);
            tx.rollback();
            assertThat(shop.state(id)).isEqualTo("ready");
            assertThat(board.cancel(tx, id, "checkout")).isEqualTo(Cancellation.CANCELLED);
            tx.commit();
        }
        assertThat(shop.state(id)).isEqualTo("cancelled");
    }

    @Test
    void tellsAHandlerThatRunsAndDoesNotTryAgain() throws InterruptedException {
        CountDownLatch begun = new CountDownLatch(1);
        AtomicBoolean told = new AtomicBoolean();
        try (Workers workers = shop.workers()
                .queue("default", 1)
                .handle("long", job -> {
                    begun.countDown();
                    try {
                        new CountDownLatch(1).await();
                    } catch (InterruptedException e) {
                        told.set(job.isCancelled());
                        throw e;
                    }
                    return JobOutcome.done();
                })
                .build()) {
            workers.start();
            long id = shop.enqueue(Job.of("long", "{}"));
            begun.await();
            assertThat(board.cancel(id, "ann", "not wanted")).isEqualTo(Cancellation.ASKED);
            shop.awaitState(id, "cancelled");
            assertThat(told).isTrue();
            assertThat(shop.rows("select attempt, outcome from postroom.job_attempt where job_id = " + id))
                    .containsExactly("1|cancelled");
            assertThat(shop.database.queryLong("select count(*) from postroom.dead_letter"))
                    .isZero();
        }
    }

    @Test
    void leavesAHandlerThatIsDoneAnywayDone() throws InterruptedException {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch finish = new CountDownLatch(1);
        try (Workers workers = shop.workers()
                .queue("default", 1)
                .handle("long", job -> {
                    begun.countDown();
                    while (finish.getCount() > 0) {
                        try {
                            finish.await();
                        } catch (InterruptedException e) {
                            // It has nothing left to stop.
                        }
                    }
                    return JobOutcome.done();
                })
                .build()) {
            workers.start();
            long id = shop.enqueue(Job.of("long", "{}"));
            begun.await();
            assertThat(board.cancel(id, "ann", "too late")).isEqualTo(Cancellation.ASKED);
            finish.countDown();
            shop.awaitState(id, "done");
        }
    }

    @Test
    void ofAJobThatWaitsForItsNextAttemptEndsIt() {
        try (Workers workers = shop.workers()
                .queue("default", 1)
                .handle("fail", job -> JobOutcome.snooze(Duration.ofHours(1)))
                .build()) {
            workers.start();
            long id = shop.enqueue(Job.of("fail", "{}"));
            Workshop.await(
                    () -> "it waits",
                    () -> shop.text("select waits from postroom.job where id = " + id)
                            .equals("time"));
            assertThat(board.cancel(id, "ann", "not wanted")).isEqualTo(Cancellation.CANCELLED);
            assertThat(shop.state(id)).isEqualTo("cancelled");
        }
    }
}
