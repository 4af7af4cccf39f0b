package io.postroom.job;

import com.zaxxer.hikari.HikariDataSource;
import io.postroom.Postroom;
import io.postroom.retry.RetryPolicy;
import io.postroom.schedule.Cron;
import io.postroom.schedule.FixedRate;
import io.postroom.schedule.Missed;
import io.postroom.schedule.Schedule;
import io.postroom.telemetry.Telemetry;
import io.postroom.testkit.TestDatabase;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * A worker in a process of its own. Arguments: URL of the database, name, lease in milliseconds, threads.
 *
 * <p>Its kinds: {@code count} writes a row into {@code effect} by itself, {@code book} does so in the transaction of its job,
 * {@code hold} says so and waits until it is told {@code go}, {@code halt} ends the process. Says {@code ready}, its clock, and whatever
 * telemetry says about stale jobs. When told {@code offer N}, it offers N jobs with unique keys, in an order of its own, and says how many
 * were enqueued; when told {@code schedule}, it declares the schedules that a test knows and fires those that are due. Ends cleanly when
 * told {@code stop}, and at once when its standard input ends.
 */
final class WorkerMain {
    private static final CountDownLatch GO = new CountDownLatch(1);

    private WorkerMain() {}

    public static void main(String[] arguments) throws IOException {
        BufferedReader told = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        RetryPolicy soon = RetryPolicy.parse("linear step=10ms cap=10ms jitter=0 attempts=3");
        try (HikariDataSource pool = TestDatabase.pool(arguments[0], 12)) {
            Postroom postroom = Postroom.builder(pool)
                    .telemetry(new Telemetry() {
                        @Override
                        public void staleJob(String queue, String kind) {
                            System.out.println("telemetry: stale job of kind " + kind);
                        }
                    })
                    .build();
            Workers workers = postroom.jobs()
                    .workers()
                    .name(arguments[1])
                    .lease(Duration.ofMillis(Long.parseLong(arguments[2])))
                    .queue("default", Integer.parseInt(arguments[3]))
                    .handle(Kind.of("count", job -> {
                                try (Connection connection = pool.getConnection()) {
                                    effect(connection, job, arguments[1]);
                                }
                                return JobOutcome.done();
                            })
                            .retry(soon))
                    .handle(Kind.transactional("book", (tx, job) -> {
                                effect(tx, job, arguments[1]);
                                return JobOutcome.done();
                            })
                            .retry(soon))
                    .handle("hold", job -> {
                        System.out.println("holding " + job.id());
                        hold();
                        System.out.println("released " + job.id() + " lost " + job.isLost());
                        return JobOutcome.done();
                    })
                    .handle(Kind.of("halt", job -> {
                                Runtime.getRuntime().halt(7);
                                return JobOutcome.done();
                            })
                            .retry(soon))
                    .build();
            workers.start();
            System.out.println("ready " + workers.id());
            System.out.println("clock " + Instant.now());
            for (String line = told.readLine(); !"stop".equals(line); line = told.readLine()) {
                if (line == null) {
                    Runtime.getRuntime().halt(1);
                } else if (line.startsWith("offer ")) {
                    System.out.println(
                            "offered " + offer(postroom, Integer.parseInt(line.substring("offer ".length()))));
                } else if (line.startsWith("schedule ")) {
                    schedule(postroom, Integer.parseInt(line.substring("schedule ".length())));
                } else {
                    GO.countDown();
                }
            }
            workers.close();
            System.out.println("stopped");
        }
    }

    private static int offer(Postroom postroom, int keys) {
        List<Integer> order = IntStream.range(0, keys).boxed().collect(Collectors.toList());
        Collections.shuffle(order);
        int enqueued = 0;
        for (int key : order) {
            Unique unique = Unique.of("key-" + key).within(Duration.ofMinutes(30));
            Job job = Job.of("count", "" + key).unique(unique).build();
            enqueued += postroom.database()
                            .transact(tx -> postroom.jobs().offer(tx, job))
                            .skipped()
                    ? 0
                    : 1;
        }
        return enqueued;
    }

    /** Every second, and once a day at a minute that is not near. */
    private static void schedule(Postroom postroom, int minuteOfDay) {
        Job job = Job.of("count", "-1").build();
        Cron daily = Cron.parse(minuteOfDay % 60 + " " + minuteOfDay / 60 + " * * *", "UTC");
        postroom.database().transact(tx -> {
            postroom.schedules().put(tx, Schedule.of("second", FixedRate.every(Duration.ofSeconds(1)), job));
            return postroom.schedules().put(tx, Schedule.of("daily", daily, job).missed(Missed.ONCE));
        });
        postroom.schedules().start();
        System.out.println("scheduled");
    }

    /** Deaf to interrupts, as a zombie in the middle of a call is. */
    private static void hold() {
        while (GO.getCount() > 0) {
            try {
                GO.await();
            } catch (InterruptedException e) {
                // Not yet.
            }
        }
    }

    private static void effect(Connection tx, JobContext job, String worker) throws SQLException {
        try (PreparedStatement insert =
                tx.prepareStatement("insert into effect (job, attempt, worker) values (?, ?, ?)")) {
            insert.setLong(1, job.id());
            insert.setInt(2, job.attempt());
            insert.setString(3, worker);
            insert.executeUpdate();
        }
    }
}
