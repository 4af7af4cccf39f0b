package io.postroom.relay;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.Postroom;
import io.postroom.message.Message;
import io.postroom.subscription.Act;
import io.postroom.testkit.Messages;
import io.postroom.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Lanes that are to be given back while a handler hangs on their threads, deaf to interrupts. */
class DrainedLaneTest {
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final Duration LEASE = Duration.ofMillis(600);
    /** Several beats: the lanes are asked to end well before. */
    private static final Duration DEADLINE = Duration.ofSeconds(1);

    private static final Act ACT = new Act("tester", "to see whether the lane ends");

    private final CountDownLatch end = new CountDownLatch(1);
    private final AtomicInteger hanging = new AtomicInteger();
    private final Set<String> handled = ConcurrentHashMap.newKeySet();
    private TestDatabase database;

    @BeforeEach
    void create() {
        database = TestDatabase.create();
    }

    @AfterEach
    void drop() {
        end.countDown();
        database.close();
    }

    @Test
    void aPausedSubscriptionGetsItsLaneBackAndCanBeResumed() throws Exception {
        publish(Messages.ofManyKeys("any", 5));
        try (Relay relay = relay("only", 1, 1)) {
            relay.start();
            await(() -> hanging.get() == 1);
            database.postroom().subscriptions().pause("drained", ACT);
            await(() -> owned("") == 0);
            assertThat(handled).as("while it is paused").isEmpty();
            database.postroom().subscriptions().resume("drained", ACT);
            await(() -> handled.size() == 5);
            await(() -> database.queryLong("select count(*) from postroom.delivery") == 0);
        }
    }

    @Test
    void aRelayThatJoinsGetsItsShare() throws Exception {
        publish(Messages.ofManyKeys("any", 50));
        try (Relay first = relay("first", 2, 2);
                Relay second = relay("second", 2, 0)) {
            first.start();
            await(() -> hanging.get() == 2);
            second.start();
            await(() -> owned("and owner = '" + second.id() + "'") == 1);
            await(() -> handled.size() == 50);
        }
    }

    /** The first so many messages never come back. */
    private Relay relay(String name, int lanes, int hangs) {
        Handler handler = envelope -> {
            if (hanging.get() < hangs) {
                hanging.incrementAndGet();
                awaitDeaf(end);
                return;
            }
            handled.add(envelope.message().aggregateId());
        };
        return Postroom.on(database.dataSource())
                .relay()
                .name(name)
                .lease(LEASE)
                .probe(Duration.ofMillis(5), Duration.ofMillis(20))
                .handle(
                        Subscription.named("drained")
                                .lanes(lanes)
                                .deadline(DEADLINE)
                                .build(),
                        handler)
                .build();
    }

    private long owned(String and) {
        return database.queryLong("select count(*) from postroom.lane where owner is not null " + and);
    }

    private void publish(List<Message> messages) throws SQLException {
        try (Connection tx = database.begin()) {
            database.postroom().outbox().publishAll(tx, messages);
            tx.commit();
        }
    }

    /** Waits whatever happens, as code does that swallows interrupts. */
    private static void awaitDeaf(CountDownLatch latch) {
        while (latch.getCount() > 0) {
            try {
                latch.await();
            } catch (InterruptedException e) {
                // Deaf.
            }
        }
    }

    private static void await(BooleanSupplier condition) {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).as("in time").isLessThan(deadline);
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
        }
    }
}
