package io.postroom.source.kafka;

import io.postroom.message.Envelope;
import io.postroom.message.InvalidMessageException;
import io.postroom.message.Message;
import io.postroom.message.MessageRules;
import io.postroom.message.OwnHeaders;
import io.postroom.source.Arrival;
import io.postroom.source.Unreadable;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Reads records as the Kafka sink writes them: CloudEvents in binary mode, with the aggregate and its version as extensions.
 *
 * <p>What is none of that becomes an arrival that cannot be read, with all there was, in Base64. Headers beside those of the event that no
 * message can have are left out, which is said once for each name; of headers of one name the last counts. Safe for use by many threads.
 */
final class RecordReader {
    private static final Logger LOG = LoggerFactory.getLogger(RecordReader.class);
    private static final String NOT_TEXT = "\0";
    private static final String PREFIX = "ce_";
    private static final String RENAMED = "header.";
    private static final String CONTENT_TYPE = "content-type";
    /** The aggregate type and event type of what is no message. */
    private static final String RECORD = "kafka.record";

    /** How many names of headers that were left out are remembered. */
    private static final int TOLD_MAX = 100;

    private final String consumer;
    private final Set<String> told = ConcurrentHashMap.newKeySet();

    RecordReader(String consumer) {
        this.consumer = consumer;
    }

    /** Something is missing or wrong; the text says what. */
    private static final class NoMessageException extends Exception {
        private static final long serialVersionUID = 1L;

        NoMessageException(String why) {
            super(why);
        }
    }

    Arrival read(ConsumerRecord<byte[], byte[]> record) {
        String place = record.topic() + "/" + record.partition() + "@" + record.offset();
        try {
            Map<String, String> attributes = new HashMap<>();
            Map<String, String> found = new LinkedHashMap<>();
            split(record, attributes, found);
            Map<String, String> own = MessageRules.fitting(found);
            found.keySet().stream().filter(name -> !own.containsKey(name)).forEach(name -> tell(name, place));
            String sequence = attributes.get("sequence");
            long position = sequence == null ? record.offset() + 1 : number("ce_sequence", sequence, 1, Long.MAX_VALUE);
            Message message = message(record, attributes, own);
            MessageRules.checkReceived(message);
            return new Arrival(place, new Envelope(position, message, 1), sequence != null, null);
        } catch (NoMessageException | InvalidMessageException e) {
            return new Arrival(
                    place,
                    new Envelope(record.offset() + 1, whole(record, place), 1),
                    false,
                    Unreadable.fault(e.getMessage()));
        }
    }

    /**
     * What was no message, read once more from what its dead letter holds: for a reader that knows better, or after an operator's patch.
     * What is not there in the form in which it was buried cannot be read.
     */
    Arrival again(Message whole) {
        try {
            JsonNode content = JsonMapper.shared().readTree(whole.payload());
            return read(record(content));
        } catch (JacksonException | IllegalArgumentException e) {
            return new Arrival(
                    whole.aggregateId(),
                    new Envelope(1, whole, 1),
                    false,
                    Unreadable.fault("its dead letter does not hold a record: "
                            + (e instanceof JacksonException ? "the payload is no JSON" : e.getMessage())
                            + "; patch it, or discard it"));
        }
    }

    private static ConsumerRecord<byte[], byte[]> record(JsonNode content) {
        byte[] key = bytes(content, "keyBase64");
        byte[] value = bytes(content, "valueBase64");
        RecordHeaders headers = new RecordHeaders();
        for (JsonNode header : content.path("headers")) {
            headers.add(required(header, "name").asString(), bytes(header, "valueBase64"));
        }
        return new ConsumerRecord<>(
                required(content, "topic").asString(),
                required(content, "partition").asInt(),
                required(content, "offset").asLong(),
                content.path("timestamp").asLong(ConsumerRecord.NO_TIMESTAMP),
                TimestampType.CREATE_TIME,
                key == null ? ConsumerRecord.NULL_SIZE : key.length,
                value == null ? ConsumerRecord.NULL_SIZE : value.length,
                key,
                value,
                headers,
                Optional.empty());
    }

    private static JsonNode required(JsonNode node, String name) {
        JsonNode found = node.path(name);
        boolean isText = name.equals("topic") || name.equals("name");
        if (isText ? !found.isString() : !found.isIntegralNumber()) {
            throw new IllegalArgumentException(name + " is missing, or not " + (isText ? "text" : "a number"));
        }
        return found;
    }

    private static byte @Nullable [] bytes(JsonNode node, String name) {
        JsonNode found = node.path(name);
        if (found.isNull() || found.isMissingNode()) {
            return null;
        }
        try {
            return Base64.getDecoder().decode(found.asString());
        } catch (IllegalArgumentException | JacksonException e) {
            throw new IllegalArgumentException(name + " is not Base64", e);
        }
    }

    /** Attributes of the event, without their prefix, and the message's own headers under their own names. */
    private void split(ConsumerRecord<byte[], byte[]> record, Map<String, String> attributes, Map<String, String> own)
            throws NoMessageException {
        for (Header header : record.headers()) {
            String name = header.key();
            String lower = name.toLowerCase(Locale.ROOT);
            if (lower.startsWith(PREFIX)) {
                attributes.put(lower.substring(PREFIX.length()), text("header " + name, header.value()));
            } else if (!lower.equals(CONTENT_TYPE)) {
                String given = lower.startsWith(RENAMED) ? name.substring(RENAMED.length()) : name;
                own.put(given, OwnHeaders.has(given) ? text("header " + name, header.value()) : lenient(header));
            }
        }
    }

    /** What is no text has a character that no header of a message may have. */
    private static String lenient(Header header) {
        byte[] bytes = header.value();
        String text = bytes == null ? NOT_TEXT : new String(bytes, StandardCharsets.UTF_8);
        return bytes != null && Arrays.equals(text.getBytes(StandardCharsets.UTF_8), bytes) ? text : NOT_TEXT;
    }

    private void tell(String name, String place) {
        if (told.size() < TOLD_MAX && told.add(name)) {
            LOG.warn(
                    "source {} leaves out header {} of {} and of others: no message can have it",
                    consumer,
                    JsonMapper.shared().writeValueAsString(name.substring(0, Math.min(100, name.length()))),
                    place);
        }
    }

    private static Message message(
            ConsumerRecord<byte[], byte[]> record, Map<String, String> attributes, Map<String, String> own)
            throws NoMessageException {
        if (!"1.0".equals(attributes.get("specversion"))) {
            throw new NoMessageException(
                    "header ce_specversion is " + shown(attributes.get("specversion")) + ", it must be 1.0");
        }
        String version = attributes.get("aggregateversion");
        return new Message(
                id(required("id", attributes)),
                attributes.get("tenantid"),
                required("aggregatetype", attributes),
                required("subject", attributes),
                version == null ? null : number("ce_aggregateversion", version, 0, Long.MAX_VALUE),
                required("type", attributes),
                (int) number("ce_eventversion", attributes.getOrDefault("eventversion", "1"), 1, Integer.MAX_VALUE),
                text("the value", record.value()),
                own,
                time(required("time", attributes)),
                null);
    }

    private static String required(String name, Map<String, String> attributes) throws NoMessageException {
        String value = attributes.get(name);
        if (value == null) {
            throw new NoMessageException("there is no header " + PREFIX + name);
        }
        return value;
    }

    private static UUID id(String text) throws NoMessageException {
        try {
            UUID id = UUID.fromString(text);
            if (id.toString().equalsIgnoreCase(text)) {
                return id;
            }
        } catch (IllegalArgumentException e) {
            // Said below.
        }
        throw new NoMessageException("header ce_id is " + shown(text) + ", it must be a UUID");
    }

    private static Instant time(String text) throws NoMessageException {
        try {
            return Instant.parse(text);
        } catch (DateTimeException e) {
            throw new NoMessageException(
                    "header ce_time is " + shown(text) + ", it must be a time such as 2026-01-31T12:00:00Z");
        }
    }

    private static long number(String name, String text, long least, long most) throws NoMessageException {
        try {
            long number = Long.parseLong(text);
            if (number >= least && number <= most) {
                return number;
            }
        } catch (NumberFormatException e) {
            // Said below.
        }
        throw new NoMessageException(
                "header " + name + " is " + shown(text) + ", it must be a number of at least " + least);
    }

    private static String text(String what, byte @Nullable [] bytes) throws NoMessageException {
        if (bytes == null) {
            throw new NoMessageException(what + " is null");
        }
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString();
        } catch (CharacterCodingException e) {
            throw new NoMessageException(what + " is not UTF-8");
        }
    }

    private static String shown(@Nullable String text) {
        return text == null ? "missing" : "'" + text.substring(0, Math.min(60, text.length())) + "'";
    }

    /** All there was, so that nothing is lost. The id is made of the place: the same record is the same dead letter. */
    private static Message whole(ConsumerRecord<byte[], byte[]> record, String place) {
        Map<String, Object> content = new LinkedHashMap<>();
        content.put("topic", record.topic());
        content.put("partition", record.partition());
        content.put("offset", record.offset());
        content.put("timestamp", record.timestamp());
        content.put("keyBase64", base64(record.key()));
        content.put("valueBase64", base64(record.value()));
        List<Map<String, @Nullable String>> headers = new ArrayList<>();
        record.headers().forEach(header -> {
            Map<String, @Nullable String> pair = new LinkedHashMap<>();
            pair.put("name", header.key());
            pair.put("valueBase64", base64(header.value()));
            headers.add(pair);
        });
        content.put("headers", headers);
        return Message.about(RECORD, place)
                .id(UUID.nameUUIDFromBytes(place.getBytes(StandardCharsets.UTF_8)))
                .event(RECORD)
                .payload(JsonMapper.shared().writeValueAsString(content))
                .build();
    }

    private static @Nullable String base64(byte @Nullable [] bytes) {
        return bytes == null ? null : Base64.getEncoder().encodeToString(bytes);
    }
}
