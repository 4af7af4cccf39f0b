package io.postroom.idempotency;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postroom.postgres.Schema;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What a completer does beside those that fail, and with those that are gone. */
class CompleterTest {
    private static Shop shop;

    @BeforeAll
    static void open() {
        shop = new Shop();
    }

    @AfterAll
    static void close() {
        shop.close();
    }

    private static void left(String scope, int count) {
        for (int i = 0; i < count; i++) {
            shop.idempotency.steps(
                    new Request(IdempotencyKey.of(scope, "k-" + (1000 + i)), Shop.hash("")),
                    steps -> Answer.of(503, steps.step("one", tx -> "1")));
        }
    }

    /** Somebody forgets a key that the round has read already. */
    @Test
    void beginsNothingAnew() {
        left("complete.forgotten", 2);
        List<String> done = new ArrayList<>();
        try (Completer completer = shop.idempotency.completer("complete.forgotten", KeyPolicy.STANDARD, steps -> {
            done.add(steps.key().key());
            shop.database.execute("delete from postroom.idempotency_key where scope = 'complete.forgotten'"
                    + " and key <> '" + steps.key().key() + "'");
            return Answer.of(200, "");
        })) {
            completer.runOnce();
        }
        assertThat(done).hasSize(1);
        assertThat(shop.keys("scope = 'complete.forgotten'")).isEqualTo(1);
    }

    /** As many as a round holds fail each time; the one behind them gets its turn, and they get theirs again. */
    @Test
    void whatFailsEachTimeDoesNotStandBeforeTheOthers() {
        left("complete.poison", Completer.ROUND_MAX + 1);
        String last = "k-" + (1000 + Completer.ROUND_MAX);
        AtomicInteger tried = new AtomicInteger();
        Procedure<RuntimeException> poison = steps -> {
            tried.incrementAndGet();
            if (!steps.key().key().equals(last)) {
                throw new IllegalStateException("poison");
            }
            steps.step("one", tx -> "1");
            return Answer.of(200, "");
        };
        try (Completer completer = completer("complete.poison", poison, Duration.ZERO)) {
            assertThat(completer.runOnce()).isZero();
            assertThat(completer.runOnce()).isEqualTo(1);
            assertThat(completer.runOnce()).isZero();
        }
        assertThat(tried).hasValue(2 * Completer.ROUND_MAX + 1);
    }

    @Test
    void whatFailsIsLeftAloneForAWhile() {
        left("complete.later", 3);
        AtomicInteger tried = new AtomicInteger();
        Procedure<RuntimeException> failing = steps -> {
            tried.incrementAndGet();
            throw new IllegalStateException("not yet");
        };
        try (Completer completer = completer("complete.later", failing, Duration.ofHours(1))) {
            for (int round = 0; round < 5; round++) {
                completer.runOnce();
            }
        }
        assertThat(tried).hasValue(3);
    }

    private static Completer completer(String scope, Procedure<?> procedure, Duration pause) {
        return new Completer(
                shop.idempotency,
                shop.database.postroom().database(),
                new StepTable(Schema.POSTROOM),
                scope,
                KeyPolicy.STANDARD,
                procedure,
                pause);
    }

    @Test
    void anErrorEndsNeitherTheRoundNorTheSchedule() throws InterruptedException {
        left("complete.error", 2);
        CountDownLatch tried = new CountDownLatch(6);
        try (Completer completer =
                shop.idempotency.completer("complete.error", KeyPolicy.STANDARD.lease(KeyPolicy.LEASE_MIN), steps -> {
                    tried.countDown();
                    throw new StackOverflowError("deep");
                })) {
            completer.start(Duration.ofMillis(10));
            assertThat(tried.await(20, TimeUnit.SECONDS)).isTrue();
        }
    }

    /** A client without a timeout, say. More hang than there are threads: they are interrupted, and the others get their turn. */
    @Test
    void whatHangsIsInterruptedAndHoldsUpNoOther() throws InterruptedException {
        int hanging = Completer.THREADS + 1;
        left("complete.hung", hanging + 3);
        CountDownLatch never = new CountDownLatch(1);
        AtomicInteger interrupted = new AtomicInteger();
        KeyPolicy policy = KeyPolicy.STANDARD.lease(KeyPolicy.LEASE_MIN).runtimeMax(Duration.ofSeconds(1));
        try (Completer completer = shop.idempotency.completer("complete.hung", policy, steps -> {
            if (steps.key().key().compareTo("k-" + (1000 + hanging)) < 0) {
                try {
                    never.await();
                } catch (InterruptedException e) {
                    interrupted.incrementAndGet();
                    throw e;
                }
            }
            return Answer.of(200, "");
        })) {
            completer.start(Duration.ofMillis(10));
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
            while (shop.keys("scope = 'complete.hung' and state = 'completed'") < 3) {
                assertThat(System.nanoTime()).as("the others are done").isLessThan(deadline);
                never.await(20, TimeUnit.MILLISECONDS);
            }
        }
        assertThat(interrupted).hasPositiveValue();
        assertThat(shop.keys("scope = 'complete.hung' and state = 'running'")).isEqualTo(hanging);
    }

    /** Whoever waits for the procedure of a request gets its thread back, and without an interrupt that was meant for the procedure. */
    @Test
    void aRequestThatHangsIsInterruptedToo() {
        KeyPolicy policy = KeyPolicy.STANDARD.lease(KeyPolicy.LEASE_MIN).runtimeMax(Duration.ofSeconds(1));
        assertThatThrownBy(() -> shop.idempotency.steps(
                        new Request(IdempotencyKey.of("complete.request", "k"), Shop.hash("")), policy, steps -> {
                            new CountDownLatch(1).await();
                            return Answer.of(200, "");
                        }))
                .isInstanceOf(InterruptedException.class);
        assertThat(Thread.currentThread().isInterrupted()).isFalse();
        assertThat(shop.keys("scope = 'complete.request' and state = 'running'"))
                .isEqualTo(1);
    }
}
