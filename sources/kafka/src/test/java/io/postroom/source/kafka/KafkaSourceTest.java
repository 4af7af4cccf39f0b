package io.postroom.source.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postroom.deadletter.DeadLetterFilter;
import io.postroom.deadletter.RedriveRequest;
import io.postroom.message.Envelope;
import io.postroom.message.Message;
import io.postroom.relay.Projection;
import io.postroom.retry.RetryPolicy;
import io.postroom.sink.kafka.testing.KafkaBroker;
import io.postroom.testkit.ChildJvm;
import io.postroom.testkit.TestDatabase;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A projection behind real topics: its sums are exact, whatever comes twice, dies or is taken away. */
class KafkaSourceTest {
    static final Duration PATIENCE = Duration.ofSeconds(90);
    static final String TOPIC = "events";

    final long seed = Long.getLong("postroom.seed", System.nanoTime());
    TestDatabase database;
    KafkaBroker broker;

    @BeforeEach
    void create() {
        database = TestDatabase.create();
        Books.create(database);
        database.execute("create table sent (id uuid primary key)");
        broker = KafkaBroker.start();
        broker.createTopic(TOPIC, 4);
    }

    @AfterEach
    void drop() {
        broker.close();
        database.close();
    }

    private KafkaSource.Builder source(String node) {
        return KafkaSource.builder(database.postroom())
                .bootstrapServers(broker.bootstrapServers())
                .topics(TOPIC)
                .consumer("books")
                .node(node)
                .retry(RetryPolicy.builder()
                        .attemptsMax(3)
                        .linear(Duration.ofMillis(20))
                        .cap(Duration.ofMillis(20))
                        .build())
                .property("session.timeout.ms", "6000")
                .property("heartbeat.interval.ms", "500")
                .property("max.poll.records", "100");
    }

    private void note(List<Message> messages) throws SQLException {
        try (Connection tx = database.begin();
                PreparedStatement insert = tx.prepareStatement("insert into sent values (?)")) {
            for (Message message : messages) {
                insert.setObject(1, message.id());
                insert.addBatch();
            }
            insert.executeBatch();
            tx.commit();
        }
    }

    private void awaitBooked(long count) {
        Books.await("seed " + seed + ": " + count + " booked", PATIENCE, () -> booked() >= count);
    }

    private long booked() {
        return database.queryLong("select count(distinct id) from booking");
    }

    private void assertExact() throws SQLException {
        assertThat(Books.wrong(database, "select id from sent"))
                .as("seed %d", seed)
                .isEmpty();
    }

    @Test
    void eachMessageTakesEffectOnceThoughItComesOneToFiveTimes() throws Exception {
        try (Feed feed = new Feed(broker, TOPIC, seed);
                KafkaSource source = source("one").build(new Books())) {
            source.start();
            note(feed.send(1_500, 20));
            awaitBooked(1_500);
            note(feed.send(180, 20));
            note(feed.sendLast(20));
            awaitBooked(1_700);
        }
        assertExact();
        assertThat(committed())
                .as("all of it was told to Kafka when it was closed")
                .isEqualTo(ends());
        assertThat(database.queryLong("select count(*) from postroom.inbox")).isEqualTo(1_700);
        assertThat(database.queryLong("select extract(epoch from redelivery) / 86400 from postroom.inbox_consumer"))
                .isEqualTo(7);
    }

    @Test
    void membersThatComeAndGoLoseAndRepeatNothing() throws Exception {
        try (Feed feed = new Feed(broker, TOPIC, seed);
                KafkaSource one = source("one").build(new Books())) {
            one.start();
            note(feed.send(300, 20));
            KafkaSource two = source("two").build(new Books());
            two.start();
            note(feed.send(600, 20));
            KafkaSource three = source("three").build(new Books());
            three.start();
            note(feed.send(300, 20));
            two.close();
            note(feed.send(600, 20));
            three.close();
            note(feed.send(200, 20));
            awaitBooked(2_000);
        }
        assertExact();
    }

    @Test
    void aBrokerThatRestartsInTheMiddleLosesAndRepeatsNothing() throws Exception {
        List<Message> first;
        try (Feed feed = new Feed(broker, TOPIC, seed)) {
            first = feed.send(1_500, 20);
            note(first);
            Projection slow = (tx, batch) -> {
                new Books().apply(tx, batch);
                tx.createStatement().execute("select pg_sleep(0.02)");
            };
            try (KafkaSource source = source("one").batchMax(20).build(slow)) {
                source.start();
                awaitBooked(200);
                broker.stop();
                long before = booked();
                Books.await("what was polled is applied", PATIENCE, () -> booked() >= before);
                broker.restart();
                note(feed.send(300, 20));
                awaitBooked(1_800);
            }
        }
        assertExact();
    }

    @Test
    void aProcessThatIsKilledLeavesTheRestToOthers() throws Exception {
        try (Feed feed = new Feed(broker, TOPIC, seed)) {
            note(feed.send(3_000, 40));
            for (int kills = 0; kills < 3; kills++) {
                long before = booked();
                try (ChildJvm child = ChildJvm.start(
                        SourceMain.class, List.of("-Xmx128m"), database.url(), broker.bootstrapServers(), TOPIC)) {
                    int end = kills;
                    Books.await(
                            "progress of child " + kills + ": " + child,
                            PATIENCE,
                            () -> booked() > before + 100 * (end + 1));
                    child.kill();
                }
            }
            assertThat(booked()).as("seed %d: killed in the middle", seed).isLessThan(3_000);
            try (KafkaSource source = source("last").build(new Books())) {
                source.start();
                awaitBooked(3_000);
            }
        }
        assertExact();
    }

    /** Its group takes it for dead while it works; then it commits what it was at. */
    @Test
    void aZombieThatCommitsAfterItsPartitionsWentToAnotherDoesNoHarm() throws Exception {
        try (Feed feed = new Feed(broker, TOPIC, seed)) {
            note(feed.send(400, 8));
            try (ChildJvm zombie = ChildJvm.start(
                    SourceMain.class, List.of("-Xmx128m"), database.url(), broker.bootstrapServers(), TOPIC)) {
                Books.await("progress of " + zombie, PATIENCE, () -> booked() > 10);
                zombie.freeze();
                try (KafkaSource source = source("heir").build(new Books())) {
                    source.start();
                    // Transactions that are open in the frozen process end when PostgreSQL ends its sessions.
                    awaitBooked(350);
                    zombie.thaw();
                    note(feed.send(400, 8));
                    awaitBooked(800);
                }
            }
        }
        assertExact();
    }

    @Test
    void aPoisonMessageIsBuriedWhileItsPartitionAndOthersGoOnAndARedriveAppliesItOnce() throws Exception {
        Set<UUID> poison = ConcurrentHashMap.newKeySet();
        CountDownLatch tried = new CountDownLatch(1);
        Projection picky = (tx, batch) -> {
            for (Envelope each : batch) {
                if (poison.contains(each.message().id())) {
                    tried.countDown();
                    throw new IllegalStateException("no such account");
                }
            }
            new Books().apply(tx, batch);
        };
        try (Feed feed = new Feed(broker, TOPIC, seed);
                KafkaSource source = source("one").build(picky)) {
            List<Message> messages = feed.send(200, 10);
            note(messages);
            messages.subList(50, 53).forEach(each -> poison.add(each.id()));
            poisonRecord();
            source.start();
            assertThat(tried.await(60, TimeUnit.SECONDS)).isTrue();
            awaitBooked(197);
            Books.await("buried", PATIENCE, () -> letters("resolution is null") == 4);
            assertThat(
                            Books.strings(
                                    database,
                                    "select distinct source || ' ' || owner || ' ' || (place like 'events/%@%') from postroom.dead_letter"))
                    .containsExactly("kafka books true");
            assertThat(letters("attempts = 3 and error like '%no such account%'"))
                    .isEqualTo(3);
            assertThat(letters(
                            "error_class = 'source.unreadable' and payload ->> 'valueBase64' = 'bm90IGEgbWVzc2FnZQ=='"))
                    .isOne();

            poison.clear();
            UUID id = database.postroom()
                    .deadLetters()
                    .redrives()
                    .request(RedriveRequest.redrive(DeadLetterFilter.ofOwner("books"))
                            .actor("ann")
                            .reason("account was made")
                            .build())
                    .request()
                    .id();
            database.postroom().deadLetters().redrives().run(id, now -> {});
            awaitBooked(200);
            Books.await(
                    "done", PATIENCE, () -> database.queryLong("select count(*) from postroom.redriven_letter") == 0);
            note(feed.send(20, 10));
            awaitBooked(220);
        }
        assertThat(letters("resolution is null")).as("what is no message stays").isOne();
        // A redriven message comes after others of its key, so order is left aside here.
        assertThat(Books.wrong(database, "select id from sent").stream()
                        .filter(each -> !each.startsWith("out of order")))
                .isEmpty();
    }

    /** The database goes away; nothing is buried, and the group stays whole. */
    @Test
    void nothingIsBuriedWhileTheDatabaseCannotBeUsed() throws Exception {
        try (Feed feed = new Feed(broker, TOPIC, seed);
                KafkaSource source = source("one").build(new Books())) {
            source.start();
            note(feed.send(100, 10));
            awaitBooked(100);
            database.execute("alter table postroom.inbox rename to hidden");
            note(feed.send(200, 10));
            Books.await(
                    "it is tried",
                    PATIENCE,
                    () -> database.queryLong(
                                    "select xact_rollback from pg_stat_database where datname = current_database()")
                            > 5);
            database.execute("alter table postroom.hidden rename to inbox");
            awaitBooked(300);
        }
        assertThat(letters("true")).isZero();
        assertExact();
    }

    @Test
    void refusesWhatCannotWorkAllAtOnce() {
        assertThatThrownBy(() -> KafkaSource.builder(database.postroom())
                        .consumer("books")
                        .node("a b")
                        .property("enable.auto.commit", "true")
                        .property("securty.protocol", "SSL")
                        .build(new Books()))
                .hasMessageContaining("bootstrapServers is empty")
                .hasMessageContaining("there is no topic")
                .hasMessageContaining("node is 'a b'")
                .hasMessageContaining("enable.auto.commit cannot be set")
                .hasMessageContaining("securty.protocol is not a setting");
    }

    private long letters(String which) {
        return database.queryLong("select count(*) from postroom.dead_letter where " + which);
    }

    private void poisonRecord() throws Exception {
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", broker.bootstrapServers()),
                new ByteArraySerializer(),
                new ByteArraySerializer())) {
            producer.send(new ProducerRecord<>(TOPIC, 1, null, "not a message".getBytes(StandardCharsets.UTF_8)))
                    .get();
        }
    }

    private Map<TopicPartition, Long> committed() throws Exception {
        try (var admin = broker.admin()) {
            Map<TopicPartition, Long> offsets = new java.util.HashMap<>();
            admin.listConsumerGroupOffsets("books")
                    .partitionsToOffsetAndMetadata()
                    .get()
                    .forEach((partition, offset) -> offsets.put(partition, offset.offset()));
            return offsets;
        }
    }

    private Map<TopicPartition, Long> ends() {
        Map<TopicPartition, Long> ends = new java.util.HashMap<>();
        broker.read(TOPIC)
                .forEach(record ->
                        ends.merge(new TopicPartition(TOPIC, record.partition()), record.offset() + 1, Math::max));
        return ends;
    }
}
