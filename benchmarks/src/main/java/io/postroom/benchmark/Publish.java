package io.postroom.benchmark;

import io.postroom.Postroom;
import io.postroom.message.Message;
import io.postroom.message.TimeOrderedId;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** What publishing costs the caller's transaction. */
final class Publish {
    private static final String INSERT =
            "insert into postroom.outbox (id, tenant_id, aggregate_type, aggregate_id, aggregate_version,"
                    + " event_type, event_version, payload, headers, occurred_at, available_at) values ";
    private static final String ROW = "(?, ?, ?, ?, ?, ?, ?, ?::json, ?::json, ?, ?)";
    private static final int COLUMNS = 11;

    private final BenchDatabase database;
    private final Postroom postroom;
    private final AtomicLong next = new AtomicLong();

    Publish(BenchDatabase database, Postroom postroom) {
        this.database = database;
        this.postroom = postroom;
        database.execute(
                "create table business (id bigint primary key, total bigint not null)",
                "insert into business select n, 0 from generate_series(0, 9999) as n");
    }

    void run(Report report, int rounds, int transactions) throws Exception {
        String section = "Publish";
        Measure.Pair single =
                // Short rounds: the disk has moods of some seconds.
                Measure.inTurn(
                        rounds * 4,
                        () -> transactions(transactions / 4, true),
                        () -> transactions(transactions / 4, false));
        report.figure(section, "transaction with a hand-written insert", single.second(), "transactions/s");
        report.figure(section, "transaction with outbox.publish", single.first(), "transactions/s");
        report.ratio(section, "publish against a hand-written insert in the same transaction", single.ratio(), 0.95);

        int batch = 1000;
        Measure.Pair bulk = Measure.inTurn(rounds, () -> publishAll(20, batch), () -> multiRow(20, batch, 100));
        double raw = Math.max(bulk.second(), multiRow(20, batch, 500));
        report.figure(section, "raw multi-row insert, one thread", raw, "messages/s");
        report.figure(section, "outbox.publishAll, batches of 1,000, one thread", bulk.first(), "messages/s");
        report.ratio(section, "publishAll against the raw multi-row insert", bulk.first() / raw, 0.8);
        report.figure(section, "raw single inserts in one transaction", singleInserts(10_000), "messages/s");
    }

    /** Why the writer does not notify: eight writers with and without it. */
    void notify(Report report, int rounds) throws Exception {
        Measure.Pair pair = Measure.inTurn(rounds, () -> writers(8, 250, true), () -> writers(8, 250, false));
        report.figure(
                "Wake-up",
                "eight writers, NOTIFY in each transaction (not what Postroom does)",
                pair.first(),
                "transactions/s");
        report.figure("Wake-up", "eight writers, no NOTIFY", pair.second(), "transactions/s");
        report.note(
                "Wake-up",
                String.format(
                        java.util.Locale.ROOT,
                        "A NOTIFY in the writer's transaction leaves %.2f of the throughput.",
                        pair.ratio()));
    }

    private double transactions(int count, boolean ours) throws SQLException {
        long began = System.nanoTime();
        try (Connection tx = database.connection(false);
                PreparedStatement business = tx.prepareStatement("update business set total = total + 1 where id = ?");
                PreparedStatement insert = tx.prepareStatement(INSERT + ROW)) {
            for (int i = 0; i < count; i++) {
                long n = next.incrementAndGet();
                business.setLong(1, n % 10_000);
                business.executeUpdate();
                Message message = Sample.message(n);
                if (ours) {
                    postroom.outbox().publish(tx, message);
                } else {
                    bind(insert, 0, message);
                    insert.executeUpdate();
                }
                tx.commit();
            }
        }
        return count / Drain.seconds(began);
    }

    private double singleInserts(int count) throws SQLException {
        long began = System.nanoTime();
        try (Connection tx = database.connection(false);
                PreparedStatement insert = tx.prepareStatement(INSERT + ROW)) {
            for (int i = 0; i < count; i++) {
                bind(insert, 0, Sample.message(next.incrementAndGet()));
                insert.executeUpdate();
            }
            tx.commit();
        }
        return count / Drain.seconds(began);
    }

    private double publishAll(int batches, int size) throws SQLException {
        long began = System.nanoTime();
        try (Connection tx = database.connection(false)) {
            for (int i = 0; i < batches; i++) {
                postroom.outbox().publishAll(tx, Sample.messages(next.getAndAdd(size), size));
                tx.commit();
            }
        }
        return batches * size / Drain.seconds(began);
    }

    private double multiRow(int batches, int size, int rowsEach) throws SQLException {
        String sql = INSERT + String.join(", ", java.util.Collections.nCopies(rowsEach, ROW));
        long began = System.nanoTime();
        try (Connection tx = database.connection(false);
                PreparedStatement insert = tx.prepareStatement(sql)) {
            for (int i = 0; i < batches; i++) {
                List<Message> messages = Sample.messages(next.getAndAdd(size), size);
                for (int from = 0; from < size; from += rowsEach) {
                    for (int row = 0; row < rowsEach; row++) {
                        bind(insert, row * COLUMNS, messages.get(from + row));
                    }
                    insert.executeUpdate();
                }
                tx.commit();
            }
        }
        return batches * size / Drain.seconds(began);
    }

    private double writers(int threads, int each, boolean notify) throws InterruptedException {
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        CountDownLatch done = new CountDownLatch(threads);
        long began = System.nanoTime();
        for (int i = 0; i < threads; i++) {
            pool.submit(() -> {
                try (Connection tx = database.connection(false);
                        Statement statement = tx.createStatement()) {
                    for (int n = 0; n < each; n++) {
                        postroom.outbox().publish(tx, Sample.message(next.incrementAndGet()));
                        if (notify) {
                            statement.execute("notify bench");
                        }
                        tx.commit();
                    }
                }
                done.countDown();
                return true;
            });
        }
        if (!done.await(5, TimeUnit.MINUTES)) {
            throw new IllegalStateException("writers did not finish");
        }
        pool.shutdown();
        return threads * each / Drain.seconds(began);
    }

    private static void bind(PreparedStatement insert, int at, Message message) throws SQLException {
        insert.setObject(at + 1, TimeOrderedId.next());
        insert.setString(at + 2, null);
        insert.setString(at + 3, message.aggregateType());
        insert.setString(at + 4, message.aggregateId());
        insert.setObject(at + 5, null, java.sql.Types.BIGINT);
        insert.setString(at + 6, message.eventType());
        insert.setInt(at + 7, 1);
        insert.setString(at + 8, message.payload());
        insert.setString(at + 9, null);
        insert.setObject(at + 10, OffsetDateTime.now(ZoneOffset.UTC));
        insert.setObject(at + 11, null, java.sql.Types.TIMESTAMP_WITH_TIMEZONE);
    }
}
