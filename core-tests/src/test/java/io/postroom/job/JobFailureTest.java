package io.postroom.job;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.deadletter.Cause;
import io.postroom.deadletter.DeadLetter;
import io.postroom.deadletter.DeadLetterFilter;
import io.postroom.deadletter.DeadLetterRow;
import io.postroom.retry.RetryPolicy;
import java.net.ConnectException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What becomes of attempts that do not end with the job done. */
class JobFailureTest {
    private static final RetryPolicy SOON = RetryPolicy.parse("linear step=10ms cap=10ms jitter=0 attempts=3");

    private static Workshop shop;
    private final AtomicInteger attempts = new AtomicInteger();

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

    private Workers working(Kind kind) {
        return shop.workers().queue("default", 2).handle(kind).build();
    }

    private List<String> history(long id) {
        return shop.rows("select attempt, outcome, error_class, error, worker from postroom.job_attempt where job_id = "
                + id + " order by at");
    }

    @Test
    void aJobThatFailsIsTriedAgainAsItsPolicySays() {
        Kind kind = Kind.of("fail", job -> {
                    if (attempts.incrementAndGet() < 3) {
                        throw new IllegalStateException("number " + job.attempt() + ", token=secret123456");
                    }
                    return JobOutcome.done();
                })
                .retry(SOON);
        try (Workers workers = working(kind)) {
            workers.start();
            long id = shop.enqueue(Job.of("fail", "{}"));
            shop.awaitState(id, "done");
            assertThat(shop.text("select attempt from postroom.job_done where id = " + id))
                    .isEqualTo("3");
            assertThat(history(id))
                    .hasSize(2)
                    .allSatisfy(line -> assertThat(line)
                            .contains("failed|java.lang.IllegalStateException|number")
                            .endsWith("|tester")
                            .doesNotContain("secret123456"));
            assertThat(shop.postroom.jobBoard().attempts(id))
                    .extracting(JobAttempt::attempt)
                    .containsExactly(1, 2);
        }
    }

    @Test
    void aJobOutOfAttemptsIsADeadLetterWholeAndWithItsHistory() {
        Kind kind =
                Kind.of("fail", job -> JobOutcome.retry("not " + job.attempt())).retry(SOON);
        try (Workers workers = working(kind)) {
            workers.start();
            long id = shop.enqueue(Job.of("fail", "{\"n\": 1}")
                    .queue("default")
                    .tenantId("acme")
                    .header("a", "b"));
            shop.awaitState(id, "failed");
            DeadLetterRow row = onlyLetter();
            assertThat(row.owner()).isEqualTo("default");
            assertThat(row.position()).isEqualTo(id);
            assertThat(row.burial().cause()).isEqualTo(Cause.EXHAUSTED);
            assertThat(row.burial().attempts()).isEqualTo(3);
            assertThat(row.burial().error()).isEqualTo("not 3");
            DeadLetter letter = shop.postroom.deadLetters().get(row.id()).orElseThrow();
            assertThat(letter.source()).isEqualTo("job");
            assertThat(letter.message().payload()).isEqualTo("{\"n\": 1}");
            assertThat(letter.message().eventType()).isEqualTo("fail");
            assertThat(letter.message().aggregateId()).isEqualTo("" + id);
            assertThat(letter.message().tenantId()).isEqualTo("acme");
            assertThat(letter.message().headers()).containsEntry("a", "b");
            assertThat(letter.history()).contains("not 1", "not 2", "not 3");
            assertThat(shop.rows("select state, attempt, error_class, error from postroom.job_done where id = " + id))
                    .containsExactly("failed|3|retry|not 3");
        }
    }

    @Test
    void aJobThatSaysItCannotBeDoneIsNotTriedAgain() {
        try (Workers workers = working(Kind.of("fail", job -> JobOutcome.failed("no such address")))) {
            workers.start();
            long id = shop.enqueue(Job.of("fail", "{}"));
            shop.awaitState(id, "failed");
            assertThat(onlyLetter().burial().cause()).isEqualTo(Cause.REJECTED);
            assertThat(history(id)).containsExactly("1|failed|failed|no such address|tester");
        }
    }

    @Test
    void aPolicyOfTheJobsOwnCountsForMoreThanThatOfItsKind() {
        try (Workers workers =
                working(Kind.of("fail", job -> JobOutcome.retry("no")).retry(SOON))) {
            workers.start();
            long id = shop.enqueue(Job.of("fail", "{}").retry("linear step=1ms cap=1ms attempts=5"));
            shop.awaitState(id, "failed");
            assertThat(onlyLetter().burial().attempts()).isEqualTo(5);
        }
    }

    @Test
    void aSnoozeCountsNoAttempt() {
        Kind kind = Kind.of(
                        "doze",
                        job -> attempts.incrementAndGet() < 5
                                ? JobOutcome.snooze(Duration.ofMillis(5))
                                : JobOutcome.done())
                .retry(SOON);
        try (Workers workers = working(kind)) {
            workers.start();
            long id = shop.enqueue(Job.of("doze", "{}"));
            shop.awaitState(id, "done");
            assertThat(shop.text("select attempt, fence from postroom.job_done where id = " + id))
                    .as("one attempt, but a fence that grew with each claim and each return")
                    .isEqualTo("1|9");
            assertThat(history(id)).hasSize(4).allMatch(line -> line.startsWith("1|snoozed|"));
        }
    }

    @Test
    void whatIsNotThereCountsNoAttempt() {
        Kind kind = Kind.of("call", job -> {
                    throw new ConnectException("refused");
                })
                .retry(SOON);
        try (Workers workers = working(kind)) {
            workers.start();
            long id = shop.enqueue(Job.of("call", "{}"));
            Workshop.await(
                    () -> "it waits",
                    () -> "ready|time|0"
                            .equals(shop.text("select state, waits, attempt from postroom.job where id = " + id)));
            assertThat(history(id)).containsExactly("1|unavailable|java.net.ConnectException|refused|tester");
        }
    }

    @Test
    void anErrorOrNoOutcomeFailsTheAttemptAndNotTheThread() {
        Kind kind = Kind.of("fail", job -> {
                    if (job.payload().equals("1")) {
                        throw new StackOverflowError("deep");
                    }
                    return job.payload().equals("2") ? null : JobOutcome.done();
                })
                .retry(RetryPolicy.builder().attemptsMax(1).build());
        try (Workers workers = shop.workers().queue("default", 1).handle(kind).build()) {
            workers.start();
            long error = shop.enqueue(Job.of("fail", "1"));
            long nothing = shop.enqueue(Job.of("fail", "2"));
            long fine = shop.enqueue(Job.of("fail", "3"));
            shop.awaitState(fine, "done");
            shop.awaitState(error, "failed");
            shop.awaitState(nothing, "failed");
            assertThat(history(error)).hasSize(1).first().asString().contains("java.lang.StackOverflowError|deep");
            assertThat(history(nothing)).hasSize(1).first().asString().contains("no-outcome");
        }
    }

    @Test
    void aResultThatIsNoJsonFailsTheAttempt() {
        Kind kind = Kind.of("bad", job -> JobOutcome.done("{"))
                .retry(RetryPolicy.builder().attemptsMax(1).build());
        try (Workers workers = working(kind)) {
            workers.start();
            long id = shop.enqueue(Job.of("bad", "{}"));
            shop.awaitState(id, "failed");
            assertThat(history(id)).hasSize(1).first().asString().contains("not JSON");
        }
    }

    @Test
    void anAttemptOverItsDeadlineIsInterruptedAndCounts() {
        Kind kind = Kind.of("hang", job -> {
                    new CountDownLatch(1).await();
                    return JobOutcome.done();
                })
                .retry(SOON);
        try (Workers workers = working(kind)) {
            workers.start();
            long id = shop.enqueue(Job.of("hang", "{}").deadline(Duration.ofMillis(50)));
            shop.awaitState(id, "failed");
            assertThat(history(id)).hasSize(3).allMatch(line -> line.contains("|timed_out|timeout|"));
            assertThat(onlyLetter().burial().cause()).isEqualTo(Cause.EXHAUSTED);
        }
    }

    /** Whoever does not hear an interrupt loses the thread, not the queue. */
    @Test
    void aHandlerThatHearsNothingIsLeftAloneAndTheQueueGoesOn() {
        CountDownLatch release = new CountDownLatch(1);
        Kind deaf = Kind.of("deaf", job -> {
                    while (release.getCount() > 0) {
                        try {
                            release.await();
                        } catch (InterruptedException e) {
                            // Deaf.
                        }
                    }
                    return JobOutcome.done();
                })
                .retry(RetryPolicy.builder().attemptsMax(1).build())
                .deadline(Duration.ofMillis(50));
        try (Workers workers = shop.workers()
                .queue("default", 1)
                .handle(deaf)
                .handle("fine", job -> JobOutcome.done())
                .build()) {
            workers.start();
            long id = shop.enqueue(Job.of("deaf", "{}"));
            shop.awaitState(id, "failed");
            long fine = shop.enqueue(Job.of("fine", "{}"));
            shop.awaitState(fine, "done");
            release.countDown();
            long after = shop.enqueue(Job.of("fine", "{}"));
            shop.awaitState(after, "done");
            assertThat(shop.rows("select state from postroom.job_done where id = " + id))
                    .containsExactly("failed");
        } finally {
            release.countDown();
        }
    }

    private DeadLetterRow onlyLetter() {
        List<DeadLetterRow> letters = shop.postroom.deadLetters().list(DeadLetterFilter.ALL, null, 10);
        assertThat(letters).hasSize(1);
        return letters.get(0);
    }
}
