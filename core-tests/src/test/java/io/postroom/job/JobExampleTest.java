package io.postroom.job;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.Postroom;
import io.postroom.message.JacksonCodec;
import io.postroom.retry.RetryPolicy;
import io.postroom.schedule.Cron;
import io.postroom.schedule.Missed;
import io.postroom.schedule.Schedule;
import io.postroom.schedule.Scheduler;
import io.postroom.schedule.Schedules;
import io.postroom.testkit.JobProbe;
import io.postroom.testkit.TestDatabase;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The examples of docs/jobs.md and docs/schedules.md, compiled and run. */
class JobExampleTest {
    private final AtomicInteger sent = new AtomicInteger();

    record Mail(String to) {}

    private void send(Mail mail) {
        assertThat(mail.to()).isEqualTo("ann@example.org");
        sent.incrementAndGet();
    }

    private static void insertOrder(Connection tx) {
        assertThat(tx).isNotNull();
    }

    @Test
    void jobsRun() throws InterruptedException {
        try (TestDatabase database = TestDatabase.create()) {
            Postroom postroom = database.postroom();
            // docs begin
            Jobs jobs = postroom.jobs();

            postroom.database().transact(tx -> {
                insertOrder(tx);
                return jobs.enqueue(
                        tx,
                        Job.of("mail.send", new JacksonCodec(), new Mail("ann@example.org"))
                                .queue("mail")
                                .priority(10)
                                .build());
            });

            Workers workers = jobs.workers()
                    .name("node-1")
                    .queue("mail", 8) // threads
                    .handle("mail.send", Mail.class, (mail, job) -> {
                        send(mail); // give job.id() along as the key by which the other side knows a repetition
                        return JobOutcome.done();
                    })
                    .build();
            workers.start(); // until workers.close()
            // docs end
            try (workers) {
                Workshop.await(
                        () -> "it is sent",
                        () -> database.queryLong("select count(*) from postroom.job_done where state = 'done'") == 1);
            }
            assertThat(sent).hasValue(1);
        }
    }

    @Test
    void jobsAreBound() {
        try (TestDatabase database = TestDatabase.create()) {
            Postroom postroom = database.postroom();
            Jobs jobs = postroom.jobs();
            AtomicInteger ran = new AtomicInteger();
            Kind kind = Kind.of("import.part", job -> {
                        ran.incrementAndGet();
                        return JobOutcome.done();
                    })
                    .retry(RetryPolicy.parse("quick attempts=3"));
            // docs begin
            postroom.database().transact(tx -> {
                jobs.declare(tx, Limit.ofConcurrency("customer", 5).rate(100, Duration.ofMinutes(1), 10));
                long batch = jobs.batch(tx, "import of 2026-11-15");
                jobs.enqueueAll(
                        tx,
                        List.of(
                                Job.of("import.part", "1")
                                        .batch(batch)
                                        .limit("customer", "acme")
                                        .build(),
                                Job.of("import.part", "2")
                                        .batch(batch)
                                        .limit("customer", "acme")
                                        .build()));
                jobs.enqueue(tx, Job.of("import.report", "{}").afterBatch(batch).build());
                return jobs.offer(
                                tx,
                                Job.of("import.clean", "{}").unique("nightly").build())
                        .skipped();
            });
            // docs end
            // docs begin
            JobProbe probe = new JobProbe(postroom);
            probe.assertEnqueued("import.report");
            probe.runDue(kind, Kind.of("import.report", job -> JobOutcome.snooze(Duration.ofHours(1))));
            probe.moveTime(Duration.ofHours(1));
            // docs end
            assertThat(ran).hasValue(2);
            assertThat(probe.assertEnqueued("import.report").waits()).isEqualTo("time");
        }
    }

    @Test
    void schedulesFire() {
        try (TestDatabase database = TestDatabase.create()) {
            Postroom postroom = database.postroom();
            // docs begin
            Schedules schedules = postroom.schedules();

            Schedule nightly = Schedule.of(
                            "nightly-report",
                            Cron.parse("30 2 * * *", "Europe/Berlin"),
                            Job.of("report.build", "{}").queue("reports").build())
                    .missed(Missed.ONCE)
                    .withoutOverlap();
            postroom.database().transact(tx -> schedules.put(tx, nightly)); // every node, when it starts

            Scheduler scheduler = schedules.start(); // until scheduler.close()
            // docs end
            scheduler.close();
            assertThat(schedules.next("nightly-report", 3)).hasSize(3);
        }
    }

    @Test
    void theExamplesInTheDocsAreTheseWordForWord() throws IOException {
        Path root = Path.of("").toAbsolutePath();
        while (!Files.exists(root.resolve("core-tests"))) {
            root = root.getParent();
        }
        String source = Files.readString(root.resolve("core-tests/src/test/java/io/postroom/job/JobExampleTest.java"));
        String docs =
                Files.readString(root.resolve("docs/jobs.md")) + Files.readString(root.resolve("docs/schedules.md"));
        List<MatchResult> examples = Pattern.compile("(?s) {12}// docs begin\n(.*?) {12}// docs end\n")
                .matcher(source)
                .results()
                .toList();
        assertThat(examples).hasSize(4);
        for (MatchResult example : examples) {
            assertThat(docs).contains("```java\n" + example.group(1).replaceAll("(?m)^ {12}", "") + "```");
        }
    }
}
