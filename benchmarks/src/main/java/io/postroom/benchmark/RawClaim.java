package io.postroom.benchmark;

import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * The limit: a table made for nothing else, claimed and deleted in batches by two threads that do nothing between the two. It has no retries,
 * no history, no heartbeat and no fences; what is claimed by a process that dies stays claimed.
 */
final class RawClaim implements JobPeer {
    private static final int BATCH = 500;
    private static final int THREADS = 2;

    @Override
    public String name() {
        return "raw: claim and delete in batches of " + BATCH + ", " + THREADS + " threads, nothing else";
    }

    @Override
    public double burn(BenchDatabase database, int many) throws Exception {
        database.execute(
                "create table raw_job (id bigint primary key, claimed_by int, payload json not null)",
                "create index on raw_job (id) where claimed_by is null",
                "insert into raw_job select n, null, '{\"n\":1}' from generate_series(1, " + many + ") as n",
                "vacuum analyze raw_job",
                "checkpoint",
                "select bench_begin()");
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        List<Future<Integer>> shares = new ArrayList<>();
        long began = System.nanoTime();
        for (int i = 0; i < THREADS; i++) {
            int thread = i;
            shares.add(threads.submit(() -> work(database, thread)));
        }
        int worked = 0;
        for (Future<Integer> share : shares) {
            worked += share.get();
        }
        double rate = many / Drain.seconds(began);
        threads.shutdown();
        if (worked != many) {
            throw new IllegalStateException("worked " + worked + " of " + many + " jobs");
        }
        return rate;
    }

    private static int work(BenchDatabase database, int thread) throws SQLException {
        int worked = 0;
        try (Connection connection = database.connection(true);
                PreparedStatement claim = connection.prepareStatement("""
                        update raw_job set claimed_by = ? where id = any (array(
                            select id from raw_job where claimed_by is null order by id limit ? for update skip locked))
                        returning id, payload""");
                PreparedStatement delete = connection.prepareStatement("delete from raw_job where id = any (?)")) {
            while (true) {
                claim.setInt(1, thread);
                claim.setInt(2, BATCH);
                List<Long> claimed = new ArrayList<>();
                try (ResultSet rows = claim.executeQuery()) {
                    while (rows.next()) {
                        claimed.add(rows.getLong(1));
                    }
                }
                if (claimed.isEmpty()) {
                    return worked;
                }
                Array ids = connection.createArrayOf("bigint", claimed.toArray());
                delete.setArray(1, ids);
                worked += delete.executeUpdate();
            }
        }
    }
}
