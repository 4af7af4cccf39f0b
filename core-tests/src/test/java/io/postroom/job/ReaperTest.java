package io.postroom.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Jobs of workers that died or hang, step by step, without threads. */
class ReaperTest {
    private static Workshop shop;
    private Hand dead;
    private Hand alive;
    private Reaper reaper;
    private final AtomicLong nanos = new AtomicLong();

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
        dead = new Hand(shop, "dead", Kind.of("work", job -> JobOutcome.done()));
        alive = new Hand(shop, "alive", Kind.of("work", job -> JobOutcome.done()));
        reaper = alive.reaper(nanos::get);
    }

    private static List<String> rows() {
        return shop.rows("select id, state, waits, attempt, crashes, fence from postroom.job order by id");
    }

    @Test
    void takesJobsOfADeadWorkerAndLeavesThoseOfTheLiving() {
        long first = shop.enqueue(Job.of("work", "1"));
        ClaimedJob lost = dead.claim(10).get(0);
        long second = shop.enqueue(Job.of("work", "2"));
        alive.claim(10);
        assertThat(reaper.reap()).as("all are alive").isZero();
        dead.die();
        assertThat(reaper.reap()).isEqualTo(1);
        assertThat(reaper.reap()).isZero();
        assertThat(rows()).containsExactly(first + "|ready|null|1|1|2", second + "|running|null|1|0|1");
        assertThat(shop.rows("select attempt, outcome, worker from postroom.job_attempt"))
                .containsExactly("1|lost|dead");
        assertThat(dead.complete(lost))
                .as("what the dead one says changes nothing")
                .isFalse();
        assertThat(shop.state(first)).isEqualTo("ready");
    }

    /** In steps, however many there are: each reads a bounded number. */
    @Test
    void forgetsRatesThatWereUsedUpLongAgo() {
        int keys = 2 * Reaper.RATES_MAX + 10;
        shop.database.execute(
                "insert into postroom.job_rate select 'customer', 'key-' || n, clock_timestamp() - case when n % 2 = 0"
                        + " then interval '3 days' else interval '1 day' end from generate_series(1, " + keys
                        + ") as n");
        List<Long> left = new ArrayList<>();
        for (int looks = 0; looks < 3; looks++) {
            reaper.forgetRates();
            left.add(shop.database.queryLong("select count(*) from postroom.job_rate"));
        }
        assertThat(left.get(0)).isBetween((long) keys - Reaper.RATES_MAX, keys - 1L);
        assertThat(left.get(2)).isEqualTo(keys / 2);
        shop.database.execute(
                "update postroom.job_rate set used_until = used_until - interval '2 days' where limit_key = 'key-1'");
        reaper.reap();
        assertThat(shop.database.queryLong("select count(*) from postroom.job_rate"))
                .as("it has begun anew")
                .isEqualTo(keys / 2 - 1);
    }

    @Test
    void takesJobsOfAWorkerThatNobodyKnows() {
        shop.enqueue(Job.of("work", "1"));
        dead.claim(10);
        shop.database.execute("delete from postroom.worker");
        alive.beat();
        shop.enqueue(Job.of("work", "2"));
        alive.claim(10);
        assertThat(reaper.reap()).isEqualTo(1);
    }

    @Test
    void takesWhatALivingWorkerShouldHaveEndedLongAgo() {
        long id = shop.enqueue(Job.of("work", "1"));
        alive.claim(10);
        shop.database.execute(
                "update postroom.job set deadline_at = clock_timestamp() - interval '1 s' where id = " + id);
        assertThat(reaper.reap()).isEqualTo(1);
        assertThat(shop.state(id)).isEqualTo("ready");
    }

    /** Which of the claimed jobs ended the process is known only from then on, and the last attempt is always known. */
    @Test
    void countsAnAttemptThatMayHaveBegunAndNoneThatHasNot() {
        long plain = shop.enqueue(Job.of("work", "1"));
        long last = shop.enqueue(Job.of("work", "2").retry("quick attempts=1"));
        long begun = shop.enqueue(Job.of("work", "3").retry("quick attempts=1"));
        List<ClaimedJob> claimed = dead.claim(10);
        assertThat(claimed).extracting(ClaimedJob::exact).containsExactly(false, true, true);
        assertThat(dead.begin(claimed.get(2))).isTrue();
        dead.die();
        reaper.reap();
        assertThat(rows())
                .containsExactly(plain + "|ready|null|1|1|2", last + "|ready|null|0|0|2", begun + "|ready|null|1|1|2");
        // What was lost once is exact from then on.
        dead = new Hand(shop, "second", Kind.of("work", job -> JobOutcome.done()));
        assertThat(dead.claim(10)).extracting(ClaimedJob::exact).containsExactly(true, true, true);
        dead.die();
        reaper.reap();
        assertThat(rows())
                .as("nothing had begun")
                .containsExactly(plain + "|ready|null|1|1|4", last + "|ready|null|0|0|4", begun + "|ready|null|1|1|4");
    }

    @Test
    void letsAJobWaitThatKillsAgainAndAgain() {
        long id = shop.enqueue(Job.of("work", "1"));
        for (int crash = 1; crash <= 3; crash++) {
            Hand next = new Hand(shop, "victim", Kind.of("work", job -> JobOutcome.done()));
            shop.database.execute("update postroom.job set waits = null");
            ClaimedJob job = next.claim(1).get(0);
            assertThat(job.attempt()).isEqualTo(crash);
            next.begin(job);
            next.die();
            reaper.reap();
            assertThat(shop.rows("select attempt, crashes, waits from postroom.job where id = " + id))
                    .containsExactly(crash + "|" + crash + (crash == 1 ? "|null" : "|time"));
        }
    }

    @Test
    void endsWhatWasToBeCancelled() {
        long id = shop.enqueue(Job.of("work", "1"));
        dead.claim(10);
        assertThat(shop.postroom.jobBoard().cancel(id, "ann", "no")).isEqualTo(Cancellation.ASKED);
        dead.die();
        assertThat(reaper.reap()).isEqualTo(1);
        assertThat(shop.rows("select state, attempt from postroom.job_done where id = " + id))
                .containsExactly("cancelled|1");
    }

    /** A row that refuses to be rescued, in the first batch and in front of all others. */
    @Test
    void isNotHeldUpByWhatCannotBeRescuedOrIsLocked() throws SQLException {
        List<Job> jobs = new ArrayList<>();
        for (int i = 0; i < 2_500; i++) {
            jobs.add(Job.of("work", "" + i).build());
        }
        List<Long> ids = shop.enqueueAll(jobs);
        dead.claim(5_000);
        dead.die();
        shop.database.execute(
                "create function refuse() returns trigger language plpgsql as $$ begin"
                        + " raise exception 'not this one' using errcode = 'P0001'; end $$",
                "create trigger refuse before update on postroom.job for each row when (old.id in (" + ids.get(0) + ", "
                        + ids.get(1) + ", " + ids.get(7) + ")) execute function refuse()",
                "update postroom.job set deadline_at = deadline_at - interval '1 min' where id = " + ids.get(3));
        try (Connection locker = shop.database.begin();
                Statement statement = locker.createStatement()) {
            statement.execute("select from postroom.job where id = " + ids.get(4) + " for update");
            Workshop.await(
                    () -> "all others are rescued: " + shop.rows("select state, count(*) from postroom.job group by 1"),
                    () -> {
                        reaper.reap();
                        return running() == 4;
                    });
            locker.rollback();
        } finally {
            shop.database.execute("drop function refuse() cascade");
        }
        reaper.reap();
        assertThat(running()).as("they are left alone for a while").isEqualTo(3);
        nanos.addAndGet(TimeUnit.MINUTES.toNanos(1));
        assertThat(reaper.reap()).as("and tried again").isEqualTo(3);
        assertThat(running()).isZero();
    }

    /** Longer each time, up to ten minutes: it costs little, and is rescued soon after the cause is mended. */
    @Test
    void triesAgainLessAndLessOftenWhatItCouldNotRescue() {
        shop.enqueue(Job.of("work", "1"));
        dead.claim(1);
        dead.die();
        shop.database.execute(
                "create sequence tries",
                "create function refuse() returns trigger language plpgsql as $$ begin perform nextval('tries');"
                        + " raise exception 'not this one' using errcode = 'P0001'; end $$",
                "create trigger refuse before update on postroom.job for each row execute function refuse()");
        try {
            for (int minutes = 0; minutes < 120; minutes++) {
                reaper.reap();
                nanos.addAndGet(TimeUnit.MINUTES.toNanos(1));
            }
            assertThat(shop.database.queryLong("select last_value from tries"))
                    .as("tries in two hours")
                    .isBetween(12L, 20L);
        } finally {
            shop.database.execute("drop function refuse() cascade", "drop sequence tries");
        }
        nanos.addAndGet(TimeUnit.MINUTES.toNanos(10));
        assertThat(reaper.reap()).isEqualTo(1);
    }

    /** A trigger refuses all jobs of a tenant, and each time they are tried again there are more of them than one pass tries. */
    @Test
    void whatItTriesAgainComesAfterWhatItHasNotTried() {
        loseJobsInFrontOf(20, 120);
        try {
            for (int pass = 1; pass <= 2; pass++) {
                reaper.reap();
                nanos.addAndGet(TimeUnit.MINUTES.toNanos(20));
            }
            assertThat(running()).as("those that are refused are left").isEqualTo(120);
        } finally {
            shop.database.execute("drop function refuse() cascade", "drop sequence tries");
        }
        assertThat(reaper.reap()).isEqualTo(120);
    }

    @Test
    void whatItLeavesAloneIsNotForgottenBecauseThereIsMore() {
        loseJobsInFrontOf(20, 40);
        reaper = alive.reaper(nanos::get, 30);
        try {
            for (int pass = 1; pass <= 5; pass++) {
                reaper.reap();
            }
            // The first pass: a batch, thirty, and one too many. Then a batch and one too many.
            assertThat(shop.database.queryLong("select last_value from tries"))
                    .as("tries in five passes")
                    .isEqualTo(32 + 4 * 2);
        } finally {
            shop.database.execute("drop function refuse() cascade", "drop sequence tries");
        }
        nanos.addAndGet(TimeUnit.MINUTES.toNanos(1));
        assertThat(reaper.reap()).isEqualTo(60);
    }

    @Test
    void whatAnotherWorkerHasRescuedIsForgotten() {
        loseJobsInFrontOf(2, 5);
        reaper = alive.reaper(nanos::get, 30);
        try {
            reaper.reap();
            assertThat(reaper.sparedCount()).isEqualTo(5);
        } finally {
            shop.database.execute("drop function refuse() cascade", "drop sequence tries");
        }
        assertThat(alive.reaper(nanos::get, 30).reap()).isEqualTo(5);
        reaper.reap();
        assertThat(reaper.sparedCount()).as("before they are due").isEqualTo(5);
        nanos.addAndGet(TimeUnit.MINUTES.toNanos(1));
        reaper.reap();
        assertThat(reaper.sparedCount()).isZero();
    }

    /** A dead worker has some jobs, and before them in the order of rescue some that a trigger refuses and counts. */
    private void loseJobsInFrontOf(int others, int refused) {
        List<Job> jobs = new ArrayList<>();
        for (int i = 0; i < others + refused; i++) {
            jobs.add(Job.of("work", "" + i)
                    .tenantId(i < others ? "other" : "acme")
                    .build());
        }
        shop.enqueueAll(jobs);
        assertThat(dead.claim(others + refused)).hasSize(others + refused);
        dead.die();
        shop.database.execute(
                "update postroom.job set deadline_at = deadline_at + interval '1 h' where tenant_id = 'acme'",
                "create sequence tries",
                "create function refuse() returns trigger language plpgsql as $$ begin perform nextval('tries');"
                        + " raise exception 'not these' using errcode = 'P0001'; end $$",
                "create trigger refuse before update on postroom.job for each row when (old.tenant_id = 'acme')"
                        + " execute function refuse()");
    }

    /** A trigger that keeps a row as it is says no word: the batch is not changed as a whole. */
    @Test
    void isNotHeldUpByARowThatDoesNotChange() {
        List<Long> ids = new ArrayList<>();
        for (int i = 0; i < 150; i++) {
            ids.add(shop.enqueue(Job.of("work", "" + i)));
        }
        dead.claim(200);
        dead.die();
        shop.database.execute(
                "create function keep() returns trigger language plpgsql as $$ begin return null; end $$",
                "create trigger keep before update on postroom.job for each row when (old.id = " + ids.get(149)
                        + ") execute function keep()");
        try {
            Workshop.await(
                    () -> "all others are rescued: " + shop.rows("select state, count(*) from postroom.job group by 1"),
                    () -> {
                        reaper.reap();
                        return running() == 1;
                    });
        } finally {
            shop.database.execute("drop function keep() cascade");
        }
        nanos.addAndGet(TimeUnit.MINUTES.toNanos(1));
        assertThat(reaper.reap()).isEqualTo(1);
    }

    private static long running() {
        return shop.database.queryLong("select count(*) from postroom.job where state = 'running'");
    }

    @Test
    void forgetsWorkersThatAreLongDeadAndHaveNothingLeft() {
        shop.enqueue(Job.of("work", "1"));
        dead.claim(1);
        Hand idle = new Hand(shop, "idle", Kind.of("work", job -> JobOutcome.done()));
        shop.database.execute("update postroom.worker set leased_until = clock_timestamp() - interval '2 h'"
                + " where name in ('dead', 'idle')");
        reaper.reap();
        assertThat(idle.id()).isNotNull();
        assertThat(shop.rows("select name from postroom.worker order by 1")).containsExactly("alive");
    }

    /** A process that was given a job again may have both ends in hand. */
    @Test
    void oneJobNeverEndsTwiceInOneTransaction() {
        long id = shop.enqueue(Job.of("work", "{}"));
        Hand hand = new Hand(shop, "hand", Kind.of("work", job -> JobOutcome.done()));
        ClaimedJob first = hand.claim(1).get(0);
        hand.settle(List.of(new Ended(first, Verdict.handBack(), 0)));
        ClaimedJob second = hand.claim(1).get(0);
        assertThat(ClaimedJob.newest(List.of(second, first))).containsOnly(Map.entry(id, second));
        assertThatThrownBy(() -> hand.settle(List.of(
                        new Ended(first, new Verdict.Done("1"), 0), new Ended(second, new Verdict.Done("2"), 0))))
                .isInstanceOf(IllegalStateException.class);
        assertThat(shop.rows("select * from postroom.job_done")).isEmpty();
    }
}
