package io.postroom.relay;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.message.Message;
import io.postroom.testkit.Messages;
import io.postroom.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A message for later is due when it says, by the database's clock. */
class ScheduledTest {
    private static final Duration PATIENCE = Duration.ofSeconds(20);

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

    @Test
    void isSentAtItsTimeAndSoonAfterIt() throws Exception {
        Instant due = now().plusMillis(800);
        publish(later(due));
        CompletableFuture<Instant> sent = new CompletableFuture<>();
        try (Relay relay = database.postroom()
                .relay()
                .handle(subscription(), envelope -> sent.complete(now()))
                .build()) {
            relay.start();
            assertThat(sent.get(PATIENCE.toSeconds(), TimeUnit.SECONDS))
                    .isAfterOrEqualTo(due)
                    .isBefore(due.plusSeconds(5));
        }
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
