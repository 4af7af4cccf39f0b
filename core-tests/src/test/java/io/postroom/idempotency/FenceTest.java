package io.postroom.idempotency;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.sql.SQLException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The fence of a key only grows, also when the key was forgotten in between. */
class FenceTest {
    private static final long PATIENCE_SECONDS = 20;

    private static Shop shop;

    @BeforeAll
    static void open() {
        shop = new Shop();
    }

    @AfterAll
    static void close() {
        shop.close();
    }

    /** Somebody else has begun the key anew and is in the middle of it. */
    private static final class Successor {
        private final CountDownLatch go = new CountDownLatch(1);
        private final CompletableFuture<Outcome> outcome;

        private Successor(Request request) throws InterruptedException {
            CountDownLatch inside = new CountDownLatch(1);
            outcome = CompletableFuture.supplyAsync(() -> {
                try {
                    return shop.idempotency.steps(request, steps -> {
                        inside.countDown();
                        assertThat(go.await(PATIENCE_SECONDS, TimeUnit.SECONDS)).isTrue();
                        return Answer.of(200, steps.step("mine", tx -> "successor"));
                    });
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            });
            assertThat(inside.await(PATIENCE_SECONDS, TimeUnit.SECONDS)).isTrue();
        }

        private Outcome end() throws Exception {
            go.countDown();
            return outcome.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        }
    }

    private static void forget(String key) {
        shop.database.execute("delete from postroom.idempotency_key where key = '" + key + "'");
    }

    @ParameterizedTest
    @ValueSource(strings = {"body", "other"})
    void aZombieDoesNotAnswerForAKeyThatWasBegunAnew(String body) throws Exception {
        String key = "answer-" + body;
        Successor[] successor = new Successor[1];
        Outcome zombie = shop.idempotency.steps(Shop.request(key), steps -> {
            forget(key);
            successor[0] = new Successor(Shop.request(key, body));
            return Answer.of(200, "zombie");
        });
        assertThat(zombie).isInstanceOf(body.equals("body") ? Outcome.Running.class : Outcome.Mismatch.class);
        assertThat(successor[0].end()).isEqualTo(new Outcome.Executed(Answer.of(200, "successor"), true));
    }

    @ParameterizedTest
    @ValueSource(strings = {"body", "other"})
    void aZombieDoesNoStepOfAKeyThatWasBegunAnew(String body) throws Exception {
        String key = "step-" + body;
        Successor[] successor = new Successor[1];
        Outcome zombie = shop.idempotency.steps(Shop.request(key), steps -> {
            forget(key);
            successor[0] = new Successor(Shop.request(key, body));
            return Answer.of(200, steps.step("mine", tx -> {
                Shop.insert(tx, key, "zombie");
                return "zombie";
            }));
        });
        assertThat(zombie).isInstanceOf(Outcome.Running.class);
        assertThat(shop.placed(key)).isZero();
        assertThat(successor[0].end()).isEqualTo(new Outcome.Executed(Answer.of(200, "successor"), true));
    }

    /** A zombie that throws gives up what is not its own any more. */
    @ParameterizedTest
    @ValueSource(strings = {"body", "other"})
    void aZombieDoesNotGiveUpAKeyThatWasBegunAnew(String body) throws Exception {
        String key = "throw-" + body;
        Successor[] successor = new Successor[1];
        assertThatThrownBy(() -> shop.idempotency.steps(Shop.request(key), steps -> {
                    forget(key);
                    successor[0] = new Successor(Shop.request(key, body));
                    throw new SQLException("zombie");
                }))
                .hasMessage("zombie");
        assertThat(shop.keys("key = '" + key + "' and leased_until > clock_timestamp()"))
                .isEqualTo(1);
        assertThat(successor[0].end()).isEqualTo(new Outcome.Executed(Answer.of(200, "successor"), true));
    }
}
