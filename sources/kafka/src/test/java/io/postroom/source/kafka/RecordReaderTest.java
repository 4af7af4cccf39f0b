package io.postroom.source.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.message.Envelope;
import io.postroom.message.Message;
import io.postroom.message.PayloadHash;
import io.postroom.retry.Fault;
import io.postroom.sink.kafka.KafkaSink;
import io.postroom.sink.kafka.testing.KafkaBroker;
import io.postroom.source.Arrival;
import io.postroom.testkit.Messages;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RecordReaderTest {
    private static final UUID ID = UUID.fromString("019a8f6e-3c1d-7b42-9d7e-0c5b7a1f2e33");

    private static final RecordReader READER = new RecordReader("test");

    @Test
    void whatTheSinkWritesComesBackAsItWas() throws Exception {
        List<Message> messages = new ArrayList<>();
        Messages.awkwardPayloads().forEach((what, payload) -> {
            // A record has room for 1 MB and not for its headers besides; the great numbers no outbox takes.
            if (!Set.of("1 MB", "big numbers").contains(what)) {
                messages.add(Messages.order("a", payload));
            }
        });
        messages.add(Message.about("order", "Zoë")
                .event("Placed")
                .eventVersion(3)
                .aggregateVersion(0)
                .tenantId("acme")
                .payload("{}")
                .header("traceparent", "00-1")
                .header("ce_id", "mine")
                .header("header.x", "y")
                .header("Content-Type", "z")
                .header("postroom-replay", "20")
                .header(PayloadHash.HEADER, "0f".repeat(32))
                .occurredAt(Instant.parse("2026-01-02T03:04:05.678901Z"))
                .build());
        try (KafkaBroker broker = KafkaBroker.start()) {
            broker.createTopic("t", 1);
            try (KafkaSink sink = KafkaSink.builder()
                    .bootstrapServers(broker.bootstrapServers())
                    .topic("t")
                    .build()) {
                for (int i = 0; i < messages.size(); i++) {
                    sink.send(new Envelope(100 + i, messages.get(i), 1))
                            .toCompletableFuture()
                            .get();
                }
            }
            List<Arrival> arrivals = broker.read("t").stream().map(READER::read).toList();
            for (int i = 0; i < messages.size(); i++) {
                Arrival arrival = arrivals.get(i);
                assertThat(arrival.unreadable()).isNull();
                assertThat(arrival.envelope()).isEqualTo(new Envelope(100 + i, messages.get(i), 1));
                assertThat(arrival.sequenced()).isTrue();
                assertThat(arrival.place()).isEqualTo("t/0@" + i);
            }
        }
    }

    @ParameterizedTest
    @CsvSource(
            nullValues = "-",
            value = {
                "ce_specversion,-,header ce_specversion is missing",
                "ce_specversion,0.3,header ce_specversion is '0.3'",
                "ce_id,-,there is no header ce_id",
                "ce_id,17,header ce_id is '17'",
                "ce_id,1-1-1-1-1,must be a UUID",
                "ce_type,-,there is no header ce_type",
                "ce_time,yesterday,header ce_time is 'yesterday'",
                "ce_subject,-,there is no header ce_subject",
                "ce_aggregatetype,-,there is no header ce_aggregatetype",
                "ce_eventversion,0,header ce_eventversion is '0'",
                "ce_eventversion,9999999999,header ce_eventversion is '9999999999'",
                "ce_aggregateversion,x,header ce_aggregateversion is 'x'",
                "ce_sequence,-5,header ce_sequence is '-5'",
                "ce_type,a b,event type is",
                "postroom-payload-sha256,abc,header postroom-payload-sha256 is 'abc'",
                "value,{,payload",
                "value,-,the value is null"
            })
    void whatIsNoMessageIsKeptWholeWithTheReason(String name, String value, String reason) {
        Map<String, String> parts = parts();
        parts.put(name, value);
        Arrival arrival = READER.read(record(parts));
        Fault fault = arrival.unreadable();
        assertThat(fault).isNotNull();
        assertThat(fault.errorClass()).isEqualTo("source.unreadable");
        assertThat(fault.message()).contains(reason);
        assertThat(arrival.envelope().message().payload()).contains("\"topic\":\"t\"", "\"offset\":7", "keyBase64");
        assertThat(READER.read(record(parts)).envelope().message().id())
                .as("the same record is the same dead letter")
                .isEqualTo(arrival.envelope().message().id());
    }

    @Test
    void whatItsDeadLetterHoldsIsTheRecordToTheLastByte() {
        Map<String, String> parts = parts();
        parts.put("ce_type", "a b");
        ConsumerRecord<byte[], byte[]> record = record(parts);
        record.headers()
                .add("nothing", null)
                .add("binary", new byte[] {(byte) 0xff, 0})
                .add("twice", "first".getBytes(StandardCharsets.UTF_8))
                .add("twice", "last".getBytes(StandardCharsets.UTF_8));
        Message whole = READER.read(record).envelope().message();
        Arrival again = READER.again(whole);
        assertThat(again.envelope().message().id()).isEqualTo(whole.id());
        assertThat(again.envelope().message().payload()).isEqualTo(whole.payload());
        assertThat(again.unreadable()).isEqualTo(READER.read(record).unreadable());

        Message patched = with(whole, whole.payload().replace(base64("a b"), base64("Placed")));
        Arrival read = READER.again(patched);
        assertThat(read.unreadable()).isNull();
        parts.put("ce_type", "Placed");
        Arrival good = READER.read(record(parts));
        assertThat(read.place()).isEqualTo(good.place());
        assertThat(read.sequenced()).isEqualTo(good.sequenced());
        assertThat(read.envelope().message().payload())
                .isEqualTo(good.envelope().message().payload());
        assertThat(read.envelope().message().headers()).containsEntry("twice", "last");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{}|topic is missing",
                "[]|topic is missing",
                "{\"topic\":\"t\",\"partition\":\"x\",\"offset\":1}|partition is missing, or not a number",
                "{\"topic\":\"t\",\"partition\":0,\"offset\":1,\"valueBase64\":\"?\"}|valueBase64 is not Base64",
                "{\"topic\":\"t\",\"partition\":0,\"offset\":1,\"valueBase64\":{}}|valueBase64 is not Base64",
                "{\"topic\":\"t\",\"partition\":0,\"offset\":1,\"headers\":[{}]}|name is missing",
                "{\"topic\":\"t\",\"partition\":0,\"offset\":1}|header ce_specversion is missing"
            })
    void whatADeadLetterDoesNotHoldCannotBeReadAndIsNotLost(String payload, String reason) {
        Message held = Message.about("kafka.record", "t/0@7")
                .event("kafka.record")
                .payload(payload)
                .build();
        Arrival again = READER.again(held);
        assertThat(again.unreadable()).isNotNull();
        assertThat(again.unreadable().message()).contains(reason);
    }

    private static Message with(Message message, String payload) {
        return Message.about(message.aggregateType(), message.aggregateId())
                .id(message.id())
                .event(message.eventType())
                .payload(payload)
                .build();
    }

    private static String base64(String text) {
        return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
    }

    /** As tracing agents, interceptors and mirrors add them. */
    @Test
    void headersThatNoMessageCanHaveAreLeftOutAndTheMessageIsTaken() {
        ConsumerRecord<byte[], byte[]> record = record(parts());
        record.headers()
                .add("traceparent", "00-1".getBytes(StandardCharsets.UTF_8))
                .add("nothing", null)
                .add("kafka_offset", new byte[] {0, 0, 0, 0, 0, 0, 0, 7})
                .add("binary", new byte[] {(byte) 0xff, (byte) 0xfe})
                .add("of a name", "x".getBytes(StandardCharsets.UTF_8))
                .add("", "x".getBytes(StandardCharsets.UTF_8))
                .add("n".repeat(101), "x".getBytes(StandardCharsets.UTF_8))
                .add("lines", "a\nb".getBytes(StandardCharsets.UTF_8))
                .add("large", "x".repeat(8_193).getBytes(StandardCharsets.UTF_8))
                .add("twice", "first".getBytes(StandardCharsets.UTF_8))
                .add("twice", "last".getBytes(StandardCharsets.UTF_8));
        Arrival arrival = READER.read(record);
        assertThat(arrival.unreadable()).isNull();
        assertThat(arrival.envelope().message().id()).isEqualTo(ID);
        assertThat(arrival.envelope().message().headers()).isEqualTo(Map.of("traceparent", "00-1", "twice", "last"));
    }

    /** As publish makes it of a message with as many headers as it may have. */
    @Test
    void aTraceTakesTheRoomOfNoHeader() {
        ConsumerRecord<byte[], byte[]> record = record(parts());
        record.headers().add("traceparent", "00-1".getBytes(StandardCharsets.UTF_8));
        for (int i = 0; i < 64; i++) {
            record.headers().add("h" + i, "x".getBytes(StandardCharsets.UTF_8));
        }
        record.headers().add("tracestate", "a=1".getBytes(StandardCharsets.UTF_8));
        Arrival arrival = READER.read(record);
        assertThat(arrival.unreadable()).isNull();
        assertThat(arrival.envelope().message().headers())
                .hasSize(66)
                .containsKeys("h0", "h63", "traceparent", "tracestate");
    }

    @Test
    void ofTooManyHeadersTheFirstStay() {
        ConsumerRecord<byte[], byte[]> many = record(parts());
        ConsumerRecord<byte[], byte[]> large = record(parts());
        for (int i = 0; i < 70; i++) {
            many.headers().add("h" + i, "x".getBytes(StandardCharsets.UTF_8));
            large.headers().add("h" + i, "x".repeat(8_000).getBytes(StandardCharsets.UTF_8));
        }
        assertThat(READER.read(many).envelope().message().headers()).hasSize(64).containsKeys("h0", "h63");
        assertThat(READER.read(large).unreadable()).isNull();
        assertThat(READER.read(large).envelope().message().headers()).containsOnlyKeys("h0", "h1", "h2", "h3");
    }

    @Test
    void whatIsNoMessageIsKeptWithEachOfItsHeaders() {
        Map<String, String> parts = parts();
        parts.put("ce_id", "17");
        ConsumerRecord<byte[], byte[]> record = record(parts);
        record.headers().add("twice", "first".getBytes(StandardCharsets.UTF_8)).add("twice", null);
        assertThat(READER.read(record).envelope().message().payload())
                .contains("{\"name\":\"twice\",\"valueBase64\":\"Zmlyc3Q=\"}")
                .contains("{\"name\":\"twice\",\"valueBase64\":null}");
    }

    @Test
    void aForeignEventWithoutASequenceIsTakenByItsOffset() {
        Map<String, String> parts = parts();
        parts.remove("ce_sequence");
        Arrival arrival = READER.read(record(parts));
        assertThat(arrival.unreadable()).isNull();
        assertThat(arrival.sequenced()).isFalse();
        assertThat(arrival.envelope().position()).isEqualTo(8);
        assertThat(arrival.envelope().message().id()).isEqualTo(ID);
    }

    private static Map<String, String> parts() {
        Map<String, String> parts = new LinkedHashMap<>();
        parts.put("ce_specversion", "1.0");
        parts.put("ce_id", ID.toString());
        parts.put("ce_type", "Placed");
        parts.put("ce_time", "2026-01-02T03:04:05Z");
        parts.put("ce_subject", "o-1");
        parts.put("ce_aggregatetype", "order");
        parts.put("ce_eventversion", "1");
        parts.put("ce_sequence", "0000000000000000042");
        parts.put("value", "{}");
        return parts;
    }

    private static ConsumerRecord<byte[], byte[]> record(Map<String, String> parts) {
        RecordHeaders headers = new RecordHeaders();
        parts.forEach((name, value) -> {
            if (!name.equals("value") && value != null) {
                headers.add(name, value.getBytes(StandardCharsets.UTF_8));
            }
        });
        String value = parts.get("value");
        return new ConsumerRecord<>(
                "t",
                0,
                7,
                0,
                TimestampType.CREATE_TIME,
                1,
                1,
                "o-1".getBytes(StandardCharsets.UTF_8),
                value == null ? null : value.getBytes(StandardCharsets.UTF_8),
                headers,
                java.util.Optional.empty());
    }
}
