package io.postroom.subscription;

import io.postroom.Postroom;
import io.postroom.message.Message;
import io.postroom.relay.Relay;
import io.postroom.relay.Sink;
import io.postroom.relay.Subscription;
import io.postroom.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** A database as it is before anything has happened, and what tests do in it. */
final class Office {
    static final Duration PATIENCE = Duration.ofSeconds(30);
    static final Act ACT = new Act("tester", "to see what happens");

    final TestDatabase database;
    final Subscriptions subscriptions;
    private final Postroom postroom;

    Office(TestDatabase database) {
        this.database = database;
        database.execute("""
                truncate postroom.outbox, postroom.journal, postroom.generation, postroom.subscription, postroom.settlement, postroom.lane, postroom.delivery, postroom.relay,
                    postroom.circuit, postroom.attempt, postroom.dead_letter, postroom.redrive, postroom.audit restart identity cascade""", "delete from postroom.tick where position > 0");
        // A new one: the last test's remembers how far its journal was.
        postroom = Postroom.on(database.dataSource());
        subscriptions = postroom.subscriptions();
    }

    /** A relay whose beats are soon enough for a test to wait for. */
    Relay relay(String name, Subscription subscription, Sink sink) {
        return relay(name, subscription, sink, Duration.ofMillis(1_500));
    }

    Relay relay(String name, Subscription subscription, Sink sink, Duration lease) {
        return postroom.relay()
                .name(name)
                .lease(lease)
                .settleInterval(Duration.ofMillis(20))
                .deliver(subscription, sink)
                .build();
    }

    /** One relay that does what is due and goes. */
    void deliver(Subscription subscription, Sink sink) {
        try (Relay relay = relay("once", subscription, sink, Duration.ofSeconds(15))) {
            relay.runOnce();
        }
    }

    void publish(List<Message> messages) {
        try (Connection tx = database.begin()) {
            postroom.outbox().publishAll(tx, messages);
            tx.commit();
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
        postroom.journal().stampAll();
    }

    long count(String table) {
        return database.queryLong("select count(*) from postroom." + table);
    }

    long end() {
        return database.queryLong("select max(position) from postroom.tick");
    }

    List<String> strings(String sql) {
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            List<String> found = new ArrayList<>();
            while (row.next()) {
                found.add(row.getString(1));
            }
            return found;
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    void await(String what, BooleanSupplier condition) {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError("not within " + PATIENCE + ": " + what);
            }
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
        }
    }
}
