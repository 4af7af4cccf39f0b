package io.postroom.benchmark;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.postroom.Postroom;
import io.postroom.job.Job;
import io.postroom.job.JobHandler;
import io.postroom.job.JobOutcome;
import io.postroom.job.Workers;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** From the commit to the start of the job, at a steady rate: with the workers in the writer's process, and in another one. */
final class PickUp {
    private static final int RATE = 200;

    private final BenchDatabase database;
    private final Postroom postroom;

    PickUp(BenchDatabase database, Postroom postroom) {
        this.database = database;
        this.postroom = postroom;
    }

    void run(Report report, int seconds, String with) throws Exception {
        String section = "Jobs: from commit to start at " + RATE + " jobs/s";
        Pace pace = new Pace(database, RATE);
        Map<String, Long> started = new ConcurrentHashMap<>();
        try (Workers workers = workers(postroom, "here", job -> {
            started.putIfAbsent(String.valueOf(job.id()), OtherProcess.micros());
            return JobOutcome.done();
        })) {
            workers.start();
            pace.keep(3, enqueue("here"), postroom.jobs()::nudge);
            started.clear();
            long[] sorted =
                    OtherProcess.latencies(pace.keep(seconds, enqueue("here"), postroom.jobs()::nudge), started);
            report.atMost(section, "p50, workers in the same process" + with, at(sorted, 0.5), "ms", 3);
            report.figure(section, "p99, workers in the same process" + with, at(sorted, 0.99), "ms");
        }
        try (OtherProcess other = new OtherProcess(PickUp.class, database.url())) {
            pace.keep(3, enqueue("there"), () -> {});
            long[] sorted = OtherProcess.latencies(pace.keep(seconds, enqueue("there"), () -> {}), other.handled());
            report.atMost(section, "p50, workers in another process" + with, at(sorted, 0.5), "ms", 6);
            report.figure(section, "p99, workers in another process" + with, at(sorted, 0.99), "ms");
        }
    }

    private Pace.Addition enqueue(String queue) {
        return (tx, n) -> String.valueOf(postroom.jobs()
                .enqueue(tx, Job.of("noop", "{\"n\":" + n + "}").queue(queue).build()));
    }

    private static double at(long[] sorted, double share) {
        return Measure.percentile(sorted, share) / 1000;
    }

    private static Workers workers(Postroom postroom, String queue, JobHandler handler) {
        return postroom.jobs().workers().queue(queue, 4).handle("noop", handler).build();
    }

    /** The other process. */
    public static void main(String[] args) throws Exception {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(args[0]);
        try (HikariDataSource pool = new HikariDataSource(config);
                Workers workers = workers(Postroom.on(pool), "there", job -> {
                    System.out.println(job.id() + " " + OtherProcess.micros());
                    return JobOutcome.done();
                })) {
            workers.start();
            System.out.println("ready");
            System.out.flush();
            Thread.currentThread().join();
        }
    }
}
