package io.postroom.fault;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.Postroom;
import io.postroom.message.Envelope;
import io.postroom.relay.Outcome;
import io.postroom.relay.Relay;
import io.postroom.relay.Sink;
import io.postroom.relay.Subscription;
import io.postroom.retry.RetryPolicy;
import io.postroom.subscription.Act;
import io.postroom.subscription.LaneCount;
import io.postroom.subscription.Subscriptions;
import io.postroom.testkit.TestDatabase;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Operators change the number of lanes while messages of many keys flow. */
class LanesChangeTest {
    private static final int KEYS = 40;
    private static final Duration LEASE = Duration.ofMillis(1_500);
    /** Of relays in processes of their own: it must not run out by itself. */
    private static final Duration LONG_LEASE = Duration.ofSeconds(15);

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Act ACT = new Act("tester", "to see whether anything is lost");

    private final History history = new History();
    private final Counters counters = new Counters();
    private TestDatabase database;
    private Subscriptions subscriptions;

    @BeforeEach
    void create() throws Exception {
        database = TestDatabase.create();
        subscriptions = database.postroom().subscriptions();
        Writers.createAccounts(database.dataSource(), KEYS);
    }

    @AfterEach
    void drop() {
        database.close();
    }

    /** Every twentieth message fails once, so that there are deliveries to be moved, with others parked behind them. */
    @Test
    void nothingIsLostRepeatedOrOutOfOrderWhileRelaysLive(@TempDir Path folder) throws Exception {
        Path file = DeliveryFile.in(folder).path();
        try (FlakySink sink = new FlakySink(file);
                Conservation.Watch watch = new Conservation.Watch(database, "all", file, false);
                Writers writers = writers();
                Relay first = relay("first", sink);
                Relay second = relay("second", sink)) {
            first.start();
            second.start();
            writers.start(4);
            for (int lanes : new int[] {7, 2, 16}) {
                awaitProgress(200);
                change(lanes);
            }
            awaitProgress(200);
            writers.stop();
            awaitDelivered();
            watch.stop();
            assertThat(watch.wrong()).isEmpty();
            assertThat(watch.states()).as("deliveries that were moved").contains("waiting");
            assertThat(sink.failed).as("messages that failed once").hasSizeGreaterThan(10);
        }
        assertThat(history.violations(Truth.stored(database.dataSource()))).isEmpty();
        assertThat(history.duplicates()).isZero();
        assertThat(counters.takeovers).hasValue(0);
        assertThat(counters.lost).hasValue(0);
        assertThat(database.queryLong("select count(*) from postroom.lane")).isEqualTo(16);
        assertThat(database.queryLong("select count(*) from postroom.delivery")).isZero();
        assertThat(database.queryLong("select count(*) from postroom.audit where action = 'subscription lanes'"))
                .isEqualTo(3);
    }

    /** Each is killed with lanes that it was to give back, and with messages on their way: so many may come again, and no more. */
    @Test
    void nothingIsLostOrOutOfOrderWhenRelaysAreKilledMeanwhile(@TempDir Path folder) throws Exception {
        DeliveryFile file = DeliveryFile.in(folder);
        List<RelayProcess> relays = new ArrayList<>();
        long unrecorded = 0;
        try (Conservation.Watch watch = new Conservation.Watch(database, "all", file.path(), false);
                Writers writers = writers()) {
            relays.add(begin("survivor", file).running());
            for (int lanes : new int[] {7, 2}) {
                RelayProcess victim = begin("victim-" + lanes, file).running();
                relays.add(victim);
                if (lanes == 7) {
                    writers.start(3);
                }
                Deadline.await("the victim delivers", PATIENCE, () -> file.countOf(victim.name()) > 50);
                unrecorded += killWithLanes(victim, lanes, file);
                awaitLanes(lanes);
            }
            writers.stop();
            int committed = history.acknowledgedCount();
            Deadline.await("everything is delivered", PATIENCE, () -> file.distinct() >= committed);
            watch.stop();
            assertThat(watch.wrong()).isEmpty();
            assertThat(relays.get(0).child().lines())
                    .as("the survivor loses no lane, so nothing of its own comes again")
                    .noneMatch(line -> line.startsWith("telemetry: ") && line.endsWith(" lost"));
            relays.get(0).stop();
        } finally {
            relays.forEach(RelayProcess::close);
        }
        file.deliveries().forEach(history::delivered);
        assertThat(history.violations(Truth.stored(database.dataSource()))).isEmpty();
        assertThat((long) history.duplicates())
                .as("repeated; delivered by the victims and not recorded when they were killed: %d", unrecorded)
                .isLessThanOrEqualTo(unrecorded);
    }

    /**
     * Asks for another number of lanes while a relay that has some stands still, and kills it before it hears of it. Nobody can take its
     * lanes until this lets their leases run out, so what it leaves behind is there to be counted, however slow the machine is.
     *
     * @return how many messages it has delivered of which the database does not know
     */
    private long killWithLanes(RelayProcess victim, int lanes, DeliveryFile file) throws Exception {
        Deadline.await("the victim has messages on their way", PATIENCE, () -> {
            victim.child().freeze();
            boolean busy = !victim.lanes(database).isEmpty()
                    && !Conservation.unrecorded(database, "all", victim.name(), file)
                            .isEmpty();
            if (!busy) {
                victim.child().thaw();
            }
            return busy;
        });
        LaneCount asked = subscriptions.changeLanes("all", lanes, ACT);
        assertThat(asked.wanted()).as("it waits for the victim's lanes").isEqualTo(lanes);
        victim.child().kill();
        assertThat(victim.lanes(database)).as("lanes at the moment of death").isNotEmpty();
        long unrecorded =
                Conservation.unrecorded(database, "all", victim.name(), file).size();
        database.execute(
                "update postroom.relay set leased_until = clock_timestamp() - interval '1 second' where id = '"
                        + victim.id() + "'",
                "update postroom.lane set leased_until = clock_timestamp() - interval '1 second' where owner = '"
                        + victim.id() + "'");
        return unrecorded;
    }

    private RelayProcess.Starting begin(String name, DeliveryFile file) {
        return RelayProcess.begin(database, name, file, 4, LONG_LEASE, Duration.ofMillis(1));
    }

    private void change(int lanes) {
        LaneCount asked = subscriptions.changeLanes("all", lanes, ACT);
        assertThat(asked.lanes() == lanes || Integer.valueOf(lanes).equals(asked.wanted()))
                .isTrue();
        awaitLanes(lanes);
    }

    private void awaitLanes(int lanes) {
        Deadline.await(
                () -> "lanes become " + lanes + ": " + subscriptions.find("all"),
                PATIENCE,
                () -> subscriptions.find("all").orElseThrow().lanes() == lanes);
        Deadline.await(
                () -> "lanes catch up: " + subscriptions.find("all"),
                PATIENCE,
                () -> subscriptions.find("all").orElseThrow().catchUpTo() == null);
    }

    private void awaitProgress(int messages) {
        int before = history.deliveries().size();
        Deadline.await(
                () -> "so many more are delivered: " + history.deliveries().size() + " after " + before,
                PATIENCE,
                () -> history.deliveries().size() >= before + messages);
    }

    private void awaitDelivered() {
        Deadline.await(
                () -> "everything is delivered: " + history.deliveredIds().size() + " of "
                        + history.acknowledgedCount(),
                PATIENCE,
                () -> history.deliveredIds().size() == history.acknowledgedCount());
    }

    private Writers writers() {
        return new Writers(
                database.dataSource(),
                database.postroom(),
                history,
                KEYS,
                System.nanoTime(),
                0.03,
                Writers.Style.PLAIN,
                Writers.Style.BATCH);
    }

    private Relay relay(String name, Sink sink) {
        RetryPolicy soon = RetryPolicy.builder()
                .linear(Duration.ofMillis(50))
                .attemptsMax(20)
                .build();
        return Postroom.builder(database.dataSource())
                .telemetry(counters)
                .build()
                .relay()
                .name(name)
                .lease(LEASE)
                .deliver(Subscription.named("all").lanes(4).retry(soon).build(), sink)
                .build();
    }

    /** Answers later and from another thread, as a broker does; some messages fail once. */
    private final class FlakySink implements Sink {
        private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
        private final Set<UUID> failed = ConcurrentHashMap.newKeySet();
        private final FileChannel file;

        FlakySink(Path file) throws IOException {
            this.file = FileChannel.open(file, StandardOpenOption.APPEND);
        }

        @Override
        public CompletionStage<Outcome> send(Envelope envelope) {
            CompletableFuture<Outcome> answer = new CompletableFuture<>();
            timer.schedule(
                    () -> answer.complete(outcome(envelope)),
                    ThreadLocalRandom.current().nextInt(1, 8),
                    TimeUnit.MILLISECONDS);
            return answer;
        }

        private Outcome outcome(Envelope envelope) {
            if (envelope.position() % 20 == 0 && failed.add(envelope.message().id())) {
                return Outcome.retry("once");
            }
            history.delivered(History.Delivery.of("sink", envelope));
            DeliveryFile.append(file, History.Delivery.of("sink", envelope));
            return Outcome.accepted();
        }

        @Override
        public void close() {
            timer.shutdownNow();
            try {
                file.close();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
