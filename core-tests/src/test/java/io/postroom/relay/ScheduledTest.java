package io.postroom.relay;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.message.Message;
import io.postroom.retry.RetryPolicy;
import io.postroom.testkit.Messages;
import io.postroom.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A message for later is due when it says, by the database's clock. */
class ScheduledTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int REMINDERS = 10;
    private static final Duration APART = Duration.ofMillis(250);

    private TestDatabase database;

    @BeforeEach
    void create() {
        database = TestDatabase.create();
    }

    @AfterEach
    void drop() {
        database.close();
    }

    /** The handler works for long after the batch was read, and nothing is written before it is done. */
    @Test
    void keepsItsOwnTimeHoweverLateItIsRecorded() throws Exception {
        publish(later(now().plus(Duration.ofHours(1)).plusNanos(123_456_000)), Messages.order("now"));
        CountDownLatch handling = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        Handler slow = envelope -> {
            handling.countDown();
            assertThat(go.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
        };
        try (Relay relay = database.postroom()
                .relay()
                .settleInterval(Duration.ofSeconds(10))
                .handle(subscription(), slow)
                .build()) {
            relay.start();
            assertThat(handling.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
            assertThat(database.queryLong("select count(*) from postroom.delivery"))
                    .as("it is not recorded yet")
                    .isZero();
            // Whatever the clock shows now, it has gone on since the batch was read.
            Instant read = now();
            while (!now().isAfter(read.plusMillis(50))) {
                Thread.onSpinWait();
            }
            go.countDown();
        }
        assertThat(
                        database.queryLong(
                                "select count(*) from postroom.delivery as d join postroom.outbox as o"
                                        + " on o.seq = d.seq and o.day = d.outbox_day where d.state = 'scheduled' and d.due_at = o.available_at"))
                .isEqualTo(1);
    }

    /** One lane, and more to do than it can do in a long time. */
    @Test
    void isOnTimeBehindASlowHandlerAndSoIsARetry() throws Exception {
        Instant due = now().plusMillis(1_500);
        publish(Messages.order("fails"), later(due));
        publish(Messages.ofManyKeys("slow", 2_000).toArray(Message[]::new));
        Map<String, Instant> sent = new ConcurrentHashMap<>();
        CountDownLatch both = new CountDownLatch(2);
        Handler handler = envelope -> {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
            if (envelope.message().aggregateId().equals("fails") && envelope.attempt() == 1) {
                sent.put("first", now());
                throw new OutcomeException(Outcome.retry("not now"));
            }
            if (envelope.message().aggregateId().equals("fails")
                    || envelope.message().availableAt() != null) {
                sent.put(envelope.message().availableAt() == null ? "again" : "due", now());
                both.countDown();
            }
        };
        Subscription one = Subscription.named("slow")
                .lanes(1)
                .retry(RetryPolicy.builder()
                        .linear(Duration.ofSeconds(1))
                        .jitter(0)
                        .attemptsMax(5)
                        .build())
                .build();
        try (Relay relay = database.postroom().relay().handle(one, handler).build()) {
            relay.start();
            assertThat(both.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
        }
        assertThat(Duration.between(due, sent.get("due")))
                .as("scheduled, late by")
                .isLessThan(Duration.ofSeconds(3));
        assertThat(Duration.between(sent.get("first"), sent.get("again")))
                .as("tried again after")
                .isBetween(Duration.ofMillis(900), Duration.ofSeconds(4));
    }

    /** Whoever else has to be on time on this machine is late, too: the bound is a second, and what it costs a timer to ask the clock. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void isSentAtItsTimeAndWithinASecondOfIt(boolean busy) throws Exception {
        Instant first = now().plusMillis(500);
        List<Message> reminders = IntStream.range(0, REMINDERS)
                .mapToObj(n -> later(first.plus(APART.multipliedBy(n))))
                .toList();
        publish(reminders.toArray(Message[]::new));
        Map<Instant, Duration> late = new ConcurrentHashMap<>();
        Handler handler = envelope -> {
            Instant due = envelope.message().availableAt();
            if (due != null) {
                late.putIfAbsent(due, Duration.between(due, now()));
            }
        };
        try (Timers timers = new Timers();
                Relay relay = database.postroom()
                        .relay()
                        .handle(subscription(), handler)
                        .build()) {
            for (Message reminder : reminders) {
                timers.at(reminder.availableAt());
            }
            relay.start();
            long deadline = System.nanoTime() + PATIENCE.toNanos();
            for (int n = 0; late.size() < REMINDERS || timers.late.size() < REMINDERS; n++) {
                assertThat(System.nanoTime()).as("in time").isLessThan(deadline);
                if (busy) {
                    publish(Messages.order("busy-" + n));
                }
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
            }
            assertThat(late.values()).allMatch(each -> !each.isNegative(), "not before its time");
            assertThat(worst(late.values()))
                    .as("late by, while a timer is late by %s: %s", worst(timers.late), late)
                    .isLessThan(Duration.ofSeconds(1).plus(worst(timers.late).multipliedBy(3)));
        }
    }

    /** Asks the clock at given times. */
    private final class Timers implements AutoCloseable {
        private final ScheduledExecutorService threads = Executors.newScheduledThreadPool(2);
        private final List<Duration> late = new CopyOnWriteArrayList<>();

        void at(Instant due) throws SQLException {
            long millis = Math.max(0, Duration.between(now(), due).toMillis() + 1);
            threads.schedule(() -> late.add(Duration.between(due, now())), millis, TimeUnit.MILLISECONDS);
        }

        @Override
        public void close() {
            threads.shutdownNow();
        }
    }

    /** Of nine in ten: a machine may stand still for a moment. */
    private static Duration worst(Collection<Duration> durations) {
        List<Duration> sorted = durations.stream().sorted().toList();
        return sorted.get(sorted.size() * 9 / 10 - 1);
    }

    private static Message later(Instant at) {
        return Message.about("order", "any")
                .event("Reminder")
                .payload("{}")
                .availableAt(at)
                .build();
    }

    private static Subscription subscription() {
        return Subscription.named("scheduled").lanes(1).build();
    }

    private void publish(Message... messages) throws SQLException {
        try (Connection tx = database.begin()) {
            database.postroom().outbox().publishAll(tx, List.of(messages));
            tx.commit();
        }
    }

    /** By the database's clock. */
    private Instant now() throws SQLException {
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("select clock_timestamp()")) {
            row.next();
            return row.getObject(1, OffsetDateTime.class).toInstant();
        }
    }
}
