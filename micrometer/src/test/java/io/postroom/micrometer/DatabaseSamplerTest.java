package io.postroom.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.postroom.Postroom;
import io.postroom.relay.Outcome;
import io.postroom.relay.Relay;
import io.postroom.relay.Subscription;
import io.postroom.retry.RetryPolicy;
import io.postroom.testkit.Messages;
import io.postroom.testkit.RecordingSink;
import io.postroom.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class DatabaseSamplerTest {
    private final MeterRegistry registry = new SimpleMeterRegistry();
    private TestDatabase database;
    private DatabaseSampler sampler;

    @BeforeEach
    void open() {
        database = TestDatabase.create();
        sampler = new DatabaseSampler(database.dataSource(), "postroom", registry, List.of());
    }

    @AfterEach
    void close() {
        sampler.close();
        database.close();
    }

    @Test
    void showsLagLanesDeadLettersAndJobs() throws SQLException {
        Postroom postroom = Postroom.builder(database.dataSource())
                .telemetry(new MeteredTelemetry(registry))
                .build();
        RecordingSink sink =
                new RecordingSink().answer(message -> message.aggregateId().equals("bad"), Outcome.rejected("never"));
        sink.answer(message -> message.aggregateId().equals("slow"), Outcome.retry("not now"));
        try (Relay relay = postroom.relay()
                .name("node-1")
                .deliver(
                        Subscription.named("billing")
                                .lanes(2)
                                .retry(RetryPolicy.builder()
                                        .linear(Duration.ofHours(1))
                                        .attemptsMax(5)
                                        .build())
                                .build(),
                        sink)
                .build()) {
            assertThat(registry.find("postroom.relay.lanes.takeovers").counter())
                    .as("before anything happened")
                    .isNotNull();
            publish("bad", "good", "fine", "slow", "slow");
            relay.runOnce();
            relay.runOnce();
            database.execute("select postroom.enqueue('mail.send', queue => 'mail', payload => '{}')");
            publish("late");
            sampler.look();

            assertThat(gauge("postroom.db.up")).isEqualTo(1);
            assertThat(gauge("postroom.outbox.pending", "subscription", "billing"))
                    .isEqualTo(1);
            assertThat(gauge("postroom.outbox.oldest.age", "subscription", "billing"))
                    .isGreaterThan(0);
            for (String state : List.of("waiting", "parked")) {
                assertThat(gauge("postroom.relay.deliveries", "subscription", "billing", "state", state))
                        .as(state)
                        .isEqualTo(1);
            }
            assertThat(gauge("postroom.relay.deliveries", "subscription", "billing", "state", "unreadable"))
                    .isZero();
            assertThat(gauge("postroom.relay.deliveries.oldest.age", "subscription", "billing"))
                    .isGreaterThan(0);
            assertThat(gauge("postroom.relay.lanes", "subscription", "billing")).isEqualTo(2);
            assertThat(gauge("postroom.relay.active", "subscription", "billing", "node", "node-1"))
                    .isEqualTo(2);
            assertThat(gauge("postroom.deadletter.count", "subscription", "billing", "event.type", "OrderConfirmed"))
                    .isEqualTo(1);
            assertThat(gauge("postroom.jobs.available", "queue", "mail")).isEqualTo(1);
            assertThat(registry.get("postroom.relay.commit.to.ack").timer().count())
                    .isEqualTo(2);
            assertThat(registry.get("postroom.relay.delivered").counter().count())
                    .isEqualTo(2);
        }
        database.execute("delete from postroom.job");
        sampler.look();
        assertThat(registry.find("postroom.jobs.available").gauge()).isNull();
        assertThat(gauge("postroom.relay.lanes.leased", "subscription", "billing"))
                .isZero();
    }

    @Test
    void figuresThatCannotBeReadAreNotANumberAndComeBack() throws SQLException {
        database.postroom()
                .relay()
                .deliver(Subscription.named("billing").build(), new RecordingSink())
                .build()
                .runOnce();
        sampler.look();
        assertThat(gauge("postroom.outbox.pending", "subscription", "billing")).isZero();

        try (Connection other = database.begin();
                Statement statement = other.createStatement()) {
            statement.execute("lock table postroom.lane in access exclusive mode");
            long began = System.nanoTime();
            sampler.look();
            // Ended by PostgreSQL long before the lock is: nobody would ever let go of it.
            assertThat(System.nanoTime() - began).isGreaterThan(DatabaseSampler.STATEMENT_MAX.toNanos() / 2);
            assertThat(gauge("postroom.outbox.pending", "subscription", "billing"))
                    .isNaN();
            assertThat(gauge("postroom.db.up")).isZero();
            other.rollback();
        }
        sampler.look();
        assertThat(gauge("postroom.outbox.pending", "subscription", "billing")).isZero();
        assertThat(gauge("postroom.db.up")).isEqualTo(1);
    }

    /** As while an old snapshot keeps millions of jobs that have ended in the index. */
    @Test
    void queuesThatCannotBeCountedHaveNoFiguresAndAllOthersDo() throws SQLException {
        database.execute("select postroom.enqueue('mail.send', queue => 'mail', payload => '{}')");
        database.postroom()
                .relay()
                .deliver(Subscription.named("billing").build(), new RecordingSink())
                .build()
                .runOnce();
        try (Connection other = database.begin();
                Statement statement = other.createStatement()) {
            statement.execute("lock table postroom.job in access exclusive mode");
            sampler.look();
            assertThat(gauge("postroom.db.up")).isEqualTo(1);
            assertThat(gauge("postroom.outbox.pending", "subscription", "billing"))
                    .isZero();
            assertThat(registry.find("postroom.jobs.available").gauge()).isNull();
            other.rollback();
        }
        sampler.look();
        assertThat(registry.find("postroom.jobs.available").gauge())
                .as("not counted at once again: that takes a small share of the time")
                .isNull();
    }

    @Test
    void aTagOfAFigureHasSoManyValuesAndTheRestIsAddedUpAsOther() {
        Figure size = Figure.count("postroom.test", "");
        Figures figures = new Figures();
        for (int i = 0; i < 250; i++) {
            figures.put(size, 2, "table", "t" + i);
        }
        assertThat(figures.values()).hasSize(PerValue.VALUES_MAX + 1);
        assertThat(figures.values().values().stream()
                        .mapToDouble(Double::doubleValue)
                        .max())
                .hasValue(2 * (250 - PerValue.VALUES_MAX));
    }

    private void publish(String... keys) throws SQLException {
        try (Connection tx = database.begin()) {
            for (String key : keys) {
                database.postroom().outbox().publish(tx, Messages.order(key));
            }
            tx.commit();
        }
    }

    private double gauge(String name, String... tags) {
        return registry.get(name).tags(tags).gauge().value();
    }
}
