package io.postroom.source.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postroom.Postroom;
import io.postroom.PostroomException;
import io.postroom.deadletter.DeadLetterFilter;
import io.postroom.deadletter.JsonPatch;
import io.postroom.deadletter.RedriveRequest;
import io.postroom.inbox.Retention;
import io.postroom.message.Envelope;
import io.postroom.message.Message;
import io.postroom.relay.Projection;
import io.postroom.retry.RetryPolicy;
import io.postroom.sink.kafka.KafkaSink;
import io.postroom.sink.kafka.testing.KafkaBroker;
import io.postroom.telemetry.Telemetry;
import io.postroom.testkit.ChildJvm;
import io.postroom.testkit.TestDatabase;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A projection behind real topics: its sums are exact, whatever comes twice, dies or is taken away. */
class KafkaSourceTest {
    static final Duration PATIENCE = Duration.ofSeconds(90);
    static final int KILLS = Boolean.getBoolean("postroom.long") ? 5 : 1;
    static final AtomicInteger TESTS = new AtomicInteger();

    static KafkaBroker broker;

    final long seed = Long.getLong("postroom.seed", System.nanoTime());
    /** Of this test alone: the topic, and the group. */
    final String own = "events-" + TESTS.incrementAndGet();

    TestDatabase database;

    @BeforeAll
    static void startBroker() {
        broker = KafkaBroker.start();
    }

    @AfterAll
    static void stopBroker() {
        broker.close();
    }

    @BeforeEach
    void create() {
        database = TestDatabase.create();
        Books.create(database);
        database.execute("create table sent (id uuid primary key)");
        broker.createTopic(own, 4, Map.of("retention.ms", "-1"));
    }

    @AfterEach
    void drop() {
        database.close();
    }

    private KafkaSource.Builder source(String node) {
        return source(node, database.postroom());
    }

    private KafkaSource.Builder source(String node, Postroom postroom) {
        return KafkaSource.builder(postroom)
                .bootstrapServers(broker.bootstrapServers())
                .topics(own)
                .group(own)
                .consumer("books")
                .node(node)
                .retry(RetryPolicy.builder()
                        .attemptsMax(3)
                        .linear(Duration.ofMillis(20))
                        .cap(Duration.ofMillis(20))
                        .build())
                .property("session.timeout.ms", "3000")
                .property("heartbeat.interval.ms", "500")
                .property("max.poll.records", "100");
    }

    private Feed feed() {
        return new Feed(broker, own, seed);
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
        try (Feed feed = feed();
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
        try (Feed feed = feed();
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
        CountDownLatch restarted = new CountDownLatch(1);
        Projection waiting = (tx, batch) -> {
            if (booked() >= 200) {
                assertThat(restarted.await(PATIENCE.toSeconds(), TimeUnit.SECONDS))
                        .isTrue();
            }
            new Books().apply(tx, batch);
        };
        try (Feed feed = feed();
                KafkaSource source = source("one").batchMax(20).build(waiting)) {
            note(feed.send(1_000, 20));
            source.start();
            awaitBooked(200);
            broker.stop();
            assertThat(booked()).as("in the middle").isLessThan(1_000);
            restarted.countDown();
            broker.restart();
            note(feed.send(300, 20));
            awaitBooked(1_300);
        }
        assertExact();
    }

    @Test
    void aProcessThatIsKilledLeavesTheRestToOthers() throws Exception {
        try (Feed feed = feed()) {
            note(feed.send(1_500, 40));
            for (int kills = 0; kills < KILLS; kills++) {
                Connection lock = lock();
                try (ChildJvm child = child(150)) {
                    child.awaitLine("standing", PATIENCE);
                    child.kill();
                } finally {
                    lock.close();
                }
            }
            assertThat(booked())
                    .as("seed %d: killed in the middle", seed)
                    .isPositive()
                    .isLessThan(1_500);
            try (KafkaSource source = source("last").build(new Books())) {
                source.start();
                awaitBooked(1_500);
            }
        }
        assertExact();
    }

    private ChildJvm child(int messages) {
        return ChildJvm.start(
                SourceMain.class,
                List.of("-Xmx128m", "-XX:TieredStopAtLevel=1"),
                database.url(),
                broker.bootstrapServers(),
                own,
                Integer.toString(messages));
    }

    /** Keeps other processes standing still until it is closed. */
    private Connection lock() throws SQLException {
        Connection connection = DriverManager.getConnection(database.url());
        try (Statement statement = connection.createStatement()) {
            statement.execute("select pg_advisory_lock(" + SourceMain.LOCK + ")");
        }
        return connection;
    }

    /** Its group takes it for dead while its transactions are open; others have its partitions when it commits them. */
    @Test
    void aZombieThatCommitsAfterItsPartitionsWentToAnotherDoesNoHarm() throws Exception {
        Set<UUID> byHeir = ConcurrentHashMap.newKeySet();
        Projection heirs = (tx, batch) -> {
            new Books().apply(tx, batch);
            batch.forEach(each -> byHeir.add(each.message().id()));
        };
        Connection lock = lock();
        try (Feed feed = feed();
                ChildJvm zombie = child(0)) {
            note(feed.send(200, 8));
            zombie.awaitLine("standing", PATIENCE);
            zombie.freeze();
            try (KafkaSource source = source("heir").build(heirs)) {
                source.start();
                Books.await(
                        "the heir waits at what the zombie has open",
                        PATIENCE,
                        () -> database.queryLong(
                                        "select count(*) from pg_stat_activity where wait_event = 'transactionid' and datname = current_database()")
                                > 0);
                lock.close();
                zombie.thaw();
                awaitBooked(200);
                assertThat(byHeir.size()).as("the zombie has committed some").isLessThan(200);
                note(feed.send(100, 8));
                awaitBooked(300);
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
        try (Feed feed = feed();
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
                                    "select distinct source || ' ' || owner || ' ' || (place like 'events-%@%') from postroom.dead_letter"))
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
        assertThat(letters("resolution is null and error_class = 'source.unreadable'"))
                .as("what is no message still is none")
                .isOne();
        assertThat(letters("resolution is null")).isOne();
        // A redriven message comes after others of its key, so order is left aside here.
        assertThat(Books.wrong(database, "select id from sent").stream()
                        .filter(each -> !each.startsWith("out of order")))
                .isEmpty();
    }

    /** A producer forgot the id; an operator who knows it puts it in. */
    @Test
    void whatIsNoMessageIsRedrivenWithAPatchAndTakesEffectOnce() throws Exception {
        try (Feed feed = feed();
                KafkaSource source = source("one").build(new Books())) {
            Message message = Feed.message("account-0", 1_000, 77);
            sendWithoutId(message);
            source.start();
            note(feed.send(30, 3));
            awaitBooked(30);
            Books.await("buried", PATIENCE, () -> letters("resolution is null") == 1);
            assertThat(letters("error = 'there is no header ce_id'")).isOne();

            redrive(null);
            Books.await(
                    "read once more, and buried again",
                    PATIENCE,
                    () -> letters("origin is not null and error = 'there is no header ce_id'") == 1);
            String id =
                    Base64.getEncoder().encodeToString(message.id().toString().getBytes(StandardCharsets.UTF_8));
            redrive(JsonPatch.parse(
                    "[{\"op\":\"add\",\"path\":\"/headers/-\",\"value\":{\"name\":\"ce_id\",\"valueBase64\":\"" + id
                            + "\"}}]"));
            note(List.of(message));
            awaitBooked(31);
            sendWhole(message);
            note(feed.sendLast(8));
            awaitBooked(39);
        }
        assertThat(letters("resolution is null")).isZero();
        assertThat(Books.wrong(database, "select id from sent").stream()
                        .filter(each -> !each.startsWith("out of order")))
                .isEmpty();
    }

    private void redrive(@Nullable JsonPatch patch) throws InterruptedException {
        UUID id = database.postroom()
                .deadLetters()
                .redrives()
                .request(RedriveRequest.redrive(DeadLetterFilter.ofOwner("books"))
                        .patch(patch)
                        .actor("ann")
                        .reason("the id is known")
                        .build())
                .request()
                .id();
        database.postroom().deadLetters().redrives().run(id, now -> {});
    }

    private void sendWithoutId(Message message) throws Exception {
        send(message, "ce_id");
    }

    private void sendWhole(Message message) throws Exception {
        send(message, "");
    }

    /** As the sink writes it, but for one header. */
    private void send(Message message, String leftOut) throws Exception {
        String elsewhere = own + "-record-" + (leftOut.isEmpty() ? "whole" : leftOut);
        broker.createTopic(elsewhere, 1);
        try (KafkaSink sink = KafkaSink.builder()
                .bootstrapServers(broker.bootstrapServers())
                .topic(elsewhere)
                .build()) {
            sink.send(new Envelope(1, message, 1)).toCompletableFuture().get();
        }
        try (KafkaProducer<byte[], byte[]> producer = producer(Map.of())) {
            for (ConsumerRecord<byte[], byte[]> record : broker.read(elsewhere)) {
                record.headers().remove(leftOut);
                producer.send(new ProducerRecord<>(own, null, record.key(), record.value(), record.headers()))
                        .get();
            }
        }
    }

    /** The database goes away; nothing is buried, and the group stays whole. */
    @Test
    void nothingIsBuriedWhileTheDatabaseCannotBeUsed() throws Exception {
        try (Feed feed = feed();
                KafkaSource source = source("one").build(new Books())) {
            source.start();
            note(feed.send(100, 10));
            awaitBooked(100);
            database.execute("alter table postroom.inbox rename to hidden");
            long before = rollbacks();
            note(feed.send(200, 10));
            Books.await("it is tried", PATIENCE, () -> rollbacks() > before + 5);
            database.execute("alter table postroom.hidden rename to inbox");
            awaitBooked(300);
        }
        assertThat(letters("true")).isZero();
        assertExact();
    }

    private long rollbacks() {
        return database.queryLong("select xact_rollback from pg_stat_database where datname = current_database()");
    }

    /** Kafka has forgotten how far the group was, and the inbox what it accepted long ago; the topic still has it. */
    @Test
    void aGroupWhoseOffsetsAreGoneGoesOnWhereTheDatabaseIs() throws Exception {
        loseOffsets("select 1");
    }

    /** Nor does the database know: somebody has deleted it. */
    @Test
    void aGroupWhoseOffsetsAreGoneDoesNotGoBackBehindWhatItsInboxRemembers() throws Exception {
        loseOffsets("delete from postroom.source_offset");
    }

    private void loseOffsets(String more) throws Exception {
        String elsewhere = own + "-elsewhere";
        broker.createTopic(elsewhere, 1);
        try (Feed feed = new Feed(broker, elsewhere, seed)) {
            note(feed.sendLast(20));
            copy(elsewhere, 0, System.currentTimeMillis() - Duration.ofDays(10).toMillis());
            try (KafkaSource source = source("one").build(new Books())) {
                source.start();
                awaitBooked(20);
            }
            database.execute(
                    "delete from postroom.inbox",
                    "update postroom.inbox_consumer set receives_since = receives_since - interval '10 days'",
                    more);
            try (Admin admin = broker.admin()) {
                admin.deleteConsumerGroups(List.of(own)).all().get();
            }
            note(feed.sendLast(20));
            copy(elsewhere, 20, System.currentTimeMillis());
        }
        try (KafkaSource source = source("one").build(new Books())) {
            source.start();
            awaitBooked(40);
        }
        assertExact();
    }

    /** As three processes leave it that ended while each tried the first message. */
    @Test
    void aMessageThatEndsItsProcessesIsBuried() throws Exception {
        try (Feed feed = feed()) {
            note(feed.sendLast(20));
            try (KafkaSource source = source("one").build(new Books())) {
                source.start();
                awaitBooked(20);
            }
            assertThat(database.queryLong("select count(*) from postroom.source_offset where held"))
                    .as("left in peace")
                    .isZero();
            feed.sendLast(20);
        }
        database.execute("update postroom.source_offset set held = true, attempts = 3");
        long partitions = database.queryLong("select count(*) from postroom.source_offset");
        try (KafkaSource source = source("two").build(new Books())) {
            source.start();
            Books.await(
                    "all are booked or buried",
                    PATIENCE,
                    () -> booked() + database.queryLong("select count(*) from postroom.dead_letter") == 40);
        }
        assertThat(database.queryLong("select count(*) from postroom.dead_letter where cause = 'crashed'"))
                .as("the first of each partition that has any")
                .isBetween(1L, partitions);
        assertThat(database.queryLong("select count(*) from postroom.dead_letter where cause <> 'crashed'"))
                .isZero();
    }

    /** A standby that lacks the last commits has taken over, beneath a source that has nothing to do. */
    @Test
    void whatADatabaseThatWentBackHasLostTakesEffectAgain() throws Exception {
        List<String> tables = List.of("booking", "account", "postroom.inbox", "postroom.source_offset");
        try (Feed feed = feed();
                KafkaSource source = source("one").build(new Books())) {
            source.start();
            note(feed.sendLast(20));
            awaitBooked(20);
            try (Connection tx = database.begin();
                    Statement statement = tx.createStatement()) {
                for (String table : tables) {
                    statement.execute("create table " + table.replace("postroom.", "was_") + "_then as table " + table);
                }
                tx.commit();
            }
            note(feed.sendLast(20));
            awaitBooked(40);
            try (Connection tx = database.begin();
                    Statement statement = tx.createStatement()) {
                for (String table : tables) {
                    statement.execute("delete from " + table);
                    statement.execute(
                            "insert into " + table + " select * from " + table.replace("postroom.", "was_") + "_then");
                }
                tx.commit();
            }
            assertThat(booked()).isEqualTo(20);
            awaitBooked(40);
        }
        assertExact();
    }

    /** A broker has lost the end of its log; and it has deleted what nobody had read. */
    @Test
    void aSourceGoesOnThoughKafkaDoesNotHaveItsOffsets() throws Exception {
        try (Feed feed = feed()) {
            try (KafkaSource source = source("one").build(new Books())) {
                source.start();
                note(feed.sendLast(20));
                awaitBooked(20);
            }
            database.execute("update postroom.source_offset set next_offset = next_offset + 1000");
            try (KafkaSource source = source("one").build(new Books())) {
                source.start();
                note(feed.sendLast(20));
                awaitBooked(40);
            }
            feed.sendLast(20);
            try (Admin admin = broker.admin()) {
                Map<TopicPartition, RecordsToDelete> all = new HashMap<>();
                for (int i = 0; i < 4; i++) {
                    all.put(new TopicPartition(own, i), RecordsToDelete.beforeOffset(-1));
                }
                admin.deleteRecords(all).all().get();
            }
            try (KafkaSource source = source("one").build(new Books())) {
                source.start();
                note(feed.sendLast(20));
                awaitBooked(60);
            }
        }
        assertExact();
    }

    /** What another topic has from an offset on, with another time. */
    private void copy(String from, long offset, long timestamp) throws Exception {
        try (KafkaProducer<byte[], byte[]> producer = producer(Map.of())) {
            for (ConsumerRecord<byte[], byte[]> record : broker.read(from)) {
                if (record.offset() >= offset) {
                    producer.send(new ProducerRecord<>(
                                    own, 0, timestamp, record.key(), record.value(), record.headers()))
                            .get();
                }
            }
        }
    }

    private static KafkaProducer<byte[], byte[]> producer(Map<String, Object> settings) {
        Map<String, Object> all = new HashMap<>(settings);
        all.put("bootstrap.servers", broker.bootstrapServers());
        return new KafkaProducer<>(all, new ByteArraySerializer(), new ByteArraySerializer());
    }

    /** The mark of a transaction that was undone is the last there is: nobody is shown it, and the group is not behind for it. */
    @Test
    void offsetsThatHoldNothingForUsAreToldToo() throws Exception {
        try (Feed feed = feed();
                KafkaSource source = source("one").build(new Books())) {
            source.start();
            note(feed.send(20, 5));
            awaitBooked(20);
            try (KafkaProducer<byte[], byte[]> producer = producer(Map.of("transactional.id", own))) {
                producer.initTransactions();
                producer.beginTransaction();
                producer.send(new ProducerRecord<>(own, 2, null, new byte[] {1}))
                        .get();
                producer.abortTransaction();
            }
            TopicPartition partition = new TopicPartition(own, 2);
            // The mark is written some time after the producer was told that it will be.
            Books.await("it is told", PATIENCE, () -> committed().getOrDefault(partition, 0L) == end(partition));
        }
        assertExact();
        assertThat(letters("true")).isZero();
    }

    private static long end(TopicPartition partition) {
        try (Admin admin = broker.admin()) {
            return admin.listOffsets(Map.of(partition, OffsetSpec.latest()))
                    .partitionResult(partition)
                    .get()
                    .offset();
        } catch (ExecutionException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** An Error outside of the projection: nobody catches it for it. */
    @Test
    void aPartitionWhoseThreadDiesIsTakenUpAgain() throws Exception {
        AtomicInteger times = new AtomicInteger();
        Telemetry deadly = new Telemetry() {
            @Override
            public void delivered(String subscription, long messages) {
                if (times.incrementAndGet() == 2) {
                    throw new StackOverflowError("too deep");
                }
            }
        };
        Postroom postroom =
                Postroom.builder(database.dataSource()).telemetry(deadly).build();
        try (Feed feed = feed();
                KafkaSource source = source("one", postroom).batchMax(5).build(new Books())) {
            note(feed.send(100, 10));
            source.start();
            awaitBooked(100);
        }
        assertThat(times.get()).as("one died").isGreaterThan(2);
        assertExact();
    }

    @Test
    void refusesTopicsThatAreNotThereOrKeepNotAllMessages() {
        String compacted = own + "-compacted";
        broker.createTopic(compacted, 1, Map.of("cleanup.policy", "compact,delete"));
        assertThat(refusal(own)).isEmpty();
        Books.await(
                "a broker that has heard of it: " + refusal(own, compacted),
                PATIENCE,
                () -> refusal(own, compacted).contains("topic " + compacted + " is compacted"));
        assertThat(refusal(own, compacted)).contains("set its cleanup.policy to delete");
        assertThat(refusal("nothing")).contains("could not describe topics [nothing]", "check the names");
    }

    /** What is read again after the inbox has forgotten it takes effect twice. */
    @Test
    void refusesATopicThatKeepsMessagesForLongerThanTheInboxRemembersThem() throws Exception {
        String week = own + "-week";
        broker.createTopic(
                week, 1, Map.of("retention.ms", "" + Duration.ofDays(7).toMillis()));
        Retention hour = Retention.keep(Duration.ofHours(1));
        assertThat(forgotten(hour, week))
                .contains("could not receive from topic " + week)
                .contains("it keeps messages for PT168H, the inbox remembers them for PT1H");
        assertThat(forgotten(Retention.keep(Duration.ofDays(7)), week)).isEmpty();
        assertThat(forgotten(Retention.USUAL, week)).isEmpty();
        assertThat(forgotten(hour, own))
                .as("said, not refused")
                .startsWith("topic " + own + " keeps messages for ever");
        try (Feed feed = new Feed(broker, week, seed);
                KafkaSource source = source("one").topics(week).retention(hour).build(new Books())) {
            note(feed.send(50, 5));
            source.start();
            setRetention(week, Duration.ofMinutes(30));
            awaitBooked(50);
        }
        assertExact();
    }

    private static void setRetention(String topic, Duration retention) throws Exception {
        try (Admin admin = broker.admin()) {
            admin.incrementalAlterConfigs(Map.of(
                            new ConfigResource(ConfigResource.Type.TOPIC, topic),
                            List.of(new AlterConfigOp(
                                    new ConfigEntry("retention.ms", "" + retention.toMillis()),
                                    AlterConfigOp.OpType.SET))))
                    .all()
                    .get();
        }
    }

    private static String forgotten(Retention retention, String... topics) {
        Map<String, Object> settings = Map.of("bootstrap.servers", broker.bootstrapServers(), "group.id", "any");
        StringBuilder said = new StringBuilder();
        try (Brokers brokers = Brokers.of(settings, List.of(topics))) {
            brokers.requireRemembered(retention, said::append);
            return said.toString();
        } catch (PostroomException e) {
            return String.valueOf(e.getMessage());
        }
    }

    private static String refusal(String... topics) {
        Map<String, Object> settings = Map.of("bootstrap.servers", broker.bootstrapServers(), "group.id", "any");
        try (Brokers brokers = Brokers.of(settings, List.of(topics))) {
            brokers.requireTopics();
            return "";
        } catch (PostroomException e) {
            return String.valueOf(e.getMessage());
        }
    }

    @Test
    void refusesWhatCannotWorkAllAtOnce() {
        assertThatThrownBy(() -> KafkaSource.builder(database.postroom())
                        .consumer("books")
                        .node("a b")
                        .property("enable.auto.commit", "true")
                        .property("securty.protocol", "SSL")
                        .property("isolation.level", "read_uncommitted")
                        .property("max.poll.interval.ms", "9000")
                        .grace(Duration.ofSeconds(4))
                        .build(new Books()))
                .hasMessageContaining("bootstrapServers is empty")
                .hasMessageContaining("there is no topic")
                .hasMessageContaining("node is 'a b'")
                .hasMessageContaining("enable.auto.commit cannot be set")
                .hasMessageContaining("securty.protocol is not a setting")
                .hasMessageContaining("isolation.level cannot be set")
                .hasMessageContaining("grace is PT4S, the range is 0 to PT3S");
    }

    private long letters(String which) {
        return database.queryLong("select count(*) from postroom.dead_letter where " + which);
    }

    private void poisonRecord() throws Exception {
        try (KafkaProducer<byte[], byte[]> producer = producer(Map.of())) {
            producer.send(new ProducerRecord<>(own, 1, null, "not a message".getBytes(StandardCharsets.UTF_8)))
                    .get();
        }
    }

    private Map<TopicPartition, Long> committed() {
        try (Admin admin = broker.admin()) {
            Map<TopicPartition, Long> offsets = new HashMap<>();
            admin.listConsumerGroupOffsets(own)
                    .partitionsToOffsetAndMetadata()
                    .get()
                    .forEach((partition, offset) -> offsets.put(partition, offset.offset()));
            return offsets;
        } catch (ExecutionException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private Map<TopicPartition, Long> ends() {
        Map<TopicPartition, Long> ends = new HashMap<>();
        broker.read(own)
                .forEach(record ->
                        ends.merge(new TopicPartition(own, record.partition()), record.offset() + 1, Math::max));
        return ends;
    }
}
