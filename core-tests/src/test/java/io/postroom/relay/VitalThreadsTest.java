package io.postroom.relay;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.Postroom;
import io.postroom.maintenance.Maintenance;
import io.postroom.subscription.Act;
import io.postroom.telemetry.Telemetry;
import io.postroom.testkit.Messages;
import io.postroom.testkit.RecordingSink;
import io.postroom.testkit.TestDatabase;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Errors, such as a neighbour's that leaves no memory for a moment, in threads that everything hangs on. */
class VitalThreadsTest {
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final Duration LEASE = Duration.ofMillis(900);

    private final RecordingSink sink = new RecordingSink();
    private TestDatabase database;

    @BeforeEach
    void create() {
        database = TestDatabase.create();
    }

    @AfterEach
    void drop() {
        database.close();
    }

    @Test
    void leasesAreRenewedAfterAnError() throws Exception {
        AtomicInteger beats = new AtomicInteger();
        Telemetry telemetry = new Telemetry() {
            @Override
            public void lag(String subscription, long messages, Duration age) {
                if (isOn("postroom-leases") && beats.incrementAndGet() <= 2) {
                    throw new OutOfMemoryError("told to");
                }
            }
        };
        Postroom postroom =
                Postroom.builder(database.dataSource()).telemetry(telemetry).build();
        try (Relay relay = relay(postroom)) {
            relay.start();
            await(() -> beats.get() > 4);
            publish();
            sink.awaitAccepted(10, PATIENCE);
            assertThat(database.queryLong(
                            "select count(*) from postroom.lane where leased_until > clock_timestamp() and owner = '"
                                    + relay.id() + "'"))
                    .isPositive();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"postroom-stamp", "postroom-listen"})
    void relaysStampAndListenAfterAnError(String thread) throws Exception {
        Shaken shaken = new Shaken(database.dataSource(), thread);
        try (Relay relay = relay(Postroom.on(shaken.dataSource()))) {
            relay.start();
            await(() -> shaken.asked() > 2);
            publish();
            sink.awaitAccepted(10, PATIENCE);
            await(() -> database.queryLong("select count(*) from pg_stat_activity where datname = current_database()"
                            + " and query like 'listen %'")
                    == 1);
        }
    }

    @Test
    void maintenanceGoesOnAfterAnError() {
        Shaken shaken = new Shaken(database.dataSource(), "postroom-maintenance");
        try (Maintenance maintenance = Postroom.on(shaken.dataSource()).maintenance()) {
            maintenance.start();
            // The round of the hour, the first look for redrives, and one more.
            await(() -> shaken.asked() > 2);
        }
    }

    @Test
    void aLaneWhoseEndBreaksIsTakenAgain() throws Exception {
        AtomicInteger breaks = new AtomicInteger();
        Telemetry telemetry = new Telemetry() {
            @Override
            public void settled(String subscription, int lane, long position) {
                if (breaks.getAndIncrement() == 0) {
                    throw new IllegalStateException("no metrics today");
                }
            }
        };
        Postroom postroom =
                Postroom.builder(database.dataSource()).telemetry(telemetry).build();
        try (Relay relay = postroom.relay()
                .lease(Duration.ofSeconds(3))
                .settleInterval(Duration.ofSeconds(3))
                .deliver(Subscription.named("billing").build(), sink)
                .build()) {
            relay.start();
            publish();
            sink.awaitAccepted(10, PATIENCE);
            Act act = new Act("tester", "to see what happens");
            postroom.subscriptions().pause("billing", act);
            await(() -> breaks.get() > 0);
            postroom.subscriptions().resume("billing", act);
            publish();
            sink.awaitAccepted(20, PATIENCE);
        }
    }

    @Test
    void aLaneWhoseSecondThreadBreaksIsTakenAgain() throws Exception {
        AtomicInteger breaks = new AtomicInteger();
        AtomicInteger handled = new AtomicInteger();
        CountDownLatch hang = new CountDownLatch(1);
        Telemetry telemetry = new Telemetry() {
            @Override
            public void failed(Failure failure) {
                if (breaks.getAndIncrement() == 0) {
                    throw new IllegalStateException("no metrics today");
                }
            }
        };
        Postroom postroom =
                Postroom.builder(database.dataSource()).telemetry(telemetry).build();
        Subscription billing =
                Subscription.named("billing").deadline(Duration.ofMillis(200)).build();
        try (Relay relay = postroom.relay()
                .lease(LEASE)
                .handle(billing, envelope -> {
                    if (breaks.get() == 0) {
                        hang.await();
                    }
                    handled.incrementAndGet();
                })
                .build()) {
            relay.start();
            publish();
            await(() -> handled.get() >= 10);
        } finally {
            hang.countDown();
        }
    }

    @Test
    void aShortDeadlineIsWatchedWithoutMoreBeats() throws Exception {
        AtomicInteger beats = new AtomicInteger();
        CountDownLatch interrupted = new CountDownLatch(1);
        CountDownLatch hang = new CountDownLatch(1);
        Telemetry telemetry = new Telemetry() {
            @Override
            public void lag(String subscription, long messages, Duration age) {
                beats.addAndGet(isOn("postroom-leases") ? 1 : 0);
            }
        };
        Postroom postroom =
                Postroom.builder(database.dataSource()).telemetry(telemetry).build();
        Subscription billing =
                Subscription.named("billing").deadline(Duration.ofMillis(400)).build();
        try (Relay relay = postroom.relay()
                .lease(Duration.ofMinutes(5))
                .handle(billing, envelope -> {
                    try {
                        hang.await();
                    } catch (InterruptedException e) {
                        hang.countDown();
                        interrupted.countDown();
                    }
                })
                .build()) {
            relay.start();
            publish();
            assertThat(interrupted.await(PATIENCE.toSeconds(), TimeUnit.SECONDS))
                    .isTrue();
            assertThat(beats).as("beats while it hung").hasValueLessThanOrEqualTo(1);
        }
    }

    private Relay relay(Postroom postroom) {
        return postroom.relay()
                .lease(LEASE)
                .deliver(Subscription.named("billing").build(), sink)
                .build();
    }

    private void publish() throws SQLException {
        try (Connection tx = database.begin()) {
            database.postroom().outbox().publishAll(tx, Messages.ofManyKeys("any", 10));
            tx.commit();
        }
    }

    private static boolean isOn(String thread) {
        return Thread.currentThread().getName().startsWith(thread);
    }

    private static void await(BooleanSupplier condition) {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (!condition.getAsBoolean()) {
            assertThat(deadline - System.nanoTime()).as("time left").isPositive();
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
        }
    }

    /** Throws an error at one thread the first two times it asks for a connection. */
    private static final class Shaken {
        private final DataSource behind;
        private final String thread;
        private final AtomicInteger asked = new AtomicInteger();

        Shaken(DataSource behind, String thread) {
            this.behind = behind;
            this.thread = thread;
        }

        int asked() {
            return asked.get();
        }

        DataSource dataSource() {
            return (DataSource) Proxy.newProxyInstance(
                    getClass().getClassLoader(), new Class<?>[] {DataSource.class}, (proxy, method, arguments) -> {
                        if (method.getName().equals("getConnection") && isOn(thread) && asked.incrementAndGet() <= 2) {
                            throw new OutOfMemoryError("told to");
                        }
                        try {
                            return method.invoke(behind, arguments);
                        } catch (InvocationTargetException e) {
                            throw e.getCause();
                        }
                    });
        }
    }
}
