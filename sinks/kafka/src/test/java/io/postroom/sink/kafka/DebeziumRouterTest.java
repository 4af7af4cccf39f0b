package io.postroom.sink.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.cloudevents.CloudEvent;
import io.cloudevents.kafka.CloudEventDeserializer;
import io.debezium.data.Envelope;
import io.debezium.data.Json;
import io.debezium.data.Uuid;
import io.debezium.time.Date;
import io.debezium.time.ZonedTimestamp;
import io.postroom.message.JacksonCodec;
import io.postroom.message.Message;
import io.postroom.testkit.TestDatabase;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.Configurable;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.connect.data.Field;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.storage.Converter;
import org.apache.kafka.connect.storage.HeaderConverter;
import org.apache.kafka.connect.transforms.Transformation;
import org.apache.kafka.connect.transforms.predicates.Predicate;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Runs the transforms and converters of docs/debezium.md, as Kafka Connect would, over rows of the outbox. */
class DebeziumRouterTest {
    private static final Path PAGE = Path.of("..", "..", "docs", "debezium.md");

    private Map<String, String> config;

    /** The columns of the outbox, in the types in which Debezium's PostgreSQL connector hands them over. */
    private static final Schema ROW = SchemaBuilder.struct()
            .name("postroom.postroom.outbox.Value")
            .field("day", Date.schema())
            .field("seq", Schema.INT64_SCHEMA)
            .field("id", Uuid.schema())
            .field("tenant_id", Schema.OPTIONAL_STRING_SCHEMA)
            .field("aggregate_type", Schema.STRING_SCHEMA)
            .field("aggregate_id", Schema.STRING_SCHEMA)
            .field("aggregate_version", Schema.OPTIONAL_INT64_SCHEMA)
            .field("event_type", Schema.STRING_SCHEMA)
            .field("event_version", Schema.INT32_SCHEMA)
            .field("payload", Json.schema())
            .field("headers", Json.builder().optional().build())
            .field("occurred_at", ZonedTimestamp.schema())
            .field("available_at", ZonedTimestamp.builder().optional().build())
            .build();

    private static final Schema SOURCE = SchemaBuilder.struct()
            .name("io.debezium.connector.postgresql.Source")
            .field("connector", Schema.STRING_SCHEMA)
            .field("schema", Schema.STRING_SCHEMA)
            .field("table", Schema.STRING_SCHEMA)
            .build();

    private static final Envelope CHANGE = Envelope.defineSchema()
            .withName("postroom.postroom.outbox.Envelope")
            .withRecord(ROW)
            .withSource(SOURCE)
            .build();

    @BeforeEach
    void readPage() throws Exception {
        String page = Files.readString(PAGE);
        Matcher block = Pattern.compile("```json\n(.*?)```", Pattern.DOTALL).matcher(page);
        assertThat(block.find()).as("a JSON block in %s", PAGE).isTrue();
        config = new HashMap<>(
                new JacksonCodec().decode(block.group(1), Connector.class).config());
    }

    @Test
    void routesTheRowByItsAggregateTypeAndKeysItByItsAggregateId() throws Exception {
        Message message = full();
        ProducerRecord<byte[], byte[]> routed = connect(insert(message));
        assertThat(routed.topic()).isEqualTo("events.order");
        assertThat(routed.key()).asString(StandardCharsets.UTF_8).isEqualTo("4711");
        assertThat(routed.value()).asString(StandardCharsets.UTF_8).isEqualTo(message.payload());
    }

    @Test
    void writesTheHeadersThatTheSinkWrites() throws Exception {
        Message message = full();
        Map<String, String> sink = headers(
                CloudEventRecord.of(new io.postroom.message.Envelope(1, message, 1), "events.order", "/postroom"));
        Map<String, String> routed = headers(connect(insert(message)));
        // The router always adds the id, and the message's own headers come as one.
        assertThat(routed.remove("id")).isEqualTo(message.id().toString());
        assertThat(routed.remove("headers")).isEqualTo("{\"note\":\"gift\"}");
        sink.remove("note");
        // Only the journal knows the position.
        sink.remove("ce_sequence");
        assertThat(routed).isEqualTo(sink);
    }

    @Test
    void isReadAsACloudEvent() throws Exception {
        Message message = full();
        CloudEvent event = cloudEvent(connect(insert(message)));
        assertThat(event.getId()).isEqualTo(message.id().toString());
        assertThat(event.getType()).isEqualTo("OrderConfirmed");
        assertThat(event.getTime().toInstant()).isEqualTo(message.occurredAt());
        assertThat(event.getExtension("tenantid")).isEqualTo("acme");
        assertThat(event.getData().toBytes()).asString(StandardCharsets.UTF_8).isEqualTo(message.payload());
    }

    @Test
    void isReadAsACloudEventWithoutTenantVersionAndHeaders() throws Exception {
        Message message = Message.about("order", "4711")
                .event("OrderConfirmed")
                .payload("{}")
                .build();
        CloudEvent event = cloudEvent(connect(insert(message)));
        assertThat(event.getId()).isEqualTo(message.id().toString());
        assertThat(event.getExtensionNames())
                .containsExactlyInAnyOrder("partitionkey", "aggregatetype", "eventversion");
    }

    @Test
    void routesARealRowOfTheTableAsItWasPublished() throws Exception {
        Message message = full();
        try (TestDatabase database = TestDatabase.create()) {
            try (Connection tx = database.begin()) {
                database.postroom().outbox().publish(tx, message);
                tx.commit();
            }
            try (Connection connection = database.dataSource().getConnection();
                    Statement statement = connection.createStatement();
                    ResultSet row = statement.executeQuery("select * from postroom.outbox")) {
                assertThat(columns(row))
                        .as("what the page tells Debezium to leave out, and the row of this test")
                        .containsExactlyInAnyOrderElementsOf(withXid(ROW));
                assertThat(row.next()).isTrue();
                ProducerRecord<byte[], byte[]> routed =
                        connect(record(CHANGE.create(row(row), source(), Instant.now())));
                assertThat(routed.key()).asString(StandardCharsets.UTF_8).isEqualTo(message.aggregateId());
                assertThat(routed.value()).asString(StandardCharsets.UTF_8).isEqualTo(message.payload());
                assertThat(headers(routed)).isEqualTo(headers(connect(insert(message))));
            }
        }
    }

    private static List<String> columns(ResultSet rows) throws SQLException {
        List<String> names = new ArrayList<>();
        for (int i = 1; i <= rows.getMetaData().getColumnCount(); i++) {
            names.add(rows.getMetaData().getColumnName(i));
        }
        return names;
    }

    private static List<String> withXid(Schema row) {
        List<String> names = row.fields().stream().map(Field::name).collect(Collectors.toCollection(ArrayList::new));
        names.add("xid");
        return names;
    }

    /** A row of the table in the types in which Debezium hands them over. */
    private static Struct row(ResultSet row) throws SQLException {
        return new Struct(ROW)
                .put("day", (int) row.getObject("day", LocalDate.class).toEpochDay())
                .put("seq", row.getLong("seq"))
                .put("id", row.getString("id"))
                .put("tenant_id", row.getString("tenant_id"))
                .put("aggregate_type", row.getString("aggregate_type"))
                .put("aggregate_id", row.getString("aggregate_id"))
                .put("aggregate_version", row.getObject("aggregate_version", Long.class))
                .put("event_type", row.getString("event_type"))
                .put("event_version", row.getInt("event_version"))
                .put("payload", row.getString("payload"))
                .put("headers", row.getString("headers"))
                .put(
                        "occurred_at",
                        row.getObject("occurred_at", OffsetDateTime.class)
                                .toInstant()
                                .toString());
    }

    @Test
    void stopsTheConnectorAtAnUpdate() {
        Struct row = row(full());
        SourceRecord update = record(CHANGE.update(row, row, source(), Instant.now()));
        assertThatThrownBy(() -> connect(update)).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void leavesHeartbeatsAlone() throws Exception {
        Schema schema = SchemaBuilder.struct()
                .name("io.debezium.connector.common.Heartbeat")
                .field("ts_ms", Schema.INT64_SCHEMA)
                .build();
        Struct value = new Struct(schema).put("ts_ms", 1L);
        ProducerRecord<byte[], byte[]> heartbeat =
                connect(new SourceRecord(Map.of(), Map.of(), "__debezium-heartbeat.postroom", schema, value));
        assertThat(heartbeat.topic()).isEqualTo("__debezium-heartbeat.postroom");
        assertThat(heartbeat.headers()).isEmpty();
    }

    /** The page says why there is no table.field.event.timestamp; when this fails, Debezium has learnt it. */
    @Test
    void cannotTakeATimestampWithTimeZoneAsTheTimeOfTheRecord() {
        config.put("transforms.outbox.table.field.event.timestamp", "occurred_at");
        assertThatThrownBy(() -> connect(insert(full()))).hasMessageContaining("occurred_at");
    }

    private ProducerRecord<byte[], byte[]> connect(SourceRecord record) throws Exception {
        SourceRecord current = record;
        for (String name : config.get("transforms").split(",")) {
            if (applies(name, current)) {
                try (Transformation<SourceRecord> transform = configured("transforms." + name, Transformation.class)) {
                    current = transform.apply(current);
                }
            }
        }
        Converter keys = make("key.converter", Converter.class);
        keys.configure(Map.of(), true);
        Converter values = make("value.converter", Converter.class);
        values.configure(Map.of(), false);
        RecordHeaders headers = new RecordHeaders();
        try (HeaderConverter converter = make("header.converter", HeaderConverter.class)) {
            converter.configure(Map.of("converter.type", "header"));
            String topic = current.topic();
            current.headers()
                    .forEach(header -> headers.add(
                            header.key(),
                            converter.fromConnectHeader(topic, header.key(), header.schema(), header.value())));
        }
        return new ProducerRecord<>(
                current.topic(),
                null,
                current.timestamp(),
                keys.fromConnectData(current.topic(), current.keySchema(), current.key()),
                values.fromConnectData(current.topic(), current.valueSchema(), current.value()),
                headers);
    }

    private boolean applies(String transform, SourceRecord record) throws Exception {
        String name = config.get("transforms." + transform + ".predicate");
        if (name == null) {
            return true;
        }
        try (Predicate<SourceRecord> predicate = configured("predicates." + name, Predicate.class)) {
            return predicate.test(record);
        }
    }

    /** What is configured under a prefix, with the settings there, as Kafka Connect makes it. */
    @SuppressWarnings("unchecked")
    private <T extends Configurable> T configured(String prefix, Class<? super T> type) throws Exception {
        Map<String, String> settings = config.entrySet().stream()
                .filter(entry -> entry.getKey().startsWith(prefix + "."))
                .collect(Collectors.toMap(entry -> entry.getKey().substring(prefix.length() + 1), Map.Entry::getValue));
        T made = (T) make(prefix + ".type", type);
        made.configure(settings);
        return made;
    }

    private <T> T make(String setting, Class<T> type) throws Exception {
        return type.cast(
                Class.forName(config.get(setting)).getDeclaredConstructor().newInstance());
    }

    private static Message full() {
        return Message.about("order", "4711")
                .tenantId("acme")
                .aggregateVersion(7)
                .event("OrderConfirmed")
                .eventVersion(2)
                .payload("{ \"total\": 12.50,\"name\":\"Zoë\" }")
                .header("note", "gift")
                .occurredAt(Instant.parse("2026-03-01T10:15:30.123456Z"))
                .build();
    }

    private static SourceRecord insert(Message message) {
        return record(CHANGE.create(row(message), source(), Instant.now()));
    }

    private static SourceRecord record(Struct change) {
        return new SourceRecord(Map.of(), Map.of(), "postroom.postroom.outbox", change.schema(), change);
    }

    private static Struct source() {
        return new Struct(SOURCE)
                .put("connector", "postgresql")
                .put("schema", "postroom")
                .put("table", "outbox");
    }

    private static Struct row(Message message) {
        return new Struct(ROW)
                .put("day", (int) (message.occurredAt().getEpochSecond() / 86_400))
                .put("seq", 1L)
                .put("id", message.id().toString())
                .put("tenant_id", message.tenantId())
                .put("aggregate_type", message.aggregateType())
                .put("aggregate_id", message.aggregateId())
                .put("aggregate_version", message.aggregateVersion())
                .put("event_type", message.eventType())
                .put("event_version", message.eventVersion())
                .put("payload", message.payload())
                .put("headers", message.headers().isEmpty() ? null : new JacksonCodec().encode(message.headers()))
                .put("occurred_at", message.occurredAt().toString());
    }

    private static Map<String, String> headers(ProducerRecord<byte[], byte[]> record) {
        Map<String, String> headers = new TreeMap<>();
        List<String> seen = new ArrayList<>();
        record.headers().forEach(header -> {
            seen.add(header.key());
            headers.put(header.key(), new String(header.value(), StandardCharsets.UTF_8));
        });
        assertThat(seen).doesNotHaveDuplicates();
        return headers;
    }

    private static CloudEvent cloudEvent(ProducerRecord<byte[], byte[]> record) {
        ConsumerRecord<byte[], byte[]> received =
                new ConsumerRecord<>(record.topic(), 0, 0, record.key(), record.value());
        record.headers().forEach(received.headers()::add);
        try (CloudEventDeserializer deserializer = new CloudEventDeserializer()) {
            return deserializer.deserialize(record.topic(), received.headers(), record.value());
        }
    }

    private record Connector(String name, Map<String, String> config) {}
}
