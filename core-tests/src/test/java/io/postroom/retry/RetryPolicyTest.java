package io.postroom.retry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postroom.PostroomException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RetryPolicyTest {
    private static final Fault FAULT = Fault.of("http.500", "broken");

    /** All waits of a policy in seconds, until it gives up. */
    private static List<Double> waits(RetryPolicy policy) {
        List<Double> waits = new ArrayList<>();
        int attempts = 1;
        while (policy.decide(FAULT, attempts, null) instanceof Decision.TryAgain again) {
            waits.add(again.after().toNanos() / 1e9);
            attempts++;
        }
        return waits;
    }

    private static Duration after(RetryPolicy policy, int attempts, @Nullable Duration asked) {
        return ((Decision.TryAgain) policy.decide(FAULT, attempts, asked)).after();
    }

    private static RetryPolicy exact(UnaryOperator<RetryPolicy.Builder> settings) {
        return settings.apply(RetryPolicy.builder().jitter(0)).build();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "quick jitter=0                                    | 0 0 1 2",
                "linear                                            | 30 60 90 120 150 180 210 240 240",
                "quadratic                                         | 5 20 45 80 125 180 245 320 405",
                "quadratic attempts=30 immediate=2                 | 0 5 20 45 80 125 180 245 320 405 500 605 720 845 980 1125"
                        + " 1280 1445 1620 1805 2000 2205 2420 2645 2880 3125 3380 3600 3600",
                "exponential first=1s cap=5m attempts=12 jitter=0  | 1 2 4 8 16 32 64 128 256 300 300",
                "exponential first=250ms cap=1s attempts=5 jitter=0 immediate=2 | 0 0.25 0.5 1",
                "linear step=7s cap=7s attempts=4                  | 7 7 7",
                "linear attempts=1                                 | ''",
                "quick attempts=2                                  | 0",
            })
    void waitsExactlyAsLongAsThePolicySays(String text, String expected) {
        List<Double> seconds = expected.isEmpty()
                ? List.of()
                : Stream.of(expected.split(" ")).map(Double::valueOf).toList();
        assertThat(waits(RetryPolicy.parse(text))).isEqualTo(seconds);
    }

    @Test
    void theStandardPolicyIsQuick() {
        assertThat(RetryPolicy.STANDARD.describe())
                .isEqualTo(RetryPolicy.named("quick").describe());
        assertThat(RetryPolicy.STANDARD.attemptsMax()).isEqualTo(5);
    }

    @Test
    void aPolicyMadeByHandDoublesFromASecondUnlessTold() {
        assertThat(waits(exact(builder -> builder))).containsExactly(1.0, 2.0, 4.0, 8.0);
        assertThat(waits(exact(builder -> builder.linear(Duration.ofMillis(100)).immediate(2))))
                .containsExactly(0.0, 0.1, 0.2, 0.3);
        assertThat(waits(exact(builder -> builder.quadratic(Duration.ofDays(1)).cap(Duration.ofDays(5)))))
                .containsExactly(86_400.0, 4 * 86_400.0, 5 * 86_400.0, 5 * 86_400.0);
    }

    @ParameterizedTest
    @ValueSource(doubles = {0.01, 0.25, 0.5, 1})
    void jitterOnlyShortensAndUsesTheWholeSpread(double jitter) {
        RetryPolicy policy = RetryPolicy.builder()
                .linear(Duration.ofSeconds(100))
                .jitter(jitter)
                .build();
        Random random = new Random(42);
        double shortest = Double.MAX_VALUE;
        double longest = 0;
        double sum = 0;
        int draws = 20_000;
        for (int i = 0; i < draws; i++) {
            double wait = ((Decision.TryAgain) policy.decide(FAULT, 1, null, random))
                            .after()
                            .toNanos()
                    / 1e9;
            shortest = Math.min(shortest, wait);
            longest = Math.max(longest, wait);
            sum += wait;
        }
        double spread = 100 * jitter;
        assertThat(shortest).isBetween(100 - spread, 100 - spread * 0.99);
        assertThat(longest).isBetween(100 - spread * 0.01, 100.0);
        assertThat(sum / draws).isBetween(100 - spread * 0.52, 100 - spread * 0.48);
    }

    @Test
    void theSameRandomnessGivesTheSameWaits() {
        RetryPolicy policy = RetryPolicy.builder().build();
        assertThat(policy.decide(FAULT, 3, null, new Random(7)))
                .isEqualTo(policy.decide(FAULT, 3, null, new Random(7)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"exponential first=30d cap=30d", "linear step=30d cap=30d", "quadratic unit=30d cap=30d"})
    void noNumberOfAttemptsOverflows(String text) {
        RetryPolicy longest = RetryPolicy.parse(text + " attempts=1000 jitter=0");
        RetryPolicy shortest = RetryPolicy.parse(text.replaceFirst("30d", "1ms") + " attempts=1000 jitter=0");
        Duration before = Duration.ZERO;
        for (int attempts = 1; attempts < 1_000; attempts++) {
            assertThat(after(longest, attempts, null)).isEqualTo(RetryPolicy.CAP_MAX);
            Duration wait = after(shortest, attempts, null);
            assertThat(wait).isBetween(before, RetryPolicy.CAP_MAX);
            before = wait;
        }
        assertThat(longest.decide(FAULT, 1_000, null)).isInstanceOf(Decision.GiveUp.class);
        assertThat(longest.decide(FAULT, Integer.MAX_VALUE, null)).isInstanceOf(Decision.GiveUp.class);
    }

    @Test
    void saysHowManyAttemptsWereMadeWhenItGivesUp() {
        RetryPolicy policy = RetryPolicy.named("quick");
        assertThat(policy.decide(FAULT, 5, null)).isEqualTo(new Decision.GiveUp("5 of 5 attempts failed"));
        assertThat(policy.decide(FAULT, 7, Duration.ofSeconds(1)))
                .isEqualTo(new Decision.GiveUp("7 attempts failed, the retry policy allows 5"));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> policy.decide(FAULT, 0, null))
                .withMessage("attempts is 0, the least is 1: count the one that failed");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "1 | PT10S             | PT30S", // Shorter than the wait.
                "1 | PT31S             | PT31S",
                "1 | PT4M              | PT4M",
                "1 | PT1H              | PT4M", // Longer than the cap.
                "1 | P106751991167300D | PT4M",
                "3 | PT-1H             | PT1M30S",
                "3 | PT0S              | PT1M30S",
            })
    void whatTheDestinationAsksForWinsIfItIsLongerUpToTheCap(int attempts, Duration asked, Duration expected) {
        assertThat(after(RetryPolicy.named("linear"), attempts, asked)).isEqualTo(expected);
    }

    @Test
    void whatTheDestinationAsksForHoldsAlsoBetweenAttemptsAtOnceAndIsNeverShortened() {
        RetryPolicy policy = RetryPolicy.builder().immediate(3).jitter(1).build();
        for (int i = 0; i < 100; i++) {
            assertThat(after(policy, 1, Duration.ofMinutes(2))).isEqualTo(Duration.ofMinutes(2));
        }
    }

    @Test
    void aPolicyDoesNotChangeWithItsBuilder() {
        RetryPolicy.Builder builder = RetryPolicy.builder().attemptsMax(2);
        RetryPolicy policy = builder.build();
        builder.attemptsMax(9).on("http.500", Reaction.reject()).build();
        assertThat(policy.attemptsMax()).isEqualTo(2);
        assertThat(policy.decide(FAULT, 1, null)).isInstanceOf(Decision.TryAgain.class);
    }

    @Test
    void reportsEveryProblemAtOnce() {
        RetryPolicy other = RetryPolicy.builder().on("a", Reaction.reject()).build();
        assertThatThrownBy(() -> RetryPolicy.builder()
                        .attemptsMax(1_001)
                        .immediate(0)
                        .exponential(Duration.ZERO)
                        .linear(Duration.ofSeconds(Long.MAX_VALUE))
                        .cap(Duration.ofDays(31))
                        .jitter(Double.NaN)
                        .on("two words", Reaction.reject())
                        .on("b", Reaction.reject())
                        .on("b", Reaction.unavailable())
                        .on("c", Reaction.retry(other))
                        .build())
                .isInstanceOf(PostroomException.class)
                .hasMessage("could not make retry policy: attempts max is 1001, the range is 1 to 1000"
                        + "; immediate is 0, the range is 1 to 1000; 1 means that each attempt is waited for"
                        + "; cap is 31 d, the range is 1 ms to 30 d"
                        + "; waits are exponential and linear at once; choose one"
                        + "; exponential first is 0 s, the range is 1 ms to the cap, 30 d"
                        + "; linear step is 106751991167300 d 15 h 30 min 7 s, the range is 1 ms to the cap, 30 d"
                        + "; jitter is NaN, the range is 0 to 1"
                        + "; error class is 'two words', it must be 1 to 200 characters without spaces and control characters"
                        + "; b has two reactions"
                        + "; the policy for c has reactions of its own, which are never asked; leave them out")
                .extracting("code")
                .isEqualTo("retry.policy-invalid");
    }

    @Test
    void everyLimitCanBeReachedButNotPassed() {
        assertThat(exact(builder -> builder.attemptsMax(1)).attemptsMax()).isEqualTo(1);
        assertThat(exact(builder -> builder.attemptsMax(1_000)
                                .immediate(1_000)
                                .cap(Duration.ofDays(30))
                                .exponential(Duration.ofDays(30)))
                        .attemptsMax())
                .isEqualTo(1_000);
        assertThat(waits(exact(builder -> builder.cap(Duration.ofMillis(1)).linear(Duration.ofMillis(1)))))
                .containsOnly(0.001);
        for (UnaryOperator<RetryPolicy.Builder> wrong : List.<UnaryOperator<RetryPolicy.Builder>>of(
                builder -> builder.attemptsMax(0),
                builder -> builder.immediate(1_001),
                builder -> builder.cap(Duration.ofNanos(999_999)).linear(Duration.ofMillis(1)),
                builder -> builder.cap(Duration.ofDays(30).plusNanos(1)),
                builder -> builder.cap(Duration.ofSeconds(-5)),
                builder -> builder.linear(Duration.ofHours(1).plusMillis(1)),
                builder -> builder.jitter(-0.01),
                builder -> builder.jitter(1.01),
                builder -> {
                    for (int i = 0; i <= RetryPolicy.REACTIONS_MAX; i++) {
                        builder.on("error." + i, Reaction.reject());
                    }
                    return builder;
                })) {
            assertThatThrownBy(() -> wrong.apply(RetryPolicy.builder()).build())
                    .hasMessageMatching("could not make retry policy: [^;]+(; 1 means .*)?");
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "quick                       | quick: 3 at once, then 1 s doubling up to 5 min, 5 attempts, waits up to 25 % shorter",
                "linear                      | linear: 30 s × n up to 4 min, 10 attempts",
                "quadratic                   | quadratic: 5 s × n² up to 1 h, 10 attempts",
                "exponential first=90s cap=36h jitter=0 attempts=8 | 1 min 30 s doubling up to 1 d 12 h, 8 attempts",
                "linear step=1500ms          | 1 s 500 ms × n up to 4 min, 10 attempts",
                "quick attempts=2            | 2 attempts at once",
                "linear attempts=1           | 1 attempt",
            })
    void describesItselfInOneLine(String text, String expected) {
        assertThat(RetryPolicy.parse(text).describe()).isEqualTo(expected);
        assertThat(RetryPolicy.parse(text)).hasToString(expected);
    }

    @Test
    void describesItsReactionsUpToFive() {
        RetryPolicy.Builder builder = RetryPolicy.builder()
                .attemptsMax(2)
                .jitter(0)
                .on("a", Reaction.reject())
                .on("b", Reaction.unavailable())
                .on("c", Reaction.retry())
                .on("d", Reaction.retry(RetryPolicy.named("linear")));
        assertThat(builder.build().describe())
                .isEqualTo(
                        "1 s doubling up to 1 h, 2 attempts; a is rejected; b is unavailable; c is tried again as usual"
                                + "; d is tried again (linear: 30 s × n up to 4 min, 10 attempts)");
        builder.on("e", Reaction.reject()).on("f", Reaction.reject()).on("g", Reaction.reject());
        assertThat(builder.build().describe()).endsWith("; e is rejected; and 2 more reactions");
    }
}
