package io.postroom.benchmark;

import io.postroom.Postroom;
import io.postroom.relay.Relay;
import io.postroom.relay.Subscription;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** How fast a backlog goes to a handler that does nothing, stamping included. */
final class Drain {
    private Drain() {}

    /** Messages per second from a backlog that is not stamped yet. */
    static double relay(Postroom postroom, String subscription, long count, int lanes) throws InterruptedException {
        AtomicLong seen = new AtomicLong();
        CountDownLatch all = new CountDownLatch(1);
        long began = System.nanoTime();
        try (Relay relay = postroom.relay()
                .handle(Subscription.named(subscription).lanes(lanes).build(), envelope -> {
                    if (seen.incrementAndGet() == count) {
                        all.countDown();
                    }
                })
                .stopGrace(Duration.ofSeconds(5))
                .build()) {
            relay.start();
            if (!all.await(10, TimeUnit.MINUTES)) {
                throw new IllegalStateException("only " + seen + " of " + count + " messages came");
            }
        }
        return count / seconds(began);
    }

    /** Messages per second read by ranges of the primary key, every column, on the given number of threads. */
    static double rawRead(BenchDatabase database, long count, int batch) throws SQLException {
        String sql =
                "select seq, id, tenant_id, aggregate_type, aggregate_id, aggregate_version, event_type, event_version, payload,"
                        + " headers, occurred_at, available_at from postroom.outbox where seq > ? and seq <= ? and day = current_date order by seq";
        long began = System.nanoTime();
        long read = 0;
        try (Connection connection = database.connection(true);
                PreparedStatement statement = connection.prepareStatement(sql)) {
            for (long from = 0; from < count; from += batch) {
                statement.setLong(1, from);
                statement.setLong(2, from + batch);
                try (ResultSet rows = statement.executeQuery()) {
                    while (rows.next()) {
                        read += rows.getString(9).isEmpty() ? 0 : 1;
                    }
                }
            }
        }
        if (read != count) {
            throw new IllegalStateException("read " + read + " of " + count);
        }
        return count / seconds(began);
    }

    static double seconds(long began) {
        return (System.nanoTime() - began) / 1e9;
    }
}
