package io.postroom.benchmark;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.jobrunr.configuration.JobRunr;
import org.jobrunr.configuration.JobRunrConfiguration.JobRunrConfigurationResult;
import org.jobrunr.jobs.lambdas.JobRequest;
import org.jobrunr.jobs.lambdas.JobRequestHandler;
import org.jobrunr.server.BackgroundJobServerConfiguration;
import org.jobrunr.storage.StorageProvider;
import org.jobrunr.storage.sql.postgres.PostgresStorageProvider;

/** JobRunr: job requests, which need no analysis of byte code, and more workers than processors, as it recommends for short jobs. */
final class JobRunrPeer implements JobPeer {
    private static final int WORKERS = 16;
    private static final int BATCH = 1_000;

    private static volatile CountDownLatch ran = new CountDownLatch(0);

    @Override
    public String name() {
        return "JobRunr 8.7: " + WORKERS + " workers";
    }

    @Override
    public double burn(BenchDatabase database, int many) throws Exception {
        ran = new CountDownLatch(many);
        StorageProvider storage = new PostgresStorageProvider(database.dataSource());
        JobRunrConfigurationResult jobs = JobRunr.configure()
                .useStorageProvider(storage)
                .useBackgroundJobServer(
                        BackgroundJobServerConfiguration.usingStandardBackgroundJobServerConfiguration()
                                .andWorkerCount(WORKERS)
                                .andPollInterval(Duration.ofSeconds(5)),
                        false)
                .initialize();
        for (int from = 0; from < many; from += BATCH) {
            jobs.getJobRequestScheduler().enqueue(IntStream.range(0, BATCH).mapToObj(i -> new Noop()));
        }
        database.execute("vacuum analyze jobrunr_jobs", "checkpoint", "select bench_begin()");
        long began = System.nanoTime();
        JobRunr.getBackgroundJobServer().start();
        if (!ran.await(10, TimeUnit.MINUTES)) {
            throw new IllegalStateException(ran.getCount() + " jobs did not run");
        }
        // Waits for what is being ended.
        JobRunr.getBackgroundJobServer().stop();
        double rate = many / Drain.seconds(began);
        database.requireNone("select 1 from jobrunr_jobs where state in ('ENQUEUED', 'PROCESSING')");
        JobRunr.destroy();
        return rate;
    }

    /** A job that does nothing. */
    public static final class Noop implements JobRequest {
        private static final long serialVersionUID = 1;

        @Override
        public Class<NoopHandler> getJobRequestHandler() {
            return NoopHandler.class;
        }
    }

    /** Runs it. */
    public static final class NoopHandler implements JobRequestHandler<Noop> {
        @Override
        public void run(Noop job) {
            ran.countDown();
        }
    }
}
