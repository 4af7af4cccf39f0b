package io.postroom.retry;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.net.http.HttpConnectTimeoutException;
import java.sql.BatchUpdateException;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class ReactionTest {

    private static RetryPolicy.Builder linear(Duration step) {
        return RetryPolicy.builder().linear(step).jitter(0);
    }

    static Stream<Throwable> away() {
        return Stream.of(
                new ConnectException("refused"),
                new NoRouteToHostException("no route"),
                new UnknownHostException("db"),
                new HttpConnectTimeoutException("late"),
                new SQLTransientConnectionException("pool is empty"),
                new SQLException("closed", "08003"),
                new SQLException("broken", "08006"),
                new SQLException("terminated", "57P01"),
                new SQLException("crashed", "57P02"),
                new SQLException("starting", "57P03"),
                new SQLException("too many", "53300"),
                new CompletionException(new ConnectException()),
                new UncheckedIOException(new ConnectException()),
                new BatchUpdateException("batch", "08006", 0, new int[0], null),
                new IllegalStateException("order 7", new RuntimeException(new SQLException("broken", "08006"))));
    }

    @ParameterizedTest
    @MethodSource("away")
    void aDestinationThatIsNotThereIsUnavailableHoweverManyAttempts(Throwable thrown) {
        Fault fault = Fault.of(thrown);
        for (String name : List.of("quick", "linear", "quadratic")) {
            for (int attempts : new int[] {1, 5, 10, 1_000}) {
                assertThat(RetryPolicy.named(name).decide(fault, attempts, null))
                        .isEqualTo(new Decision.Unavailable());
            }
        }
        RetryPolicy without = RetryPolicy.builder().standardReactions(false).build();
        assertThat(without.decide(fault, 1, null)).isInstanceOf(Decision.TryAgain.class);
        assertThat(without.decide(fault, 5, null)).isInstanceOf(Decision.GiveUp.class);
    }

    @Test
    void whatADestinationThatIsThereAnswersIsTriedAgain() {
        for (Throwable thrown : List.of(
                new IOException("reset"),
                new SocketTimeoutException("read timed out"),
                new SQLException("duplicate", "23505"),
                new SQLException("deadlock", "40P01"),
                new SQLException("cancelled", "57014"),
                new SQLException("idle", "57P05"),
                new SQLException("no state"),
                new SQLException("odd state", "0"),
                new OutOfMemoryError("heap"))) {
            assertThat(RetryPolicy.STANDARD.decide(Fault.of(thrown), 1, null))
                    .as(thrown.toString())
                    .isEqualTo(new Decision.TryAgain(Duration.ZERO));
        }
    }

    @Test
    void reactsToAWordAClassASubclassACauseAndASqlState() {
        RetryPolicy policy = RetryPolicy.builder()
                .on("http.410", Reaction.reject())
                .on("http.503", Reaction.unavailable())
                .on(IllegalArgumentException.class, Reaction.reject())
                .on("sqlstate.23", Reaction.reject())
                .on(
                        "sqlstate.40001",
                        Reaction.retry(linear(Duration.ofMillis(10)).build()))
                .build();
        assertThat(policy.decide(Fault.of("http.410", "gone"), 1, null))
                .isEqualTo(new Decision.GiveUp("the retry policy rejects http.410", true));
        assertThat(policy.decide(Fault.of("http.503", "busy"), 1_000, null)).isEqualTo(new Decision.Unavailable());
        assertThat(policy.decide(Fault.of("http.500", "broken"), 1, null)).isInstanceOf(Decision.TryAgain.class);
        for (Throwable thrown : List.of(
                new IllegalArgumentException("bad"),
                new NumberFormatException("bad"),
                new IllegalStateException("outside", new NumberFormatException("inside")))) {
            assertThat(policy.decide(Fault.of(thrown), 1, null))
                    .isEqualTo(
                            new Decision.GiveUp("the retry policy rejects java.lang.IllegalArgumentException", true));
        }
        assertThat(policy.decide(Fault.of(new SQLException("duplicate", "23505")), 1, null))
                .isEqualTo(new Decision.GiveUp("the retry policy rejects sqlstate.23", true));
        assertThat(policy.decide(Fault.of(new SQLException("again", "40001")), 2, null))
                .isEqualTo(new Decision.TryAgain(Duration.ofMillis(20)));
    }

    @Test
    void theNearestReactionWins() {
        RetryPolicy policy = RetryPolicy.builder()
                .on(Throwable.class, Reaction.reject())
                .on(IOException.class, Reaction.retry())
                .on(IllegalStateException.class, Reaction.unavailable())
                .build();
        assertThat(policy.decide(Fault.of(new ArithmeticException()), 1, null)).isInstanceOf(Decision.GiveUp.class);
        assertThat(policy.decide(Fault.of(new SocketTimeoutException()), 1, null))
                .isInstanceOf(Decision.TryAgain.class);
        // A standard reaction is nearer than the one to a superclass: an outage buries nothing by accident.
        assertThat(policy.decide(Fault.of(new ConnectException()), 1, null)).isEqualTo(new Decision.Unavailable());
        assertThat(policy.decide(Fault.of(new RuntimeException("call failed", new ConnectException())), 1, null))
                .isEqualTo(new Decision.Unavailable());
        // The exception itself before its cause.
        assertThat(policy.decide(Fault.of(new IllegalStateException("x", new IOException())), 1, null))
                .isEqualTo(new Decision.Unavailable());
        assertThat(policy.decide(
                        Fault.of(new ArithmeticException() {
                            private static final long serialVersionUID = 1L;

                            @Override
                            public Throwable getCause() {
                                return new IOException();
                            }
                        }),
                        1,
                        null))
                .isInstanceOf(Decision.TryAgain.class);
    }

    @Test
    void aStandardReactionCanBeTakenBackOrReplaced() {
        RetryPolicy policy = linear(Duration.ofSeconds(3))
                .on(ConnectException.class, Reaction.retry())
                .on("sqlstate.08", Reaction.reject())
                .on(UnknownHostException.class, Reaction.retry(RetryPolicy.named("quadratic")))
                .build();
        assertThat(policy.decide(Fault.of(new ConnectException()), 2, null))
                .isEqualTo(new Decision.TryAgain(Duration.ofSeconds(6)));
        assertThat(policy.decide(Fault.of(new SQLException("broken", "08006")), 1, null))
                .isEqualTo(new Decision.GiveUp("the retry policy rejects sqlstate.08", true));
        assertThat(policy.decide(Fault.of(new NoRouteToHostException()), 1, null))
                .isEqualTo(new Decision.Unavailable());
        // The other policy's waits, attempts and cap, but not its standard reactions.
        Fault unknown = Fault.of(new UnknownHostException());
        assertThat(policy.decide(unknown, 9, null)).isEqualTo(new Decision.TryAgain(Duration.ofSeconds(405)));
        assertThat(policy.decide(unknown, 9, Duration.ofDays(1))).isEqualTo(new Decision.TryAgain(Duration.ofHours(1)));
        assertThat(policy.decide(unknown, 10, null)).isEqualTo(new Decision.GiveUp("10 of 10 attempts failed"));
    }

    @Test
    void onlyAReactionToTheVeryErrorClassOverrulesADestination() {
        RetryPolicy policy = linear(Duration.ofSeconds(3))
                .on(Throwable.class, Reaction.reject())
                .on("http.429", Reaction.retry())
                .build();
        assertThat(policy.overrule(Fault.of("http.429", "too many"), 2, Duration.ofSeconds(7)))
                .contains(new Decision.TryAgain(Duration.ofSeconds(7)));
        assertThat(policy.overrule(Fault.of("http.503", "down"), 1, null)).isEmpty();
        assertThat(policy.overrule(Fault.of(new ConnectException()), 1, null)).isEmpty();
    }

    @Test
    void onlyWhatAStandardReactionTakesForTheDestinationsMayBeTheMessagesOwn() {
        RetryPolicy policy = linear(Duration.ofSeconds(3))
                .on(UnknownHostException.class, Reaction.unavailable())
                .build();
        Fault refused = Fault.of(new IllegalStateException("call failed", new ConnectException()));
        assertThat(policy.asOwnFault(refused, 2, null)).contains(new Decision.TryAgain(Duration.ofSeconds(6)));
        assertThat(policy.asOwnFault(refused, policy.attemptsMax(), null)).get().isInstanceOf(Decision.GiveUp.class);
        assertThat(policy.asOwnFault(Fault.of(new UnknownHostException()), 1, null))
                .as("somebody has said so")
                .isEmpty();
        assertThat(policy.asOwnFault(Fault.of(new IllegalStateException()), 1, null))
                .isEmpty();
    }
}
