package io.postroom.job;

import io.postroom.Postroom;
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
import java.util.function.Supplier;

/** A database with jobs, and what tests ask it. */
final class Workshop implements AutoCloseable {
    static final Duration PATIENCE = Duration.ofSeconds(60);

    final TestDatabase database = TestDatabase.create();
    final Postroom postroom = database.postroom();
    final Jobs jobs = postroom.jobs();

    /** Leaves nothing of what was before. */
    void clear() {
        database.execute(
                "truncate postroom.job, postroom.job_done, postroom.job_attempt, postroom.job_queue, postroom.job_limit, postroom.job_rate, postroom.job_batch, postroom.job_need, postroom.worker,"
                        + " postroom.dead_letter, postroom.redrive, postroom.audit cascade");
    }

    /** Enqueues in a transaction of its own. */
    long enqueue(Job.Builder job) {
        return postroom.database().transact(tx -> jobs.enqueue(tx, job.build()));
    }

    List<Long> enqueueAll(List<Job> all) {
        return postroom.database().transact(tx -> jobs.enqueueAll(tx, all));
    }

    /** Workers that look often and are patient with nobody. */
    Workers.Builder workers() {
        return jobs.workers().name("tester").lease(Duration.ofSeconds(5)).stopGrace(Duration.ofSeconds(5));
    }

    /** How a job ended, or that it has not: its state in the table it is in. */
    String state(long id) {
        return text("select coalesce((select state from postroom.job_done where id = " + id
                + " order by ended_at desc limit 1), (select state from postroom.job where id = " + id + "))");
    }

    String text(String sql) {
        List<String> rows = rows(sql);
        return rows.isEmpty() ? "" : rows.get(0);
    }

    /** The rows of a query, their columns joined by a bar. */
    List<String> rows(String sql) {
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement();
                ResultSet result = statement.executeQuery(sql)) {
            List<String> rows = new ArrayList<>();
            while (result.next()) {
                List<String> columns = new ArrayList<>();
                for (int i = 1; i <= result.getMetaData().getColumnCount(); i++) {
                    columns.add(String.valueOf(result.getString(i)));
                }
                rows.add(String.join("|", columns));
            }
            return rows;
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    void awaitState(long id, String state) {
        await(
                () -> "job " + id + " is " + state + ", not " + state(id),
                () -> state(id).equals(state));
    }

    void awaitDone(long jobs) {
        await(
                () -> jobs + " jobs are done: " + rows("select state, count(*) from postroom.job_done group by state")
                        + rows("select state, waits, count(*) from postroom.job group by state, waits"),
                () -> database.queryLong("select count(*) from postroom.job_done where state = 'done'") >= jobs);
    }

    static void await(Supplier<String> what, BooleanSupplier condition) {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError("not within " + PATIENCE + ": " + what.get());
            }
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
        }
    }

    @Override
    public void close() {
        database.close();
    }
}
