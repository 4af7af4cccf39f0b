package io.postroom.source.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postroom.Postroom;
import io.postroom.PostroomException;
import io.postroom.message.Envelope;
import io.postroom.message.Message;
import io.postroom.relay.Projection;
import io.postroom.relay.Relay;
import io.postroom.relay.Subscription;
import io.postroom.retry.RetryPolicy;
import io.postroom.sink.kafka.KafkaSink;
import io.postroom.sink.kafka.testing.KafkaBroker;
import io.postroom.source.ServedBy;
import io.postroom.subscription.Act;
import io.postroom.testkit.ChildJvm;
import io.postroom.testkit.CrashPoint;
import io.postroom.testkit.CrashingDataSource;
import io.postroom.testkit.Messages;
import io.postroom.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A subscription that moves to Kafka and back while messages flow: sums exact, order kept. */
class KafkaMoveTest {
    static final Duration PATIENCE = Duration.ofSeconds(120);
    static final int ACCOUNTS = 24;
    static final boolean LONG = Boolean.getBoolean("postroom.long");
    /** Of a move, in their order. */
    private static final List<String> STEPS = List.of("noted", "waiting", "announced", "ending", "switched");

    static final int ROUNDS = LONG ? 10 : 1;
    static final AtomicInteger TESTS = new AtomicInteger();

    static KafkaBroker broker;

    final long seed = Long.getLong("postroom.seed", System.nanoTime());
    /** Of this test alone: the topic, and the source's group. */
    final String own = "events-" + TESTS.incrementAndGet();

    final AtomicBoolean writing = new AtomicBoolean(true);
    final List<Thread> writers = new ArrayList<>();
    final AtomicLong failures = new AtomicLong();
    final List<AutoCloseable> open = new ArrayList<>();
    TestDatabase database;
    Postroom postroom;
    KafkaSource source;
    /** Fails now and then, so that something waits among the deliveries whenever a move begins. */
    final Projection books = new Projection() {
        private final Books books = new Books();
        private final AtomicLong times = new AtomicLong();

        @Override
        public void apply(Connection tx, List<Envelope> batch) throws Exception {
            if (times.incrementAndGet() % 10 == 5) {
                failures.incrementAndGet();
                throw new IllegalStateException("now and then");
            }
            books.apply(tx, batch);
        }
    };

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
        postroom = database.postroom();
        Books.create(database);
        broker.createTopic(own, 3);
    }

    @AfterEach
    void drop() throws Exception {
        writing.set(false);
        for (int i = open.size() - 1; i >= 0; i--) {
            open.get(i).close();
        }
        database.close();
    }

    private void start() {
        RetryPolicy often = RetryPolicy.builder()
                .attemptsMax(1_000)
                .linear(Duration.ofMillis(10))
                .cap(Duration.ofMillis(50))
                .build();
        KafkaSink sink = KafkaSink.builder()
                .bootstrapServers(broker.bootstrapServers())
                .topic(own)
                .deliveryTimeout(Duration.ofSeconds(3))
                .property("request.timeout.ms", "2000")
                .property("metadata.max.age.ms", "500")
                .build();
        open.add(sink);
        Relay relay = postroom.relay()
                .lease(Duration.ofSeconds(3))
                .probe(Duration.ofMillis(50), Duration.ofMillis(500))
                .deliver(Subscription.named("feed").lanes(2).build(), sink)
                .project(
                        Subscription.named("books").lanes(3).retry(often).build(),
                        books.behind(postroom.inbox(), "books"))
                .build();
        relay.start();
        open.add(relay);
        source = KafkaSource.builder(postroom)
                .bootstrapServers(broker.bootstrapServers())
                .topics(own)
                .consumer("books")
                .group(own)
                .retry(often)
                .batchMax(50)
                .property("session.timeout.ms", "3000")
                .property("heartbeat.interval.ms", "500")
                .property("metadata.max.age.ms", "500")
                .build(books);
        source.start();
        open.add(source);
    }

    /** Each writer has accounts of its own, so that versions commit in their order. */
    private void write() {
        for (int i = 0; i < 3; i++) {
            int writer = i;
            Thread thread = new Thread(() -> write(writer), "writer-" + i);
            thread.setDaemon(true);
            thread.start();
            writers.add(thread);
        }
    }

    private void write(int writer) {
        Random random = new Random(seed + writer);
        long[] versions = new long[ACCOUNTS];
        while (writing.get()) {
            try (Connection tx = database.begin()) {
                boolean commits = random.nextInt(8) > 0;
                long[] before = versions.clone();
                for (int n = random.nextInt(4); n >= 0; n--) {
                    int account = writer + 3 * random.nextInt(ACCOUNTS / 3);
                    versions[account]++;
                    Message.Builder message = Message.about("account", "account-" + account)
                            .event("Booked")
                            .aggregateVersion(versions[account])
                            .payload("{\"amount\":" + (1 + random.nextInt(100)) + "}");
                    postroom.outbox().publish(tx, message.build());
                }
                if (commits) {
                    tx.commit();
                } else {
                    tx.rollback();
                    versions = before;
                }
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
            LockSupport.parkNanos(20_000_000);
        }
    }

    private void stopWriting() throws InterruptedException {
        writing.set(false);
        for (Thread writer : writers) {
            writer.join(30_000);
        }
    }

    private long published() {
        return database.queryLong("select count(*) from postroom.outbox");
    }

    private long booked() {
        return database.queryLong("select count(distinct id) from booking");
    }

    /** Writers are well ahead again, and what they write takes effect. */
    private void awaitTraffic() {
        long before = booked();
        Books.await("traffic, seed " + seed, PATIENCE, () -> booked() > before + 30);
    }

    private KafkaMove.Builder mover() {
        return mover(postroom);
    }

    private KafkaMove.Builder mover(Postroom postroom) {
        return KafkaMove.builder(postroom)
                .bootstrapServers(broker.bootstrapServers())
                .topics(List.of(own))
                .group(own)
                .feed("feed");
    }

    private boolean move(ServedBy target) {
        return move(target, line -> {});
    }

    private boolean move(ServedBy target, Consumer<String> progress) {
        return mover().build().run("books", target, new Act("ann", "test"), PATIENCE, progress);
    }

    private String servedBy() throws SQLException {
        return Books.strings(database, "select served_by from postroom.subscription where name = 'books'")
                .get(0);
    }

    private void assertExact() throws Exception {
        stopWriting();
        long all = published();
        Books.await("seed " + seed + ": all booked", PATIENCE, () -> booked() >= all);
        assertThat(Books.wrong(database, "select id from postroom.outbox"))
                .as("seed %d", seed)
                .isEmpty();
        assertThat(database.queryLong("select count(*) from postroom.dead_letter"))
                .as("seed %d", seed)
                .isZero();
        assertThat(failures.get()).as("seed %d: nothing failed", seed).isPositive();
    }

    @Test
    void nothingIsLostRepeatedOrOutOfOrderToKafkaAndBackUnderTraffic() throws Exception {
        start();
        write();
        awaitTraffic();
        assertThat(mover().build().plan("books", ServedBy.KAFKA).steps()).hasSize(5);
        for (int round = 0; round < ROUNDS; round++) {
            assertThat(move(ServedBy.KAFKA)).isTrue();
            assertThat(servedBy()).isEqualTo("kafka");
            assertThat(move(ServedBy.KAFKA)).as("twice is once").isFalse();
            awaitTraffic();
            assertThat(move(ServedBy.POSTGRES)).isTrue();
            assertThat(servedBy()).isEqualTo("postgres");
            assertThat(move(ServedBy.POSTGRES)).isFalse();
            awaitTraffic();
        }
        assertThat(move(ServedBy.KAFKA)).isTrue();
        assertExact();
        assertThat(Books.strings(database, "select action from postroom.audit order by id"))
                .as("each move is audited when it is noted and when it ends")
                .hasSize(4 * ROUNDS + 2)
                .containsSubsequence(
                        "subscription move",
                        "subscription move end",
                        "subscription move",
                        "subscription move end",
                        "subscription move",
                        "subscription move end");
    }

    /** All of them in a long run, else two that chance has chosen. */
    static Stream<String> steps() {
        List<String> steps = new ArrayList<>(STEPS);
        Collections.shuffle(steps);
        return steps.stream().limit(LONG ? STEPS.size() : 2);
    }

    /** It is gone from that step on, and comes back while the command goes on; there and back again in the long run. */
    @ParameterizedTest
    @MethodSource("steps")
    void aBrokerThatRestartsInTheMiddleChangesNothingOfThat(String step) throws Exception {
        start();
        write();
        awaitTraffic();
        List<ServedBy> targets = new ArrayList<>(List.of(ServedBy.KAFKA, ServedBy.POSTGRES));
        boolean back = (seed + step.length()) % 2 == 0;
        if (!LONG && back) {
            assertThat(move(ServedBy.KAFKA)).isTrue();
        }
        if (!LONG) {
            targets.remove(back ? ServedBy.KAFKA : ServedBy.POSTGRES);
        }
        for (ServedBy target : targets) {
            awaitTraffic();
            CompletableFuture<Void> restarted = new CompletableFuture<>();
            CrashPoint gone = CrashPoint.act(step, 1, () -> {
                broker.stop();
                CompletableFuture.runAsync(this::restartWhenMissed).whenComplete((done, e) -> {
                    if (e == null) {
                        restarted.complete(null);
                    } else {
                        restarted.completeExceptionally(e);
                    }
                });
            });
            Postroom shaky = Postroom.on(MoveMain.at(step, new CrashingDataSource(database.dataSource()), gone));
            moveOn(shaky, target);
            restarted.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            assertThat(servedBy()).as("seed %d", seed).isEqualTo(target.word());
            awaitTraffic();
        }
        assertExact();
    }

    private void restartWhenMissed() {
        Books.await(
                "the feed cannot send",
                PATIENCE,
                () -> database.queryLong("select count(*) from postroom.circuit") > 0);
        broker.restart();
    }

    /** Asks again, as an operator does, if Kafka has not answered in time. */
    private void moveOn(Postroom shaky, ServedBy target) {
        Books.await("the move to " + target + ", seed " + seed, PATIENCE, () -> {
            try {
                mover(shaky).build().run("books", target, new Act("ann", "test"), PATIENCE, line -> {});
                return true;
            } catch (PostroomException e) {
                assertThat(e.code()).isIn(Brokers.NO_ANSWER, "kafka.refused");
                return false;
            }
        });
    }

    /** There and back again; which step is which way is the seed's choice. */
    @Test
    void aCommandThatIsKilledBetweenStepsLeavesAMoveThatGoesOn() throws Exception {
        start();
        write();
        ServedBy target = ServedBy.KAFKA;
        long moved = 5;
        if (seed % 2 != 0) {
            assertThat(move(target)).isTrue();
            target = ServedBy.POSTGRES;
            moved++;
        }
        for (String step : STEPS) {
            awaitTraffic();
            kill(target, step);
            assertThat(servedBy().equals(target.word()))
                    .as("seed %d: %s", seed, step)
                    .isEqualTo(step.equals("switched"));
            awaitTraffic();
            assertThat(move(target))
                    .as("seed %d: what was switched is not switched again", seed)
                    .isEqualTo(!step.equals("switched"));
            assertThat(servedBy()).isEqualTo(target.word());
            target = target == ServedBy.KAFKA ? ServedBy.POSTGRES : ServedBy.KAFKA;
        }
        assertExact();
        assertThat(database.queryLong("select count(*) from postroom.subscription_move where outcome = 'done'"))
                .isEqualTo(moved);
    }

    /** Moves in another process, which is killed at a step. */
    private void kill(ServedBy target, String step) throws Exception {
        try (ChildJvm child = ChildJvm.start(
                MoveMain.class,
                List.of("-Xmx128m", "-XX:TieredStopAtLevel=1"),
                database.url(),
                broker.bootstrapServers(),
                own,
                target.name(),
                step)) {
            assertThat(child.awaitExit(PATIENCE)).as(child::toString).isEqualTo(CrashPoint.EXIT_CODE);
        }
    }

    /** What is for later has an old position, and is neither here nor there when the cut is made. */
    @Test
    void messagesForLaterMoveAlong() throws Exception {
        start();
        for (int i = 0; i < 5; i++) {
            publishLater("later-" + i);
        }
        write();
        awaitTraffic();
        move(ServedBy.KAFKA);
        assertThat(database.queryLong("select count(*) from postroom.delivery where subscription = 'books'"))
                .isZero();
        move(ServedBy.POSTGRES);
        Books.await("they wait here again", PATIENCE, () -> scheduled("books") == 5);
        assertThat(database.queryLong("select count(*) from booking where account like 'later%'"))
                .isZero();
        makeDue("books");
        makeDue("feed");
        assertExact();
    }

    /** It was not with Kafka when the cut was noted, and lies beyond the offsets when it is: only the relays can bring it. */
    @Test
    void whatTheFeedSendsAfterTheCutWasNotedIsNotLost() throws Exception {
        start();
        failures.incrementAndGet();
        assertThat(move(ServedBy.KAFKA)).isTrue();
        publishLater("soon");
        Books.await("the feed keeps it", PATIENCE, () -> scheduled("feed") == 1);
        source.close();
        kill(ServedBy.POSTGRES, "waiting");
        assertThat(broker.read(own)).isEmpty();
        makeDue("feed");
        Books.await("the feed has sent it", PATIENCE, () -> broker.read(own).size() == 1);
        assertThat(booked()).isZero();
        assertThat(move(ServedBy.POSTGRES)).isTrue();
        makeDue("books");
        assertExact();
    }

    /** So far ahead that it is due when the test says so. */
    private void publishLater(String account) throws SQLException {
        try (Connection tx = database.begin()) {
            postroom.outbox()
                    .publish(
                            tx,
                            Message.about("account", account)
                                    .event("Booked")
                                    .aggregateVersion(1)
                                    .payload("{\"amount\":5}")
                                    .availableAt(Instant.now().plus(Duration.ofDays(30)))
                                    .build());
            tx.commit();
        }
    }

    private long scheduled(String subscription) {
        return database.queryLong(
                "select count(*) from postroom.delivery where state = 'scheduled' and subscription = '" + subscription
                        + "'");
    }

    private void makeDue(String subscription) {
        database.execute(
                "update postroom.delivery set due_at = now() where state = 'scheduled' and subscription = '"
                        + subscription + "'",
                "select pg_notify('postroom_journal', 'deliveries')");
    }

    /** The cut knows nothing of it: the group begins at its beginning. Keys change their partition then, and order is lost with it. */
    @Test
    void whatComesToAPartitionThatIsAddedDuringTheMoveIsNotLost() throws Exception {
        start();
        write();
        awaitTraffic();
        AtomicBoolean added = new AtomicBoolean();
        assertThat(move(ServedBy.KAFKA, line -> {
                    if (added.compareAndSet(false, true)) {
                        addPartition();
                    }
                }))
                .isTrue();
        assertThat(added).isTrue();
        awaitTraffic();
        assertThat(move(ServedBy.POSTGRES)).isTrue();
        stopWriting();
        long all = published();
        Books.await("seed " + seed + ": all booked", PATIENCE, () -> booked() >= all);
        assertThat(Books.wrong(database, "select id from postroom.outbox").stream()
                        .filter(each -> !each.startsWith("out of order")))
                .as("seed %d", seed)
                .isEmpty();
    }

    private void addPartition() {
        try (Admin admin = broker.admin()) {
            admin.createPartitions(Map.of(own, NewPartitions.increaseTo(4)))
                    .all()
                    .get();
            TopicPartition fourth = new TopicPartition(own, 3);
            Books.await("something is written to it", PATIENCE, () -> {
                try {
                    return admin.listOffsets(Map.of(fourth, OffsetSpec.latest()))
                                    .partitionResult(fourth)
                                    .get()
                                    .offset()
                            > 0;
                } catch (ExecutionException e) {
                    return false;
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            });
        } catch (ExecutionException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** A source that is brought nothing must find out by itself that it serves no more, and leave its group. */
    @Test
    void movesThereAndBackWithoutAnyTraffic() throws Exception {
        start();
        for (int round = 0; round < 2; round++) {
            assertThat(move(ServedBy.KAFKA)).isTrue();
            Books.await("the source is in its group", PATIENCE, source::isReceiving);
            assertThat(move(ServedBy.POSTGRES)).isTrue();
        }
        assertThat(servedBy()).isEqualTo("postgres");
    }

    @Test
    void refusesWhatCannotBeMovedAndSaysWhy() {
        start();
        KafkaMove move = mover().build();
        assertThatThrownBy(() -> move.run("nobody", ServedBy.KAFKA, new Act("ann", "x"), PATIENCE, line -> {}))
                .hasMessageContaining("there is no such subscription");
        assertThatThrownBy(() -> move.run("feed", ServedBy.KAFKA, new Act("ann", "x"), PATIENCE, line -> {}))
                .hasMessageContaining("its receiver is a sink")
                .hasMessageContaining("it cannot be its own feed");
        assertThatThrownBy(() -> move.run("books", ServedBy.KAFKA, new Act("ann", " "), PATIENCE, line -> {}))
                .extracting("code")
                .isEqualTo("audit.invalid");
        assertThatThrownBy(() -> KafkaMove.builder(postroom).property("a", "b").build())
                .hasMessageContaining("bootstrapServers is empty")
                .hasMessageContaining("there is no topic")
                .hasMessageContaining("feed is empty")
                .hasMessageContaining("property a is not");
        KafkaMove elsewhere = mover().feed("feeds").build();
        assertThatThrownBy(() -> elsewhere.run("books", ServedBy.KAFKA, new Act("ann", "x"), PATIENCE, line -> {}))
                .hasMessageContaining("there is no subscription feeds");
        assertThat(elsewhere.plan("books", ServedBy.KAFKA).obstacles()).hasSize(1);
        try (Brokers brokers = new Brokers(Map.of("bootstrap.servers", broker.bootstrapServers()), List.of(own))) {
            brokers.begin(own + "-ledger", "ledger", Map.of(own + "/0", 0L));
        }
        assertThat(mover().group(own + "-ledger")
                        .build()
                        .plan("books", ServedBy.KAFKA)
                        .obstacles())
                .singleElement()
                .asString()
                .contains("is that of postroom consumer ledger");
        assertThatThrownBy(() -> KafkaMove.builder(postroom)
                        .bootstrapServers(broker.bootstrapServers())
                        .asItCame()
                        .build()
                        .plan("books", ServedBy.POSTGRES))
                .hasMessageContaining("it was not moved to Kafka before");
        assertThatThrownBy(() -> mover().topics(List.of("nothing")).build().plan("books", ServedBy.KAFKA))
                .hasMessageContaining("topics [nothing]");
        assertThat(database.queryLong("select count(*) from postroom.subscription_move"))
                .isZero();
    }

    @Test
    void itGoesBackWithoutWhatKafkaHasDeletedOnlyIfSomebodySaysSo() throws Exception {
        start();
        assertThat(move(ServedBy.KAFKA)).isTrue();
        source.close();
        database.execute("update postroom.source_offset set began_offset = 0, next_offset = 0");
        try (Connection tx = database.begin()) {
            postroom.outbox().publishAll(tx, Messages.ofManyKeys("a", 20));
            tx.commit();
        }
        Books.await("they are with Kafka", PATIENCE, () -> broker.read(own).size() >= 20);
        try (Admin admin = broker.admin()) {
            Map<TopicPartition, RecordsToDelete> all = new HashMap<>();
            for (int i = 0; i < 3; i++) {
                all.put(new TopicPartition(own, i), RecordsToDelete.beforeOffset(-1));
            }
            admin.deleteRecords(all).all().get();
        }
        assertThatThrownBy(() -> move(ServedBy.POSTGRES))
                .hasMessageContaining("Kafka has deleted records")
                .extracting("code")
                .isEqualTo("subscription.records-lost");
        assertThat(servedBy()).isEqualTo("kafka");
        assertThat(mover().acceptLoss(true)
                        .build()
                        .run("books", ServedBy.POSTGRES, new Act("ann", "test"), PATIENCE, line -> {}))
                .isTrue();
    }

    @Test
    void aMoveThatHasToWaitTooLongStaysAndCanBeCancelled() throws Exception {
        start();
        failures.incrementAndGet();
        assertThat(move(ServedBy.KAFKA)).isTrue();
        source.close();
        write();
        Books.await(
                "records that nobody applies", PATIENCE, () -> !broker.read(own).isEmpty());
        KafkaMove move = mover().build();
        assertThatThrownBy(() ->
                        move.run("books", ServedBy.POSTGRES, new Act("ann", "x"), Duration.ofMillis(300), line -> {}))
                .hasMessageContaining("it waits for group " + own + " to apply")
                .extracting("code")
                .isEqualTo("subscription.move-waits");
        assertThat(postroom.moves().underWay("books")).isPresent();
        KafkaMove other = mover().group("others").build();
        assertThatThrownBy(() -> other.run("books", ServedBy.POSTGRES, new Act("ann", "x"), PATIENCE, line -> {}))
                .extracting("code")
                .isEqualTo("subscription.other-move");
        assertThat(postroom.moves().cancel("books", new Act("ann", "changed my mind")))
                .isPresent();
        assertThat(postroom.moves().cancel("books", new Act("ann", "changed my mind")))
                .isEmpty();
        assertThat(servedBy()).isEqualTo("kafka");
    }
}
