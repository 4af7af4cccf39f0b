package io.postroom.sink.kafka;

import io.postroom.relay.Outcome;
import io.postroom.retry.Fault;
import org.apache.kafka.common.InvalidRecordException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.ClusterAuthorizationException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.InvalidPidMappingException;
import org.apache.kafka.common.errors.InvalidProducerEpochException;
import org.apache.kafka.common.errors.InvalidTimestampException;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.errors.OutOfOrderSequenceException;
import org.apache.kafka.common.errors.PolicyViolationException;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.errors.UnsupportedVersionException;

/**
 * What an error of the producer means: for the message, as an outcome, and for the producer, which may be spent.
 *
 * <p>The table in this module's README is this class in words; both are tested row by row.
 */
record Verdict(Outcome outcome, boolean producerSpent) {
    /** A message has no topic. */
    static final String NO_TOPIC = "kafka.no-topic";

    /** There is no producer, because one cannot be made. */
    static final String NO_PRODUCER = "kafka.no-producer";

    /** The producer has no room. */
    static final String BUFFER_FULL = "kafka.buffer-full";

    /** Too many messages wait. */
    static final String BUSY = "kafka.busy";

    /** The producer answers for nothing. */
    static final String NO_ANSWER = "kafka.no-answer";

    /** The sink ends. */
    static final String CLOSED = "kafka.closed";

    private static final int REASON_CHARS_MAX = 500;

    /** Judges an error that one message, bound for the given topic of the template, ran into. */
    static Verdict of(Throwable error, String topic, TopicTemplate template) {
        String fact = "could not write to Kafka topic " + topic + ": " + fact(error);
        if (isFaultOfTheMessage(error)) {
            return goOn(new Outcome.Rejected(fault(error, fact + "; trying again cannot help")));
        }
        if (isFatal(error)) {
            Fault fault = fault(error, fact + "; the producer is replaced and the message sent again");
            return new Verdict(new Outcome.Unavailable(fault, null), true);
        }
        if (isFaultOfTheTopic(error)) {
            Fault fault = fault(
                    reason(error),
                    fact + "; create the topic or grant the right to write to it, it will be sent again");
            // If every message goes to this topic, nothing can be sent and no message is to blame. If there are
            // other topics, they must not stand still because this one is missing.
            return goOn(template.isFixed() ? new Outcome.Unavailable(fault, null) : new Outcome.Retry(fault, null));
        }
        if (isFaultOfTheSink(error)) {
            return goOn(new Outcome.Unavailable(fault(error, fact + "; it will be sent again"), null));
        }
        // A bare KafkaException is either the innocent neighbour of an invalid record in its batch or a producer that
        // failed to get an id; a new producer is right for one and harmless for the other. Whatever else there may be,
        // its key alone waits instead of the whole sink.
        boolean bare = error.getClass() == KafkaException.class;
        return new Verdict(new Outcome.Retry(fault(error, fact + "; it will be sent again"), null), bare);
    }

    private static boolean isFaultOfTheMessage(Throwable error) {
        return error instanceof RecordTooLargeException
                || error instanceof SerializationException
                || error instanceof InvalidTopicException
                || error instanceof InvalidRecordException
                || error instanceof InvalidTimestampException
                || error instanceof PolicyViolationException;
    }

    private static boolean isFatal(Throwable error) {
        return error instanceof ProducerFencedException
                || error instanceof InvalidProducerEpochException
                || error instanceof OutOfOrderSequenceException
                || error instanceof InvalidPidMappingException
                || error instanceof UnsupportedVersionException
                || error instanceof ClusterAuthorizationException
                || error instanceof IllegalStateException;
    }

    private static boolean isFaultOfTheTopic(Throwable error) {
        Throwable reason = reason(error);
        return reason instanceof UnknownTopicOrPartitionException || reason instanceof TopicAuthorizationException;
    }

    /** When the producer has waited for a topic in vain, the cause tells a missing topic from a dead broker. */
    private static Throwable reason(Throwable error) {
        return error instanceof TimeoutException && error.getCause() != null ? error.getCause() : error;
    }

    /** The error class is {@code kafka.} and the name that Kafka's documentation has for the error. */
    private static Fault fault(Throwable error, String message) {
        return Fault.of("kafka." + error.getClass().getSimpleName(), message);
    }

    static Outcome unavailable(String errorClass, String reason) {
        return new Outcome.Unavailable(Fault.of(errorClass, reason), null);
    }

    private static boolean isFaultOfTheSink(Throwable error) {
        return error instanceof RetriableException
                || error instanceof AuthenticationException
                || error instanceof AuthorizationException
                || error instanceof InterruptException;
    }

    private static Verdict goOn(Outcome outcome) {
        return new Verdict(outcome, false);
    }

    /** The error in one line that fits a log and a console, redacted. */
    static String fact(Throwable error) {
        Throwable root = error;
        while (root.getCause() != null && root.getCause() != root) {
            root = root.getCause();
        }
        String text = error.getClass().getSimpleName() + ": " + error.getMessage()
                + (root == error ? "" : " (" + root.getClass().getSimpleName() + ": " + root.getMessage() + ")");
        // A fault redacts what it is given; some facts go to the log without becoming one.
        String line = Fault.of("kafka", text).message();
        return line.length() <= REASON_CHARS_MAX ? line : line.substring(0, REASON_CHARS_MAX) + "…";
    }
}
