package io.postroom.job;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.deadletter.Cause;
import io.postroom.retry.Fault;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Finish, fail, cancel and reap, all at once on the same jobs: each job ends once, and whoever was told so has ended it. */
class JobRaceTest {
    private static final int JOBS = Boolean.getBoolean("postroom.long") ? 100_000 : 5_000;
    private static final int CHUNK = 50;
    private static final Kind KIND = Kind.of("work", job -> JobOutcome.done());

    private static Workshop shop;

    private final Set<Long> finished = ConcurrentHashMap.newKeySet();
    private final Set<Long> failed = ConcurrentHashMap.newKeySet();
    private final Set<Long> cancelled = ConcurrentHashMap.newKeySet();
    private volatile List<ClaimedJob> chunk = List.of();
    private int reaped;

    @BeforeAll
    static void open() {
        shop = new Workshop();
    }

    @AfterAll
    static void close() {
        shop.close();
    }

    @Test
    void eachJobEndsOnceWhoeverRaces() throws Exception {
        enqueue();
        race(new Hand(shop, "zombie", KIND));
        // What nobody took in its round is rescued and done by somebody else.
        Hand last = new Hand(shop, "last", KIND);
        last.reaper().reap();
        shop.database.execute("update postroom.job set waits = null where waits = 'time'");
        for (List<ClaimedJob> rest = last.claim(500); !rest.isEmpty(); rest = last.claim(500)) {
            assertThat(last.complete(rest)).hasSize(rest.size());
        }
        assertEnds();
    }

    private static void enqueue() {
        for (int done = 0; done < JOBS; done += 5_000) {
            List<Job> jobs = new ArrayList<>();
            for (int i = 0; i < Math.min(5_000, JOBS - done); i++) {
                jobs.add(Job.of("work", "" + i).build());
            }
            shop.enqueueAll(jobs);
        }
    }

    /** All four begin with each chunk at the same moment. Its worker is dead; what was put back is claimed again. */
    private void race(Hand zombie) throws Exception {
        zombie.die();
        ExecutorService threads = Executors.newFixedThreadPool(4);
        CyclicBarrier barrier = new CyclicBarrier(4, () -> chunk = zombie.claim(CHUNK));
        Hand failing = zombie.named("failer");
        Hand finishing = zombie.named("finisher");
        Reaper reaper = new Hand(shop, "reaper", KIND).reaper();
        JobBoard board = shop.postroom.jobBoard();
        Random random = new Random(20_261_116);
        List<Callable<Void>> racers = List.of(
                each(barrier, () -> finished.addAll(finishing.complete(some(random)))),
                each(barrier, () -> fail(failing, some(random), random)),
                each(barrier, () -> cancel(board, some(random))),
                each(barrier, () -> reaped += random.nextInt(3) == 0 ? reaper.reap() : 0));
        try {
            for (Future<Void> racer : threads.invokeAll(racers)) {
                racer.get();
            }
        } finally {
            threads.shutdownNow();
        }
    }

    private List<ClaimedJob> some(Random random) {
        return chunk.stream().filter(job -> random.nextInt(3) > 0).toList();
    }

    private Callable<Void> each(CyclicBarrier barrier, Runnable act) {
        return () -> {
            for (barrier.await(5, TimeUnit.MINUTES); !chunk.isEmpty(); barrier.await(5, TimeUnit.MINUTES)) {
                act.run();
            }
            return null;
        };
    }

    private void fail(Hand failing, List<ClaimedJob> chunk, Random random) {
        Fault fault = Fault.of("raced", "it failed");
        Verdict.Note note = new Verdict.Note("failed", fault);
        List<Ended> ended = new ArrayList<>();
        List<Long> givenUp = new ArrayList<>();
        for (ClaimedJob job : chunk) {
            boolean forGood = random.nextBoolean();
            if (forGood) {
                givenUp.add(job.id());
            }
            ended.add(new Ended(
                    job,
                    forGood
                            ? new Verdict.GiveUp(Cause.EXHAUSTED, job.attempt(), fault, note)
                            : new Verdict.Again(Duration.ZERO, true, false, note),
                    0));
        }
        Set<Long> mine = failing.settle(ended);
        givenUp.stream().filter(mine::contains).forEach(failed::add);
    }

    private void cancel(JobBoard board, List<ClaimedJob> chunk) {
        for (ClaimedJob job : chunk) {
            if (board.cancel(job.id(), "canceller", "a race") == Cancellation.CANCELLED) {
                cancelled.add(job.id());
            }
        }
    }

    private void assertEnds() {
        assertThat(shop.rows("select * from postroom.job")).isEmpty();
        assertThat(shop.rows("select count(*), count(distinct id) from postroom.job_done"))
                .containsExactly(JOBS + "|" + JOBS);
        assertThat(finished).doesNotContainAnyElementsOf(failed).doesNotContainAnyElementsOf(cancelled);
        assertThat(failed).doesNotContainAnyElementsOf(cancelled);
        assertThat(ids("state = 'done' and ended_by = 'finisher'")).isEqualTo(finished);
        assertThat(ids("state = 'cancelled' and ended_by = 'canceller'")).isEqualTo(cancelled);
        // What it gave up on may have been asked for by the canceller before.
        assertThat(failed).containsAll(ids("state = 'failed'"));
        assertThat(ids("ended_by = 'failer'")).containsAll(failed);
        assertThat(shop.rows(
                        "select d.id from postroom.job_done d full join postroom.dead_letter l on l.position = d.id"
                                + " where (d.state = 'failed') is distinct from (l.id is not null)"))
                .as("what failed is a dead letter, and nothing else is")
                .isEmpty();
        assertThat(
                        shop.rows(
                                "select a.job_id from postroom.job_attempt a join postroom.job_done d on d.id = a.job_id"
                                        + " where a.fence > d.fence or a.fence = d.fence and d.state = 'done'"
                                        + " union all select job_id from postroom.job_attempt group by job_id, fence having count(*) > 1"))
                .as("no claim has two outcomes")
                .isEmpty();
        assertThat(finished).isNotEmpty();
        assertThat(failed).isNotEmpty();
        assertThat(cancelled).isNotEmpty();
        assertThat(reaped).isPositive();
    }

    private static Set<Long> ids(String where) {
        Set<Long> ids = ConcurrentHashMap.newKeySet();
        shop.rows("select id from postroom.job_done where " + where).forEach(id -> ids.add(Long.parseLong(id)));
        return ids;
    }
}
