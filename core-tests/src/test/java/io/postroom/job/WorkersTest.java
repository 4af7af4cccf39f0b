package io.postroom.job;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.Postroom;
import io.postroom.fault.CapturedLog;
import io.postroom.telemetry.Telemetry;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** From enqueuing to the end, with real threads. */
class WorkersTest {
    private static Workshop shop;

    @BeforeAll
    static void open() {
        shop = new Workshop();
    }

    @AfterAll
    static void close() {
        shop.close();
    }

    @BeforeEach
    void clear() {
        shop.clear();
    }

    @Test
    void sayThatNobodyRunsMaintenance() {
        String tomorrow = "postroom.job_done_"
                + shop.text("select to_char((clock_timestamp() at time zone 'utc')::date + 1, 'YYYYMMDD')");
        shop.database.execute("drop table if exists " + tomorrow);
        try (CapturedLog log = new CapturedLog();
                Workers workers = shop.workers()
                        .lease(Duration.ofMillis(500))
                        .queue("default", 1)
                        .handle("work", job -> JobOutcome.done())
                        .build()) {
            workers.start();
            Workshop.await(
                    log::text,
                    () -> log.text().contains("has no partition for jobs that end tomorrow: nobody runs maintenance"));
        } finally {
            shop.postroom.maintenance().runOnce();
        }
        assertThat(shop.text("select to_regclass('" + tomorrow + "') is not null"))
                .isEqualTo("t");
    }

    @Test
    void runAJobThatWasCommittedAndEndIt() {
        Queue<String> seen = new ConcurrentLinkedQueue<>();
        try (Workers workers = shop.workers()
                .queue("mail", 2)
                .handle("mail.send", job -> {
                    seen.add(job.id() + " " + job.kind() + " " + job.attempt() + " " + job.payload());
                    return JobOutcome.done("{\"sent\":true}");
                })
                .build()) {
            workers.start();
            long id = shop.enqueue(
                    Job.of("mail.send", "{\"to\": \"a@b.example\"}").queue("mail"));
            shop.awaitState(id, "done");
            assertThat(seen).containsExactly(id + " mail.send 1 {\"to\": \"a@b.example\"}");
            assertThat(shop.rows("select state, attempt, result, ended_by from postroom.job_done where id = " + id))
                    .containsExactly("done|1|{\"sent\":true}|tester");
        }
        assertThat(shop.database.queryLong("select count(*) from postroom.job")).isZero();
        assertThat(shop.database.queryLong("select count(*) from postroom.worker"))
                .isZero();
    }

    @Test
    void runWhatSqlHasEnqueuedAndNothingThatWasRolledBack() throws SQLException {
        Queue<String> seen = new ConcurrentLinkedQueue<>();
        try (Workers workers = shop.workers()
                .queue("default", 1)
                .handle("note", job -> {
                    seen.add(job.payload());
                    return JobOutcome.done();
                })
                .build()) {
            workers.start();
            try (Connection tx = shop.database.begin()) {
                shop.jobs.enqueue(tx, Job.of("note", "\"rolled back\"").build());
                shop.jobs.enqueueAll(tx, List.of(Job.of("note", "\"too\"").build()));
                tx.rollback();
            }
            shop.database.execute("select postroom.enqueue('note', payload => '\"sql\"', priority => 5)");
            shop.awaitDone(1);
        }
        assertThat(seen).containsExactly("\"sql\"");
        assertThat(shop.rows("select priority from postroom.job_done")).containsExactly("5");
    }

    @Test
    void runEachOfManyJobsOnce() {
        int many = 5_000;
        Set<Long> seen = ConcurrentHashMap.newKeySet();
        Queue<Long> twice = new ConcurrentLinkedQueue<>();
        List<Job> jobs = new ArrayList<>();
        for (int i = 0; i < many; i++) {
            jobs.add(Job.of("count", "" + i).build());
        }
        List<Long> ids = shop.enqueueAll(jobs);
        assertThat(ids).isSorted().doesNotHaveDuplicates().hasSize(many);
        assertThat(shop.database.queryLong(
                        "select count(*) from postroom.job where id::text = (payload::text::bigint + " + ids.get(0)
                                + ")::text"))
                .as("ids in the order of the batch")
                .isEqualTo(many);
        JobHandler count = job -> {
            if (!seen.add(job.id())) {
                twice.add(job.id());
            }
            return JobOutcome.done();
        };
        try (Workers one = shop.workers()
                        .queue("default", 3)
                        .handle("count", count)
                        .build();
                Workers two = shop.workers()
                        .queue("default", 3)
                        .handle("count", count)
                        .build()) {
            one.start();
            two.start();
            shop.awaitDone(many);
        }
        assertThat(twice).isEmpty();
        assertThat(seen).hasSize(many).containsAll(ids);
        assertThat(shop.rows("select count(*), count(distinct id) from postroom.job_done"))
                .containsExactly(many + "|" + many);
    }

    @Test
    void runTheMostUrgentFirstAndThenTheOldest() {
        List<String> order = Collections.synchronizedList(new ArrayList<>());
        shop.enqueue(Job.of("note", "\"a\"").priority(500));
        shop.enqueue(Job.of("note", "\"b\""));
        shop.enqueue(Job.of("note", "\"c\"").priority(0));
        shop.enqueue(Job.of("note", "\"d\""));
        shop.enqueue(Job.of("note", "\"e\"").priority(0));
        try (Workers workers = shop.workers()
                .queue("default", 1)
                .handle("note", String.class, (payload, job) -> {
                    order.add(payload);
                    return JobOutcome.done();
                })
                .build()) {
            workers.start();
            shop.awaitDone(5);
        }
        assertThat(order).containsExactly("c", "e", "b", "d", "a");
    }

    @Test
    void runNothingBeforeItsTimeByTheDatabasesClock() {
        long later = shop.enqueue(Job.of("note", "1").runAfter(Duration.ofMillis(700)));
        long never = shop.enqueue(Job.of("note", "2").runAt(Instant.now().plus(Duration.ofDays(1))));
        long past = shop.enqueue(Job.of("note", "3").runAt(Instant.parse("2001-01-01T00:00:00Z")));
        try (Workers workers = shop.workers()
                .queue("default", 2)
                .handle("note", job -> JobOutcome.done())
                .build()) {
            workers.start();
            shop.awaitDone(2);
        }
        assertThat(shop.state(never)).isEqualTo("ready");
        assertThat(shop.rows("select id from postroom.job_done where claimed_at >= run_at order by id"))
                .containsExactly("" + later, "" + past);
    }

    @Test
    void leaveAKindThatTheyDoNotKnowToOthersWithoutCountingIt() {
        long id = shop.enqueue(Job.of("strange", "{}"));
        long claimedOften = shop.enqueue(Job.of("strange", "{}"));
        shop.database.execute("update postroom.job set fence = 20 where id = " + claimedOften);
        long known = shop.enqueue(Job.of("note", "{}"));
        try (Workers workers = shop.workers()
                .queue("default", 1)
                .handle("note", job -> JobOutcome.done())
                .build()) {
            workers.start();
            shop.awaitState(known, "done");
            Workshop.await(
                    () -> "the job waits",
                    () -> "time|0".equals(shop.text("select waits, attempt from postroom.job where id = " + id)));
            Workshop.await(
                    () -> "the other waits long",
                    () -> "t"
                            .equals(shop.text("select run_at > clock_timestamp() + interval '2 min' from postroom.job"
                                    + " where id = " + claimedOften)));
        }
    }

    @Test
    void claimNothingOfAPausedQueueUntilItIsResumed() {
        JobBoard board = shop.postroom.jobBoard();
        assertThat(board.pause("mail", "ann", "the server is full")).isTrue();
        assertThat(board.pause("mail", "bob", "again")).isFalse();
        long paused = shop.enqueue(Job.of("note", "1").queue("mail"));
        long other = shop.enqueue(Job.of("note", "2"));
        try (Workers workers = shop.workers()
                .queue("mail", 1)
                .queue("default", 1)
                .handle("note", job -> JobOutcome.done())
                .build()) {
            workers.start();
            shop.awaitState(other, "done");
            // Claims go on for a while and find nothing there: by the hint, and from the beginning.
            long second = shop.enqueue(Job.of("note", "3"));
            shop.awaitState(second, "done");
            assertThat(shop.rows("select state, attempt from postroom.job where id = " + paused))
                    .containsExactly("ready|0");
            assertThat(board.resume("mail", "ann", "it has room")).isTrue();
            shop.awaitState(paused, "done");
        }
        assertThat(shop.rows("select actor, action, subject from postroom.audit order by id"))
                .containsExactly("ann|queue pause|queue mail", "ann|queue resume|queue mail");
    }

    @Test
    void giveBackWhatWaitsHereTooLongForAnotherProcess() throws InterruptedException {
        CountDownLatch release = new CountDownLatch(1);
        Set<String> others = ConcurrentHashMap.newKeySet();
        try (Workers busy = shop.workers()
                        .name("busy")
                        .queue("default", 1)
                        .handle("wait", job -> {
                            release.await();
                            return JobOutcome.done();
                        })
                        .build();
                Workers idle = shop.workers()
                        .name("idle")
                        .queue("default", 1)
                        .handle("wait", job -> {
                            others.add(job.payload());
                            return JobOutcome.done();
                        })
                        .build()) {
            List<Long> ids = shop.enqueueAll(
                    List.of(Job.of("wait", "1").build(), Job.of("wait", "2").build()));
            busy.start();
            // Both are claimed: one runs, one waits for the thread.
            Workshop.await(
                    () -> "both are claimed",
                    () -> shop.database.queryLong("select count(*) from postroom.job where state = 'running'") == 2);
            idle.start();
            Workshop.await(() -> "the other process has got one", () -> others.size() == 1);
            release.countDown();
            for (long id : ids) {
                shop.awaitState(id, "done");
            }
        }
        assertThat(shop.rows("select distinct attempt from postroom.job_done")).containsExactly("1");
    }

    /** Its claimer looked while all threads were busy, and would look again only after a minute. */
    @Test
    void lookForMoreAsSoonAsAThreadIsFree() {
        CountDownLatch busy = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        try (Workers workers = shop.workers()
                .queue("default", 1)
                .poll(Duration.ofMinutes(1), Duration.ofMinutes(1))
                .handle("first", job -> {
                    busy.countDown();
                    go.await();
                    return JobOutcome.done();
                })
                .handle("next", job -> JobOutcome.done())
                .build()) {
            shop.enqueue(Job.of("first", "{}").priority(1));
            for (int i = 0; i < 4; i++) {
                shop.enqueue(Job.of("next", "{}"));
            }
            workers.start();
            Workshop.await(() -> "it is busy", () -> busy.getCount() == 0);
            // Whoever enqueues in the same process makes it look.
            shop.enqueue(Job.of("next", "{}"));
            go.countDown();
            shop.awaitDone(6);
        }
    }

    /** The job was taken away and came back, while the handler of the first claim hears nothing. */
    @Test
    void leaveTheLastClaimOfAJobAloneWhenAnOlderOneIsLost() {
        CountDownLatch over = new CountDownLatch(1);
        AtomicBoolean disturbed = new AtomicBoolean();
        AtomicBoolean lost = new AtomicBoolean();
        AtomicInteger runs = new AtomicInteger();
        try (Workers workers = shop.workers()
                .queue("default", 2)
                .handle("work", job -> {
                    if (runs.incrementAndGet() == 1) {
                        while (over.getCount() > 0) {
                            LockSupport.parkNanos(10_000_000);
                            boolean deaf = Thread.interrupted();
                            lost.compareAndSet(false, deaf && job.isLost());
                        }
                        return JobOutcome.done();
                    }
                    // Long enough that the heart looks after both at least once.
                    disturbed.set(new CountDownLatch(1).await(2_600, TimeUnit.MILLISECONDS) || job.isLost());
                    over.countDown();
                    return JobOutcome.done();
                })
                .build()) {
            workers.start();
            long id = shop.enqueue(Job.of("work", "{}"));
            Workshop.await(() -> "it runs", () -> runs.get() == 1);
            shop.database.execute("update postroom.job set state = 'ready', worker = null, claimed_at = null,"
                    + " deadline_at = null, fence = fence + 1, turn = default where id = " + id);
            shop.awaitState(id, "done");
            assertThat(disturbed).isFalse();
            assertThat(lost).isTrue();
            assertThat(runs).hasValue(2);
            assertThat(shop.rows("select * from postroom.job_attempt")).isEmpty();
        }
    }

    /** Out of memory, say: whoever writes ends must survive what everybody else does. */
    /** A right that is missing, or a trigger of somebody else's, say. */
    @Test
    void writeAnEndLaterThatWasRefused() {
        AtomicInteger ran = new AtomicInteger();
        shop.database.execute(
                "create function refuse() returns trigger language plpgsql as $$ begin raise 'not now'; end $$",
                "create trigger refuse before insert on postroom.job_done for each row when (new.kind = 'work') execute function refuse()");
        try (Workers workers = shop.workers()
                .queue("default", 2)
                .handle("work", job -> {
                    ran.incrementAndGet();
                    return JobOutcome.done();
                })
                .handle("other", job -> JobOutcome.done())
                .build()) {
            workers.start();
            List<Long> ids = shop.enqueueAll(List.of(
                    Job.of("work", "1").build(),
                    Job.of("work", "2").build(),
                    Job.of("other", "3").build()));
            shop.awaitState(ids.get(2), "done");
            Workshop.await(() -> "both have run", () -> ran.get() == 2);
            shop.database.execute("drop function refuse() cascade");
            shop.awaitState(ids.get(0), "done");
            shop.awaitState(ids.get(1), "done");
        } finally {
            shop.database.execute("drop function if exists refuse() cascade");
        }
        assertThat(ran).hasValue(2);
    }

    @Test
    void goOnWritingEndsAfterAnError() {
        AtomicBoolean broken = new AtomicBoolean(true);
        Telemetry telemetry = new Telemetry() {
            @Override
            public void jobRan(String queue, String kind, String outcome, Duration took) {
                if (broken.getAndSet(false)) {
                    throw new AssertionError("once");
                }
            }
        };
        Jobs jobs = Postroom.builder(shop.database.dataSource())
                .telemetry(telemetry)
                .build()
                .jobs();
        try (Workers workers = jobs.workers()
                .queue("default", 1)
                .handle(Kind.transactional("first", (tx, job) -> JobOutcome.done()))
                .handle("next", job -> JobOutcome.done())
                .build()) {
            workers.start();
            shop.enqueue(Job.of("first", "{}"));
            shop.awaitDone(1);
            shop.enqueue(Job.of("next", "{}"));
            shop.awaitDone(2);
            assertThat(broken).isFalse();
        }
    }
}
