package io.postroom.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postroom.Postroom;
import io.postroom.deadletter.DeadLetterFilter;
import io.postroom.deadletter.Redrive;
import io.postroom.deadletter.RedriveAction;
import io.postroom.deadletter.RedriveRequest;
import io.postroom.deadletter.RedriveStep;
import io.postroom.deadletter.Redrives;
import io.postroom.testkit.CrashPoint;
import io.postroom.testkit.CrashingDataSource;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Jobs of which there is one for each key. */
class UniqueJobTest {
    private static final int KEYS = Boolean.getBoolean("postroom.long") ? 5_000 : 200;

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

    private static Enqueued offer(Job.Builder job) {
        return shop.postroom.database().transact(tx -> shop.jobs.offer(tx, job.build()));
    }

    private static Job.Builder note(String key) {
        return Job.of("note", "{}").unique(key);
    }

    @Test
    void isSkippedWhileAnotherOfItsKindAndTenantWaitsOrRuns() {
        Enqueued first = offer(note("a"));
        assertThat(first.skipped()).isFalse();
        assertThat(offer(note("a"))).isEqualTo(new Enqueued(first.id(), true));
        assertThat(offer(note("b")).skipped()).isFalse();
        assertThat(offer(note("a").tenantId("acme")).skipped()).isFalse();
        assertThat(offer(Job.of("other", "{}").unique("a")).skipped()).isFalse();
        assertThat(shop.text("select postroom.enqueue('note', unique_key => 'a')"))
                .isEqualTo("null");
        Hand hand = new Hand(shop, "hand");
        List<ClaimedJob> claimed = hand.claim(10);
        assertThat(offer(note("a"))).as("while it runs").isEqualTo(new Enqueued(first.id(), true));
        hand.complete(claimed);
        assertThat(offer(note("a")).skipped()).as("when it is done").isFalse();
    }

    @Test
    void isEnqueuedWhileAnotherRunsIfOnlyWaitingOnesCount() {
        offer(Job.of("note", "{}").unique(Unique.whileReady("a")));
        assertThat(offer(Job.of("note", "{}").unique(Unique.whileReady("a"))).skipped())
                .isTrue();
        Hand hand = new Hand(shop, "hand");
        List<ClaimedJob> claimed = hand.claim(1);
        assertThat(offer(Job.of("note", "{}").unique(Unique.whileReady("a"))).skipped())
                .isFalse();
        hand.settle(List.of(new Ended(claimed.get(0), Verdict.handBack(), 0)));
        assertThat(shop.rows("select state, count(*) from postroom.job group by state"))
                .containsExactly("ready|2");
    }

    @Test
    void isSkippedForAWhileAfterAnotherWasDoneButNotAfterOneThatWasCancelled() {
        Unique daily = Unique.of("a").within(Duration.ofHours(1));
        Enqueued first = offer(Job.of("note", "{}").unique(daily));
        Hand hand = new Hand(shop, "hand");
        hand.complete(hand.claim(1));
        assertThat(offer(Job.of("note", "{}").unique(daily))).isEqualTo(new Enqueued(first.id(), true));
        assertThat(shop.rows("select id from postroom.job")).isEmpty();
        shop.database.execute("update postroom.job_done set ended_at = ended_at - interval '2 h'");
        Enqueued second = offer(Job.of("note", "{}").unique(daily));
        assertThat(second.skipped()).isFalse();
        shop.postroom.jobBoard().cancel(second.id(), "ann", "not wanted");
        assertThat(offer(Job.of("note", "{}").unique(daily)).skipped()).isFalse();
    }

    @Test
    void ofABatchAreSkippedOneByOne() {
        Enqueued there = offer(note("b"));
        List<Enqueued> all = shop.postroom
                .database()
                .transact(tx -> shop.jobs.offerAll(
                        tx,
                        List.of(
                                note("c").build(),
                                Job.of("note", "{}").build(),
                                note("b").build(),
                                note("a").build(),
                                note("c").build())));
        assertThat(all).extracting(Enqueued::skipped).containsExactly(false, false, true, false, true);
        assertThat(all.get(2).id()).isEqualTo(there.id());
        assertThat(all.get(4).id()).isEqualTo(all.get(0).id());
    }

    @Test
    void aBulkOfThemIsOneStatementThatKeepsTheirOrder() {
        CrashPoint counted = CrashPoint.kill("never", Integer.MAX_VALUE);
        Postroom postroom = Postroom.on(new CrashingDataSource(shop.database.dataSource())
                .before(text -> text.contains("enqueue_bound"), counted));
        Hand hand = new Hand(shop, "hand", Kind.of("note", job -> JobOutcome.done()));
        Enqueued done = offer(Job.of("note", "{}").unique(Unique.of("key-3").within(Duration.ofHours(1))));
        hand.complete(hand.claim(1));
        Enqueued there = offer(note("key-7"));
        List<Job> jobs = new ArrayList<>();
        for (int i = 0; i < 500; i++) {
            jobs.add(Job.of("note", "{\"n\":" + i + "}")
                    .unique(Unique.of("key-" + i).within(Duration.ofHours(1)))
                    .runAfter(Duration.ofHours(i % 2))
                    .priority(i)
                    .build());
        }
        jobs.add(Job.of("note", "{}").after(there.id()).build());
        List<Enqueued> all = postroom.database().transact(tx -> postroom.jobs().offerAll(tx, jobs));
        assertThat(counted.times()).isOne();
        for (int i = 0; i < 500; i++) {
            long first = i == 3 ? done.id() : i == 7 ? there.id() : all.get(i).id();
            assertThat(all.get(i)).isEqualTo(new Enqueued(first, i == 3 || i == 7));
            if (i != 3 && i != 7) {
                assertThat(shop.text(
                                "select unique_key, priority, payload, waits from postroom.job where id = " + first))
                        .isEqualTo("key-" + i + "|" + i + "|{\"n\":" + i + "}|" + (i % 2 == 0 ? "null" : "time"));
            }
        }
        assertThat(shop.text("select waits from postroom.job where id = "
                        + all.get(500).id()))
                .isEqualTo("jobs");
        assertThatThrownBy(() -> postroom.database()
                        .transact(tx -> postroom.jobs()
                                .offerAll(
                                        tx,
                                        List.of(
                                                note("new").build(),
                                                Job.of("note", "{}")
                                                        .after(987_654_321L)
                                                        .build()))))
                .hasMessageContaining("it comes after job 987654321, which there is not");
        assertThat(shop.rows("select 1 from postroom.job where unique_key = 'new'"))
                .isEmpty();
    }

    @Test
    void neverExistTwiceHoweverManyNodesEnqueueAndEndThemAtOnce() throws Exception {
        Hand hand = new Hand(shop, "hand", Kind.of("note", job -> JobOutcome.done()));
        ExecutorService nodes = Executors.newFixedThreadPool(4);
        try {
            List<Callable<Integer>> work = new ArrayList<>();
            for (int node = 0; node < 3; node++) {
                work.add(() -> {
                    int mine = 0;
                    for (int i = 0; i < KEYS; i++) {
                        // Within an hour: not even one that was done a moment ago lets another in.
                        Unique unique = Unique.of("key-" + i).within(Duration.ofHours(1));
                        mine += offer(Job.of("note", "{}").unique(unique)).skipped() ? 0 : 1;
                    }
                    return mine;
                });
            }
            work.add(() -> {
                int done = 0;
                while (done < KEYS) {
                    done += hand.complete(hand.claim(3)).size();
                }
                return 0;
            });
            int enqueued = 0;
            for (Future<Integer> node : nodes.invokeAll(work)) {
                enqueued += node.get();
            }
            assertThat(enqueued).isEqualTo(KEYS);
            assertThat(shop.database.queryLong("select count(*) from postroom.job_done"))
                    .isEqualTo(KEYS);
        } finally {
            nodes.shutdownNow();
        }
    }

    @Test
    void doNotComeBackFromTheDeadWhileAnotherHasTheirKey() throws InterruptedException {
        long failed = offer(note("a")).id();
        try (Workers workers = shop.workers()
                .queue("default", 1)
                .handle("note", job -> JobOutcome.failed("no"))
                .build()) {
            workers.start();
            shop.awaitState(failed, "failed");
        }
        long other = offer(note("a")).id();
        assertThat(redrive().skipped()).isEqualTo(1);
        assertThat(shop.state(failed)).isEqualTo("failed");
        shop.postroom.jobBoard().cancel(other, "ann", "not wanted");
        assertThat(redrive().done()).isEqualTo(1);
        assertThat(offer(note("a"))).isEqualTo(new Enqueued(failed, true));
    }

    @Test
    void doNotComeBackFromTheDeadBesideOneThatIsJustBeingEnqueued() throws Exception {
        UUID id = request(bury("a"));
        CompletableFuture<RedriveStep> step;
        try (Connection tx = shop.database.begin()) {
            shop.jobs.offer(tx, note("a").build());
            step = CompletableFuture.supplyAsync(() -> redrives().step(id));
            awaitBlocked(1);
            tx.commit();
        }
        assertThat(step.get(30, TimeUnit.SECONDS).letters()).isZero();
        assertThat(redrives().run(id, progress -> {}).skipped()).isEqualTo(1);
    }

    @Test
    void twoRedrivesOfTheSameKeysWaitForEachOtherInOneOrder() throws Exception {
        UUID first = request(bury("a", "m", "z"));
        UUID second = request(bury("z", "m", "a"));
        CompletableFuture<RedriveStep> firstStep;
        CompletableFuture<RedriveStep> secondStep;
        try (Connection tx = shop.database.begin()) {
            shop.jobs.offer(tx, note("m").build());
            firstStep = CompletableFuture.supplyAsync(() -> redrives().step(first));
            awaitBlocked(1);
            secondStep = CompletableFuture.supplyAsync(() -> redrives().step(second));
            awaitBlocked(2);
            assertThat(shop.database.queryLong(
                            "select count(*) from pg_stat_activity where datname = current_database()"
                                    + " and cardinality(pg_blocking_pids(pid)) > 0 and pg_blocking_pids(pid) <@ (select array_agg(a.pid) from pg_stat_activity as a"
                                    + " where a.state = 'idle in transaction')"))
                    .as("those that wait for us: the second waits for the first")
                    .isOne();
            tx.rollback();
        }
        assertThat(firstStep.get(30, TimeUnit.SECONDS).redrive().done()).isEqualTo(3);
        assertThat(secondStep.get(30, TimeUnit.SECONDS).letters()).isZero();
        assertThat(redrives().run(second, progress -> {}).skipped()).isEqualTo(3);
    }

    private static void awaitBlocked(int sessions) {
        Workshop.await(
                () -> sessions + " wait for a lock",
                () -> shop.database.queryLong("select count(*) from pg_stat_activity where wait_event_type = 'Lock'"
                                + " and datname = current_database()")
                        == sessions);
    }

    /** Lets one job of each key fail, in this order; returns their dead letters. */
    private static List<Long> bury(String... keys) throws InterruptedException {
        List<Long> letters = new ArrayList<>();
        try (Workers workers = shop.workers()
                .queue("default", 1)
                .handle("note", job -> JobOutcome.failed("no"))
                .build()) {
            workers.start();
            for (String key : keys) {
                long id = offer(note(key)).id();
                shop.awaitState(id, "failed");
                letters.add(shop.database.queryLong("select id from postroom.dead_letter where position = " + id));
            }
        }
        return letters;
    }

    private static Redrives redrives() {
        return shop.postroom.deadLetters().redrives();
    }

    private static UUID request(List<Long> letters) {
        DeadLetterFilter filter = DeadLetterFilter.builder().ids(letters).build();
        return redrives()
                .request(RedriveRequest.redrive(filter).actor("ann").reason("r").build())
                .request()
                .id();
    }

    private static Redrive redrive() throws InterruptedException {
        RedriveRequest request = new RedriveRequest(
                UUID.randomUUID(), RedriveAction.REDRIVE, DeadLetterFilter.ALL, null, null, null, "ann", "try again");
        redrives().request(request);
        return redrives().run(request.id(), progress -> {});
    }
}
