package io.postroom.sink.kafka;

import io.postroom.message.Envelope;
import io.postroom.message.Message;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.jspecify.annotations.Nullable;

/**
 * Writes a message as a Kafka record: a CloudEvent in binary mode, with the payload as value, byte for byte.
 *
 * <p>The message's own headers travel as plain headers under their names. A name that belongs to CloudEvents would change the
 * event for its reader, so such a header travels as {@code header.<name>}, and so does one that begins with {@code header.},
 * which keeps every name apart from every other.
 */
final class CloudEventRecord {
    private static final String SPEC_VERSION = "1.0";
    private static final String PREFIX = "ce_";
    private static final String CONTENT_TYPE = "content-type";
    private static final String RENAMED = "header.";
    private static final String SEQUENCE_ZEROS = "0".repeat(19);

    private CloudEventRecord() {}

    static ProducerRecord<byte[], byte[]> of(Envelope envelope, String topic, String source) {
        Message message = envelope.message();
        // Without a timestamp of our own the record gets the time of sending. The time of the event is in ce_time: as
        // the
        // record's timestamp it would let the broker's retention delete a replayed message at once.
        return new ProducerRecord<>(
                topic, null, null, bytes(message.aggregateId()), bytes(message.payload()), headers(envelope, source));
    }

    private static Headers headers(Envelope envelope, String source) {
        Message message = envelope.message();
        Headers headers = new RecordHeaders();
        attribute(headers, "specversion", SPEC_VERSION);
        attribute(headers, "id", message.id().toString());
        attribute(headers, "source", source);
        attribute(headers, "type", message.eventType());
        attribute(headers, "time", message.occurredAt().toString());
        attribute(headers, "subject", message.aggregateId());
        headers.add(CONTENT_TYPE, bytes("application/json"));
        attribute(headers, "partitionkey", message.aggregateId());
        attribute(headers, "sequence", sequence(envelope.position()));
        attribute(headers, "tenantid", message.tenantId());
        attribute(headers, "aggregatetype", message.aggregateType());
        attribute(headers, "aggregateversion", text(message.aggregateVersion()));
        attribute(headers, "eventversion", text(message.eventVersion()));
        // The trace in which the event was created; the plain headers of the same names are the message's own, below.
        attribute(headers, "traceparent", message.headers().get("traceparent"));
        attribute(headers, "tracestate", message.headers().get("tracestate"));
        // Sorted, so that the same message is the same record each time.
        for (Map.Entry<String, String> own : new TreeMap<>(message.headers()).entrySet()) {
            headers.add(plainName(own.getKey()), bytes(own.getValue()));
        }
        return headers;
    }

    private static void attribute(Headers headers, String name, @Nullable String value) {
        // CloudEvents knows no empty attribute.
        if (value != null && !value.isEmpty()) {
            headers.add(PREFIX + name, bytes(value));
        }
    }

    /** As wide as the greatest long, so that sequences sort as text. */
    private static String sequence(long position) {
        String digits = Long.toString(position);
        return SEQUENCE_ZEROS.substring(digits.length()) + digits;
    }

    /** Compares without case, because readers of CloudEvents do. */
    private static String plainName(String name) {
        String lower = name.toLowerCase(Locale.ROOT);
        boolean reserved = lower.startsWith(PREFIX) || lower.startsWith(RENAMED) || lower.equals(CONTENT_TYPE);
        return reserved ? RENAMED + name : name;
    }

    private static @Nullable String text(@Nullable Number number) {
        return number == null ? null : number.toString();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
