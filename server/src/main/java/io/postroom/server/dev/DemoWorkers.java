package io.postroom.server.dev;

import io.postroom.Postroom;
import io.postroom.job.Job;
import io.postroom.job.JobContext;
import io.postroom.job.JobOutcome;
import io.postroom.job.Kind;
import io.postroom.job.Workers;
import io.postroom.message.Message;
import io.postroom.retry.RetryPolicy;
import io.postroom.schedule.FixedRate;
import io.postroom.schedule.Schedule;
import io.postroom.schedule.Scheduler;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The demo's jobs: a receipt for each order, and a count of the stock every minute. Close it to stop doing them. */
final class DemoWorkers implements AutoCloseable {
    /** What workers and schedules keep, and one for a moment. */
    static final int CONNECTIONS = 6;

    private static final String RECEIPT = "receipt.send";
    private static final String COUNT = "stock.count";
    private static final String QUEUE = "mail";
    private static final int THREADS = 2;
    private static final int FAILURE_ONE_IN = 300;
    private static final int SHELVES = 20;
    private static final int SHELF_MILLIS = 250;

    private final Postroom postroom;
    private final Workers workers;
    private @Nullable Scheduler scheduler;

    DemoWorkers(Postroom postroom, Duration stopGrace) {
        this.postroom = postroom;
        workers = postroom.jobs()
                .workers()
                .name("dev")
                .lease(DemoRelay.LEASE)
                .stopGrace(stopGrace)
                .queue(QUEUE, THREADS)
                .queue("stock", 1)
                .handle(Kind.of(RECEIPT, job -> send()).retry(RetryPolicy.parse("exponential first=2s")))
                .handle(COUNT, DemoWorkers::count)
                .build();
    }

    void start() {
        postroom.database()
                .transact(tx -> postroom.schedules()
                        .put(
                                tx,
                                Schedule.of(
                                                "stock-count",
                                                FixedRate.every(Duration.ofMinutes(1)),
                                                Job.of(COUNT, "{\"warehouse\":\"north\"}")
                                                        .queue("stock")
                                                        .build())
                                        .withoutOverlap()));
        workers.start();
        scheduler = postroom.schedules().start();
    }

    /** What is to be done about an order that was placed, as a job of its own. */
    static Job receipt(Message placed) {
        return Job.of(RECEIPT, placed.payload())
                .queue(QUEUE)
                .tenantId(placed.tenantId())
                .build();
    }

    private static JobOutcome send() {
        // Now and then the other side has no time, to show what becomes of it.
        return ThreadLocalRandom.current().nextInt(FAILURE_ONE_IN) == 0
                ? JobOutcome.retry("mail.example: 451 try again later")
                : JobOutcome.done();
    }

    /** Long enough to be seen at work. */
    private static JobOutcome count(JobContext job) throws InterruptedException {
        for (int shelf = 1; shelf <= SHELVES; shelf++) {
            TimeUnit.MILLISECONDS.sleep(SHELF_MILLIS);
            job.progress((double) shelf / SHELVES, "shelf " + shelf + " of " + SHELVES);
        }
        return JobOutcome.done("{\"pieces\":" + ThreadLocalRandom.current().nextInt(10_000, 20_000) + "}");
    }

    @Override
    public void close() {
        if (scheduler != null) {
            scheduler.close();
        }
        workers.close();
    }
}
