package io.postroom.benchmark;

import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** The pattern this product grew from: claim pending rows with SKIP LOCKED, publish, mark them processed. */
final class SeedPattern {
    private static final int[] BATCHES = {100, 500, 1000};
    /** As usually written it may be slow; what it does in this time shows its rate as well. */
    private static final Duration EACH_MAX = Duration.ofSeconds(6);

    private final BenchDatabase database;

    private SeedPattern(BenchDatabase database, long rows) {
        this.database = database;
        database.execute(
                "drop table if exists outbox_messages",
                "create table outbox_messages (id bigint generated always as identity primary key, tenant_id bigint not null,"
                        + " aggregate_type text not null, aggregate_id bigint not null, event_type text not null,"
                        + " event_version smallint not null default 1, payload jsonb not null,"
                        + " occurred_at timestamptz not null default now(), available_at timestamptz not null default now(),"
                        + " processed_at timestamptz, attempts smallint not null default 0, last_error text, trace_id text)",
                "create index outbox_messages_pending_idx on outbox_messages (available_at, id) where processed_at is null",
                "create index outbox_messages_tenant_aggregate_idx on outbox_messages (tenant_id, aggregate_type, aggregate_id)",
                "insert into outbox_messages (tenant_id, aggregate_type, aggregate_id, event_type, payload)"
                        + " select 1, 'Order', n % 10000, 'OrderPlaced', payload::jsonb from (select n, row_number() over () from"
                        + " generate_series(1, " + rows + ") as n) as m, lateral (select ('"
                        + Sample.payload(1).replace("'", "''")
                        + "') as payload) as p",
                "vacuum analyze outbox_messages");
    }

    /** Messages per second with two workers at the best of three batch sizes, ordered by the index's own columns. */
    static double matched(BenchDatabase database, long rows) throws InterruptedException {
        return best(database, rows, true);
    }

    /** The same ordered by id. */
    static double asWritten(BenchDatabase database, long rows) throws InterruptedException {
        return best(database, rows, false);
    }

    /** It slows down with all that is processed already, so each batch size gets a backlog of its own. */
    private static double best(BenchDatabase database, long rows, boolean matched) throws InterruptedException {
        double best = 0;
        for (int batch : BATCHES) {
            best = Math.max(best, new SeedPattern(database, rows).drain(batch, matched));
        }
        return best;
    }

    private double drain(int batch, boolean matched) throws InterruptedException {
        String claim =
                "with claimed as (select id from outbox_messages where processed_at is null and available_at <= now() order by "
                        + (matched ? "available_at, id" : "id") + " limit " + batch
                        + " for update skip locked) select m.* from outbox_messages m join claimed c on c.id = m.id";
        ExecutorService workers = Executors.newFixedThreadPool(2);
        long began = System.nanoTime();
        List<Future<Long>> results = new ArrayList<>();
        for (int worker = 0; worker < 2; worker++) {
            results.add(workers.submit(() -> work(claim, began)));
        }
        long done = 0;
        try {
            for (Future<Long> result : results) {
                done += result.get();
            }
        } catch (ExecutionException e) {
            throw new IllegalStateException(e);
        } finally {
            workers.shutdown();
        }
        return done / Drain.seconds(began);
    }

    private long work(String claim, long began) throws SQLException {
        long done = 0;
        try (Connection tx = database.connection(false);
                PreparedStatement select = tx.prepareStatement(claim);
                PreparedStatement mark =
                        tx.prepareStatement("update outbox_messages set processed_at = now() where id = any(?)")) {
            while (System.nanoTime() - began < EACH_MAX.toNanos()) {
                List<Long> ids = new ArrayList<>();
                try (ResultSet rows = select.executeQuery()) {
                    while (rows.next()) {
                        ids.add(rows.getLong("id"));
                        rows.getString("payload");
                    }
                }
                if (ids.isEmpty()) {
                    tx.commit();
                    break;
                }
                Array array = tx.createArrayOf("bigint", ids.toArray());
                mark.setArray(1, array);
                mark.executeUpdate();
                tx.commit();
                done += ids.size();
            }
        }
        return done;
    }
}
