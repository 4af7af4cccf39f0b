package io.postroom.relay;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.message.Envelope;
import io.postroom.message.Message;
import io.postroom.retry.RetryPolicy;
import io.postroom.testkit.Messages;
import io.postroom.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A batch that a projection refuses because it is away keeps its turn: nothing of its lane goes before it, whoever finds out that the
 * projection is back. A lane that broke would have been taken again, and its fence would tell.
 */
class RefusedBatchTest {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Duration HOUR = Duration.ofHours(1);

    private TestDatabase database;

    @BeforeEach
    void create() {
        database = TestDatabase.create();
        database.execute("create table applied (run text, key text, version bigint, n serial)");
    }

    @AfterEach
    void drop() {
        database.close();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aLaneThatHearsFromAnotherThatTheOutageIsOverGoesOnWhereItWas(boolean inbox) throws Exception {
        publish(interleaved(12, 3));
        Projection projection = new Scripted("twin") {
            @Override
            void before(Connection tx, int call, int messages) {
                if (call == 1) {
                    // The other lane is told that we are away, and that it need not ask before long: only this one can
                    // tell it more.
                    await(() -> count("postroom.circuit") == 1);
                } else if (call == 2) {
                    throw new OutcomeException(Outcome.unavailable("not now", HOUR));
                }
            }
        };
        deliver("twin", 2, projection, inbox, 36);
        assertEachAppliedOnceInOrder("twin", 12, 3);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aBatchThatFailsAfterAnOutageIsMadeSmallerAndKeepsItsTurn(boolean inbox) throws Exception {
        publish(interleaved(24, 1));
        AtomicInteger third = new AtomicInteger();
        Projection projection = new Scripted("halves") {
            @Override
            void before(Connection tx, int call, int messages) {
                if (call == 1) {
                    await(() -> count("postroom.circuit") == 1);
                } else if (call == 2) {
                    throw new OutcomeException(Outcome.unavailable("not now", HOUR));
                } else if (call == 3) {
                    third.set(messages);
                    throw new IllegalStateException("not so many");
                }
            }
        };
        deliver("halves", 2, projection, inbox, 24);
        assertThat(third).hasValueGreaterThan(1);
        assertEachAppliedOnceInOrder("halves", 24, 1);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aProbeWhoseSessionEndsKeepsItsTurn(boolean inbox) throws Exception {
        publish(interleaved(3, 3));
        Projection projection = new Scripted("probe") {
            @Override
            void before(Connection tx, int call, int messages) throws SQLException {
                if (call == 1) {
                    throw new OutcomeException(Outcome.unavailable("not now"));
                } else if (call == 2) {
                    endSession(tx);
                }
            }
        };
        deliver("probe", 1, projection, inbox, 9);
        assertEachAppliedOnceInOrder("probe", 3, 3);
    }

    /** What any of them says is heard by all lanes, at any time. */
    @Test
    void whateverAProjectionSaysInWhichOrderNoLaneBreaksAndEachMessageTakesEffectOnceInOrder() throws Exception {
        publish(interleaved(10, 4));
        for (int seed = 1; seed <= 30; seed++) {
            String run = "random-" + seed;
            Random random = new Random(seed);
            boolean inbox = random.nextInt(4) == 0;
            int lanes = 1 + random.nextInt(3);
            if (random.nextInt(3) == 0) {
                leaveBehind(run, lanes);
            }
            deliver(run, lanes, new RandomScript(run, random), inbox, 40);
            assertEachAppliedOnceInOrder(run, 10, 4);
        }
    }

    /** Applies what it does not refuse. */
    private abstract class Scripted implements Projection {
        private final String run;
        private final AtomicInteger calls = new AtomicInteger();

        Scripted(String run) {
            this.run = run;
        }

        /** Throws what is to go wrong with this call. */
        abstract void before(Connection tx, int call, int messages) throws Exception;

        @Override
        public void apply(Connection tx, List<Envelope> batch) throws Exception {
            before(tx, calls.incrementAndGet(), batch.size());
            try (PreparedStatement insert =
                    tx.prepareStatement("insert into applied (run, key, version) values (?, ?, ?)")) {
                for (Envelope envelope : batch) {
                    insert.setString(1, run);
                    insert.setString(2, envelope.message().aggregateId());
                    insert.setObject(3, envelope.message().aggregateVersion());
                    insert.addBatch();
                }
                insert.executeBatch();
            }
        }
    }

    /** Most calls go wrong, each in a way of its own, until there were enough of them. */
    private final class RandomScript extends Scripted {
        private static final int TROUBLES = 25;
        private final Random random;

        RandomScript(String run, Random random) {
            super(run);
            this.random = random;
        }

        @Override
        void before(Connection tx, int call, int messages) throws SQLException {
            int next;
            synchronized (random) {
                next = call > TROUBLES ? -1 : random.nextInt(10);
            }
            switch (next) {
                case 0, 1, 2 -> throw new OutcomeException(Outcome.unavailable("not now"));
                case 3 -> throw new OutcomeException(Outcome.unavailable("not now", Duration.ZERO));
                case 4, 5 -> throw new IllegalStateException("not so");
                case 6 -> throw new SQLException("disturbed", "40001");
                case 7 -> endSession(tx);
                default -> {
                    // This one takes effect.
                }
            }
        }
    }

    private static void endSession(Connection tx) throws SQLException {
        try (Statement statement = tx.createStatement()) {
            statement.execute("select pg_terminate_backend(pg_backend_pid())");
        }
    }

    /** Lanes as a relay leaves them that dies: the next one notes what it sends before it sends it. */
    private void leaveBehind(String name, int lanes) {
        Projection away = (tx, batch) -> {
            throw new OutcomeException(Outcome.unavailable("not now", HOUR));
        };
        try (Relay relay = relay(name, lanes, away)) {
            relay.runOnce();
        }
        database.execute("update postroom.lane set owner = gen_random_uuid(), leased_until = now() - interval '1 hour'"
                + " where subscription = '" + name + "'");
    }

    private Relay relay(String name, int lanes, Projection projection) {
        Subscription subscription = Subscription.named(name)
                .lanes(lanes)
                .retry(RetryPolicy.builder()
                        .linear(Duration.ofMillis(1))
                        .attemptsMax(100)
                        .build())
                .build();
        return database.postroom()
                .relay()
                .project(subscription, projection)
                .batch(15, 1_048_576)
                .poll(Duration.ofMillis(1), Duration.ofMillis(5))
                .probe(Duration.ofMillis(2), Duration.ofMillis(5))
                .build();
    }

    private void deliver(String name, int lanes, Projection projection, boolean inbox, long messages) {
        long fence = maxFence(name);
        try (Relay relay =
                relay(name, lanes, inbox ? projection.behind(database.postroom().inbox(), name) : projection)) {
            relay.start();
            await(() -> count("applied where run = '" + name + "'") >= messages
                    && database.queryLong("select min(position) from postroom.lane where subscription = '" + name + "'")
                            == messages);
        }
        assertThat(maxFence(name) - fence)
                .as("%s: how often a lane was taken", name)
                .isEqualTo(1);
    }

    private long maxFence(String name) {
        return database.queryLong(
                "select coalesce(max(fence), 0) from postroom.lane where subscription = '" + name + "'");
    }

    private void assertEachAppliedOnceInOrder(String run, int keys, int versions) throws SQLException {
        List<String> expected = new ArrayList<>();
        interleaved(keys, versions).stream()
                .sorted(Comparator.comparing(Message::aggregateId).thenComparing(Message::aggregateVersion))
                .forEach(message -> expected.add(message.aggregateId() + " " + message.aggregateVersion()));
        List<String> applied = new ArrayList<>();
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement();
                var row = statement.executeQuery("select key || ' ' || version from applied where run = '" + run
                        + "' order by key collate \"C\", n")) {
            while (row.next()) {
                applied.add(row.getString(1));
            }
        }
        assertThat(applied).as(run).isEqualTo(expected);
    }

    /** The first messages of all keys, then the second ones, and so on. */
    private static List<Message> interleaved(int keys, int versions) {
        List<Message> messages = new ArrayList<>();
        for (int key = 0; key < keys; key++) {
            messages.addAll(Messages.sequence("key-" + key, versions));
        }
        messages.sort(Comparator.comparing(Message::aggregateVersion));
        return messages;
    }

    private long count(String from) {
        return database.queryLong("select count(*) from " + from);
    }

    private void publish(List<Message> messages) throws SQLException {
        try (Connection tx = database.begin()) {
            database.postroom().outbox().publishAll(tx, messages);
            tx.commit();
        }
    }

    private static void await(BooleanSupplier condition) {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime() - deadline).as("still not").isNegative();
            LockSupport.parkNanos(20_000_000);
        }
    }
}
