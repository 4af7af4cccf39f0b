package io.postroom.benchmark;

import io.postroom.Postroom;
import io.postroom.job.Job;
import io.postroom.job.JobOutcome;
import io.postroom.job.Jobs;
import io.postroom.job.Workers;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Postroom working off jobs that do nothing, as it is when nothing is set: batches, leases, heartbeat, history. */
final class Burning implements JobPeer {
    static final int MILLION = 1_000_000;

    private static final int THREADS = 4;
    private static final int BATCH = 1_000;
    private static final List<Job> JOBS =
            Collections.nCopies(BATCH, Job.of("noop", "{\"n\":1}").build());

    private final int waiting;
    private final boolean held;
    private double enqueued;

    /** With so many other jobs in the queue, and perhaps while somebody holds a snapshot. */
    Burning(int waiting, boolean held) {
        this.waiting = waiting;
        this.held = held;
    }

    @Override
    public String name() {
        return "Postroom: " + THREADS + " threads" + (held ? ", another connection holding a snapshot" : "")
                + (waiting > 0 ? ", a million other jobs waiting" : "");
    }

    /** The code is the same whatever else is there. */
    @Override
    public boolean warmsUp() {
        return waiting == 0 && !held;
    }

    @Override
    public double burn(BenchDatabase database, int many) throws Exception {
        Postroom postroom = database.migrated();
        if (waiting > 0) {
            letWait(database, waiting);
        }
        long began = System.nanoTime();
        enqueue(database, postroom.jobs(), many);
        enqueued = many / Drain.seconds(began);
        database.execute("vacuum analyze postroom.job", "checkpoint");
        if (!held) {
            return work(database, postroom, many);
        }
        Connection holder = database.holdSnapshot();
        try (holder) {
            return work(database, postroom, many);
        }
    }

    /** Half of those that wait have a later time, the other half come after the others. */
    static void letWait(BenchDatabase database, int jobs) {
        String half = " from generate_series(1, " + jobs / 2 + ")";
        database.execute(
                "insert into postroom.job (queue, kind, payload, waits, run_at)"
                        + " select 'default', 'noop', '{\"n\":1}', 'time', clock_timestamp() + interval '1 day'" + half,
                "insert into postroom.job (queue, kind, payload, priority) select 'default', 'noop', '{\"n\":1}', 900"
                        + half);
    }

    private static void enqueue(BenchDatabase database, Jobs jobs, int many) throws SQLException {
        try (Connection tx = database.connection(false)) {
            for (int done = 0; done < many; done += BATCH) {
                jobs.enqueueAll(tx, JOBS);
                tx.commit();
            }
        }
    }

    private double work(BenchDatabase database, Postroom postroom, int many) throws InterruptedException {
        CountDownLatch ran = new CountDownLatch(many);
        database.execute("select bench_begin()");
        long began = System.nanoTime();
        try (Workers workers = postroom.jobs()
                .workers()
                .queue("default", THREADS)
                .handle("noop", job -> {
                    ran.countDown();
                    return JobOutcome.done();
                })
                .build()) {
            workers.start();
            if (!ran.await(5, TimeUnit.MINUTES)) {
                throw new IllegalStateException(ran.getCount() + " jobs did not run");
            }
        }
        // What counts is what the database knows of: whoever has stopped has written it. To ask all the time would cost
        // more than it tells.
        double rate = many / Drain.seconds(began);
        long done = database.queryLong("select count(*) from postroom.job_done where state = 'done'");
        if (done != many) {
            throw new IllegalStateException(done + " of " + many + " jobs are done");
        }
        return rate;
    }

    /** Jobs a second that the last round put in. */
    double enqueued() {
        return enqueued;
    }
}
