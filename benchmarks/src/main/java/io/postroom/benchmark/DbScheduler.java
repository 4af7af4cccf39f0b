package io.postroom.benchmark;

import com.github.kagkarlsson.scheduler.Scheduler;
import com.github.kagkarlsson.scheduler.SchedulerClient;
import com.github.kagkarlsson.scheduler.task.TaskInstance;
import com.github.kagkarlsson.scheduler.task.helper.OneTimeTask;
import com.github.kagkarlsson.scheduler.task.helper.Tasks;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;

/** db-scheduler: lock-and-fetch, which its performance page calls the fast way; each completion commits by itself. */
final class DbScheduler implements JobPeer {
    private static final int THREADS = 20;
    private static final int BATCH = 1_000;

    @Override
    public String name() {
        return "db-scheduler 16.12: lock and fetch, " + THREADS + " threads";
    }

    /** Its table, with the columns and indexes that its documentation gives for PostgreSQL. */
    static void createTable(BenchDatabase database) {
        database.execute(
                """
                create table scheduled_tasks (
                    task_name            text not null,
                    task_instance        text not null,
                    task_data            bytea,
                    execution_time       timestamptz not null,
                    picked               boolean not null,
                    picked_by            text,
                    last_success         timestamptz,
                    last_failure         timestamptz,
                    consecutive_failures int,
                    last_heartbeat       timestamptz,
                    version              bigint not null,
                    priority             smallint,
                    state                text,
                    primary key (task_name, task_instance)
                )""",
                "create index on scheduled_tasks (execution_time)",
                "create index on scheduled_tasks (last_heartbeat)");
    }

    static SchedulerClient client(DataSource source) {
        return SchedulerClient.Builder.create(source).build();
    }

    @Override
    public double burn(BenchDatabase database, int many) throws Exception {
        createTable(database);
        CountDownLatch ran = new CountDownLatch(many);
        OneTimeTask<Void> task = Tasks.oneTime("noop").execute((instance, context) -> ran.countDown());
        SchedulerClient client = client(database.dataSource());
        for (int from = 0; from < many; from += BATCH) {
            List<TaskInstance<?>> batch = new ArrayList<>(BATCH);
            for (int i = 0; i < BATCH; i++) {
                batch.add(task.instance(String.valueOf(from + i)));
            }
            client.scheduleBatch(batch, Instant.now());
        }
        database.execute("vacuum analyze scheduled_tasks", "checkpoint", "select bench_begin()");
        Scheduler scheduler = Scheduler.create(database.dataSource(), task)
                .threads(THREADS)
                .pollUsingLockAndFetch(0.5, 4.0)
                .pollingInterval(Duration.ofMillis(100))
                .shutdownMaxWait(Duration.ofSeconds(5))
                .build();
        long began = System.nanoTime();
        scheduler.start();
        if (!ran.await(5, TimeUnit.MINUTES)) {
            throw new IllegalStateException(ran.getCount() + " tasks were not executed");
        }
        // Waits for what is being ended.
        scheduler.stop();
        double rate = many / Drain.seconds(began);
        database.requireNone("select 1 from scheduled_tasks");
        return rate;
    }
}
