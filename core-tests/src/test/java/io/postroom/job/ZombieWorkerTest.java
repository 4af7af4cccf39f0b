package io.postroom.job;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.testkit.ChildJvm;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** A worker that stands still past its lease, in the middle of a job, and goes on as if nothing had happened. */
class ZombieWorkerTest {
    private static Workshop shop;

    @BeforeAll
    static void open() {
        shop = new Workshop();
        shop.database.execute("create table effect (job bigint, attempt int, worker text)");
    }

    @AfterAll
    static void close() {
        shop.close();
    }

    @Test
    void endsNothingThatWasTakenAwayAndSaysSo() throws InterruptedException {
        long held = shop.enqueue(Job.of("hold", "{}"));
        try (ChildJvm zombie = KilledWorkerTest.start(shop, "zombie", 1_500, 1)) {
            zombie.awaitLine("holding " + held, Workshop.PATIENCE);
            // Claimed too, and not begun: it waits for the one thread.
            long waiting = shop.enqueue(Job.of("count", "1"));
            Workshop.await(
                    () -> "it is claimed: " + shop.rows("select id, state from postroom.job"),
                    () -> shop.state(waiting).equals("running"));
            zombie.freeze();
            try (Workers living = shop.workers()
                    .name("living")
                    .queue("default", 2)
                    .handle("hold", job -> JobOutcome.done("2"))
                    .handle("count", job -> JobOutcome.done("2"))
                    .build()) {
                living.start();
                shop.awaitState(held, "done");
                shop.awaitState(waiting, "done");
            }
            String ends = "select id, state, fence, ended_by, result from postroom.job_done order by id";
            assertThat(shop.rows(ends)).hasSize(2).allMatch(line -> line.endsWith("|living|2"));
            zombie.thaw();
            // It is trusted again, before it comes to what it had claimed.
            Workshop.await(
                    () -> "it beats again: " + zombie,
                    () -> shop.database.queryLong("select count(*) from postroom.worker where name = 'zombie'"
                                    + " and leased_until > clock_timestamp()")
                            == 1);
            zombie.say("go");
            zombie.awaitLine("telemetry: stale job of kind hold", Workshop.PATIENCE);
            zombie.awaitLine("is stale, they were taken away", Workshop.PATIENCE);
            // It lives on, under the same name, and works.
            long next = shop.enqueue(Job.of("count", "2"));
            shop.awaitState(next, "done");
            assertThat(shop.rows("select worker from effect"))
                    .as("what was not begun was not begun later")
                    .containsExactly("zombie");
            assertThat(shop.rows(ends)).hasSize(3);
            assertThat(shop.rows("select state, ended_by, attempt from postroom.job_done where id = " + held))
                    .containsExactly("done|living|2");
            zombie.say("stop");
            zombie.awaitLine("stopped", Workshop.PATIENCE);
        }
    }
}
