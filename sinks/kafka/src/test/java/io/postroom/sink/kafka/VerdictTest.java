package io.postroom.sink.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.postroom.relay.Outcome;
import java.util.ArrayList;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.kafka.clients.producer.BufferExhaustedException;
import org.apache.kafka.common.InvalidRecordException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.ClusterAuthorizationException;
import org.apache.kafka.common.errors.DisconnectException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.InvalidPidMappingException;
import org.apache.kafka.common.errors.InvalidProducerEpochException;
import org.apache.kafka.common.errors.InvalidTimestampException;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.errors.KafkaStorageException;
import org.apache.kafka.common.errors.LeaderNotAvailableException;
import org.apache.kafka.common.errors.NetworkException;
import org.apache.kafka.common.errors.NotEnoughReplicasAfterAppendException;
import org.apache.kafka.common.errors.NotEnoughReplicasException;
import org.apache.kafka.common.errors.NotLeaderOrFollowerException;
import org.apache.kafka.common.errors.OutOfOrderSequenceException;
import org.apache.kafka.common.errors.PolicyViolationException;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.kafka.common.errors.RecordBatchTooLargeException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.SaslAuthenticationException;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.errors.SslAuthenticationException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.errors.UnknownProducerIdException;
import org.apache.kafka.common.errors.UnknownServerException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.errors.UnsupportedVersionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The rows of the README's table, with those that a broker can hardly be made to produce. */
class VerdictTest {

    static Stream<Arguments> rejected() {
        return Stream.of(
                arguments(new RecordTooLargeException("x")),
                arguments(new SerializationException("x")),
                arguments(new InvalidTopicException("x")),
                arguments(new InvalidRecordException("x")),
                arguments(new InvalidTimestampException("x")),
                arguments(new PolicyViolationException("x")));
    }

    @ParameterizedTest
    @MethodSource
    void rejected(Exception error) {
        Verdict verdict = verdict(error, "events.{aggregateType}");
        assertThat(verdict.outcome()).isInstanceOf(Outcome.Rejected.class);
        assertThat(verdict.producerSpent()).isFalse();
    }

    static Stream<Arguments> unavailable() {
        return Stream.of(
                arguments(new TimeoutException("x")),
                arguments(new TimeoutException("x", new LeaderNotAvailableException("x"))),
                arguments(new BufferExhaustedException("x")),
                arguments(new NetworkException("x")),
                arguments(DisconnectException.INSTANCE),
                arguments(new NotEnoughReplicasException("x")),
                arguments(new NotEnoughReplicasAfterAppendException("x")),
                arguments(new NotLeaderOrFollowerException("x")),
                arguments(new KafkaStorageException("x")),
                arguments(new SaslAuthenticationException("x")),
                arguments(new SslAuthenticationException("x")));
    }

    @ParameterizedTest
    @MethodSource
    void unavailable(Exception error) {
        Verdict verdict = verdict(error, "events.{aggregateType}");
        assertThat(verdict.outcome()).isInstanceOf(Outcome.Unavailable.class);
        assertThat(verdict.producerSpent()).isFalse();
    }

    @Test
    void unavailableWhenTheLaneIsInterrupted() {
        Verdict verdict = verdict(new InterruptException(new InterruptedException()), "orders");
        assertThat(Thread.interrupted()).isTrue();
        assertThat(verdict.outcome()).isInstanceOf(Outcome.Unavailable.class);
        assertThat(verdict.producerSpent()).isFalse();
    }

    static Stream<Arguments> unavailableWithANewProducer() {
        return Stream.of(
                arguments(new ProducerFencedException("x")),
                arguments(new InvalidProducerEpochException("x")),
                arguments(new OutOfOrderSequenceException("x")),
                arguments(new UnknownProducerIdException("x")),
                arguments(new InvalidPidMappingException("x")),
                arguments(new UnsupportedVersionException("x")),
                arguments(new ClusterAuthorizationException("x")),
                arguments(new IllegalStateException("x")));
    }

    @ParameterizedTest
    @MethodSource
    void unavailableWithANewProducer(Exception error) {
        Verdict verdict = verdict(error, "events.{aggregateType}");
        assertThat(verdict.outcome()).isInstanceOf(Outcome.Unavailable.class);
        assertThat(verdict.producerSpent()).isTrue();
    }

    static Stream<Arguments> unavailableOrRetryByTheNumberOfTopics() {
        return Stream.of(
                arguments(new UnknownTopicOrPartitionException("x")),
                arguments(new TimeoutException("x", new UnknownTopicOrPartitionException("x"))),
                arguments(new TopicAuthorizationException(Set.of("orders"))));
    }

    @ParameterizedTest
    @MethodSource
    void unavailableOrRetryByTheNumberOfTopics(Exception error) {
        assertThat(verdict(error, "orders").outcome()).isInstanceOf(Outcome.Unavailable.class);
        assertThat(verdict(error, "events.{aggregateType}").outcome()).isInstanceOf(Outcome.Retry.class);
    }

    @Test
    void retryForWhateverElseThereIs() {
        assertThat(verdict(new UnknownServerException("x"), "orders")).satisfies(VerdictTest::isRetry);
        assertThat(verdict(new RecordBatchTooLargeException("x"), "orders")).satisfies(VerdictTest::isRetry);
        Verdict bare = verdict(new KafkaException("x"), "orders");
        assertThat(bare.outcome()).isInstanceOf(Outcome.Retry.class);
        assertThat(bare.producerSpent()).isTrue();
    }

    @Test
    void givesTheReasonInOneLineOfBoundedLength() {
        String fact =
                Verdict.fact(new TimeoutException("a\nb\u0000c" + "x".repeat(1000), new NetworkException("root")));
        assertThat(fact).startsWith("TimeoutException: a b c").hasSizeLessThan(510);
        assertThat(Verdict.fact(new TimeoutException("late", new NetworkException("cut"))))
                .isEqualTo("TimeoutException: late (NetworkException: cut)");
    }

    private static void isRetry(Verdict verdict) {
        assertThat(verdict.outcome()).isInstanceOf(Outcome.Retry.class);
        assertThat(verdict.producerSpent()).isFalse();
    }

    private static Verdict verdict(Exception error, String template) {
        return Verdict.of(error, "orders", TopicTemplate.parse(template, new ArrayList<>()));
    }
}
