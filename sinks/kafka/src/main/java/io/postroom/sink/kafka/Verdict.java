package io.postroom.sink.kafka;

import io.postroom.relay.Outcome;
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
    private static final int REASON_CHARS_MAX = 500;

    /** Judges an error that one message, bound for the given topic of the template, ran into. */
    static Verdict of(Throwable error, String topic, TopicTemplate template) {
        String fact = "could not write to Kafka topic " + topic + ": " + fact(error);
        if (isFaultOfTheMessage(error)) {
            return goOn(Outcome.rejected(fact + "; trying again cannot help"));
        }
        if (isFatal(error)) {
            return new Verdict(
                    Outcome.unavailable(fact + "; the producer is replaced and the message sent again"), true);
        }
        if (isFaultOfTheTopic(error)) {
            String advice = "; create the topic or grant the right to write to it, it will be sent again";
            // If every message goes to this topic, nothing can be sent and no message is to blame. If there
            // are
            // other topics, they must not stand still because this one is missing.
            return goOn(template.isFixed() ? Outcome.unavailable(fact + advice) : Outcome.retry(fact + advice));
        }
        if (isFaultOfTheSink(error)) {
            return goOn(Outcome.unavailable(fact + "; it will be sent again"));
        }
        // A bare KafkaException is either the innocent neighbour of an invalid record in its batch or a producer that
        // failed
        // to get an id; a new producer is right for one and harmless for the other. Whatever else there may be, its key
        // alone
        // waits instead of the whole sink.
        boolean bare = error.getClass() == KafkaException.class;
        return new Verdict(Outcome.retry(fact + "; it will be sent again"), bare);
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
        // What the producer throws when it waited for a topic in vain: the cause tells a missing topic from a dead
        // broker.
        Throwable reason = error instanceof TimeoutException && error.getCause() != null ? error.getCause() : error;
        return reason instanceof UnknownTopicOrPartitionException || reason instanceof TopicAuthorizationException;
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

    /** The error in one line that fits a log and a console. */
    static String fact(Throwable error) {
        Throwable root = error;
        while (root.getCause() != null && root.getCause() != root) {
            root = root.getCause();
        }
        String text = error.getClass().getSimpleName() + ": " + error.getMessage()
                + (root == error ? "" : " (" + root.getClass().getSimpleName() + ": " + root.getMessage() + ")");
        String line = text.replaceAll("\\p{Cntrl}+", " ").strip();
        return line.length() <= REASON_CHARS_MAX ? line : line.substring(0, REASON_CHARS_MAX) + "…";
    }
}
