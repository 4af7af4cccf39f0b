package io.postroom.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postroom.Postroom;
import io.postroom.deadletter.Cause;
import io.postroom.deadletter.DeadLetterFilter;
import io.postroom.deadletter.RedriveAction;
import io.postroom.deadletter.RedriveRequest;
import io.postroom.postgres.Schema;
import io.postroom.retry.Fault;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Jobs that wait for others: for one, for many, for a batch. */
class JobNeedTest {
    private static final int BATCH = Boolean.getBoolean("postroom.long") ? 10_000 : 300;

    private static Workshop shop;

    private final List<Workers> started = new ArrayList<>();
    private final AtomicBoolean well = new AtomicBoolean(true);
    private final AtomicInteger ran = new AtomicInteger();
    private final AtomicInteger ranBeforeLast = new AtomicInteger(-1);

    @BeforeAll
    static void open() {
        shop = new Workshop();
    }

    @AfterAll
    static void close() {
        shop.close();
    }

    @AfterEach
    void stop() {
        started.forEach(Workers::close);
    }

    @BeforeEach
    void clear() {
        shop.clear();
    }

    private void start(int nodes) {
        for (int i = 0; i < nodes; i++) {
            started.add(workers("node-" + i));
        }
        started.forEach(Workers::start);
    }

    private Workers workers(String name) {
        return Postroom.on(shop.database.dataSource())
                .jobs()
                .workers()
                .name(name)
                .queue("default", 2)
                .handle("part", job -> {
                    if (!well.get() && job.payload().equals("13")) {
                        return JobOutcome.failed("not today");
                    }
                    ran.incrementAndGet();
                    return JobOutcome.done();
                })
                .handle("last", job -> {
                    ranBeforeLast.set(ran.get());
                    return JobOutcome.done();
                })
                .build();
    }

    @Test
    void aJobRunsAfterAllThatItNeedsAndOnce() {
        long first = shop.enqueue(Job.of("part", "1"));
        long second = shop.enqueue(Job.of("part", "2"));
        long last = shop.enqueue(Job.of("last", "{}").after(first, second));
        assertThat(shop.text("select waits from postroom.job where id = " + last))
                .isEqualTo("jobs");
        start(2);
        shop.awaitState(last, "done");
        assertThat(ranBeforeLast).hasValue(2);
        long late = shop.enqueue(Job.of("last", "{}").after(first));
        shop.awaitState(late, "done");
        assertThat(shop.rows("select * from postroom.job_need")).isEmpty();
        assertThat(shop.database.queryLong("select count(*) from postroom.job_done"))
                .isEqualTo(4);
    }

    @Test
    void theLastOfABatchRunsWhenAllAreDoneOnWhicheverNode() throws InterruptedException {
        well.set(false);
        long last = shop.postroom.database().transact(tx -> {
            long batch = shop.jobs.batch(tx, "import");
            List<Job> parts = new ArrayList<>();
            for (int i = 0; i < BATCH; i++) {
                parts.add(Job.of("part", "" + i).batch(batch).build());
            }
            shop.jobs.enqueueAll(tx, parts);
            return shop.jobs.enqueue(tx, Job.of("last", "{}").afterBatch(batch).build());
        });
        start(3);
        Workshop.await(() -> "all but one", () -> ran.get() == BATCH - 1);
        Workshop.await(
                () -> "one has failed",
                () -> shop.database.queryLong("select count(*) from postroom.dead_letter") == 1);
        assertThat(shop.state(last)).as("one has failed, it waits").isEqualTo("ready");
        well.set(true);
        RedriveRequest request = new RedriveRequest(
                UUID.randomUUID(), RedriveAction.REDRIVE, DeadLetterFilter.ALL, null, null, null, "ann", "again");
        shop.postroom.deadLetters().redrives().request(request);
        shop.postroom.deadLetters().redrives().run(request.id(), progress -> {});
        shop.awaitState(last, "done");
        assertThat(ranBeforeLast).hasValue(BATCH);
    }

    /** One node strikes off one need, another the other, at the same moment: each would find that the other's is left. */
    @Test
    void theLastNeedIsNotLeftToTheOtherOfTwoNodes() throws SQLException {
        long first = shop.enqueue(Job.of("part", "1"));
        long second = shop.enqueue(Job.of("part", "2"));
        long last = shop.enqueue(Job.of("last", "{}").after(first, second));
        Hand hand = new Hand(shop, "hand", Kind.of("part", job -> JobOutcome.done()));
        hand.complete(hand.claim(2));
        GateTable table = new GateTable(Schema.POSTROOM);
        try (Connection other = shop.database.begin()) {
            assertThat(table.lockNeeds(other)).isTrue();
            assertThat(table.meetNeeds(other, false, List.of(new GateTable.Needed(first, "done")), 10))
                    .hasSize(1);
            assertThat(table.release(other, new long[] {last}))
                    .as("the second is left")
                    .isZero();
            openGate();
            other.commit();
        }
        openGate();
        assertThat(shop.text("select waits from postroom.job where id = " + last))
                .isEqualTo("null");
    }

    /** So many jobs of another queue, each with one that waits for it. */
    private static void enqueueOthers(int pairs) {
        shop.database.execute(
                "insert into postroom.job (queue, kind, payload, waits, run_at) select 'other', 'part', '{}', 'time',"
                        + " clock_timestamp() + interval '1 day' from generate_series(1, " + pairs + ")",
                "with waiting as (insert into postroom.job (queue, kind, payload, waits) select 'other', 'part', '{}', 'jobs'"
                        + " from generate_series(1, " + pairs + ") returning id)"
                        + " insert into postroom.job_need (of_batch, need, job_id, any_end)"
                        + " select of_batch, id - " + pairs
                        + ", id, false from waiting, unnest(array[true, false]) as of_batch");
    }

    @Test
    void anEndIsLookedUpByTheNextStepHoweverManyOthersAreWaitedFor() {
        enqueueOthers(10_000);
        long batch = shop.postroom.database().transact(tx -> shop.jobs.batch(tx, "import"));
        long part = shop.enqueue(Job.of("part", "1").batch(batch));
        long after = shop.enqueue(Job.of("last", "{}").after(part));
        long afterBatch = shop.enqueue(Job.of("last", "{}").afterBatch(batch));
        Hand hand = new Hand(shop, "hand", Kind.of("part", job -> JobOutcome.done()));
        ClaimedJob claimed = hand.claim(1).get(0);
        Gate gate = new Gate(shop.postroom.database(), new Settler(new SettleTable(Schema.POSTROOM), "gate"));
        shop.postroom.database().run(gate::open);
        hand.complete(claimed);
        gate.over(claimed);
        shop.postroom.database().run(gate::open);
        assertThat(waits(after)).isEqualTo("null");
        assertThat(waits(afterBatch)).isEqualTo("null");
    }

    @Test
    void aChainOfJobsGoesOnHoweverManyOthersAreWaitedFor() {
        enqueueOthers(100_000);
        long last = shop.enqueue(Job.of("part", "1"));
        for (int i = 0; i < 10; i++) {
            last = shop.enqueue(Job.of("part", "1").after(last));
        }
        start(1);
        shop.awaitState(last, "done");
    }

    private static void openGate() {
        Settler settler = new Settler(new SettleTable(Schema.POSTROOM), "gate");
        shop.postroom.database().run(tx -> new Gate(shop.postroom.database(), settler).open(tx));
    }

    @Test
    void anyEndWillDoIfTheJobSaysSo() {
        well.set(false);
        long part = shop.enqueue(Job.of("part", "13"));
        long last = shop.enqueue(Job.of("last", "{}").afterEnd(part));
        start(1);
        shop.awaitState(last, "done");
        assertThat(shop.state(part)).isEqualTo("failed");
    }

    @Test
    void aJobIsCancelledWithWhatItNeeds() {
        long part = shop.enqueue(Job.of("part", "1").queue("elsewhere"));
        long next = shop.enqueue(Job.of("last", "{}").after(part));
        long last = shop.enqueue(Job.of("last", "{}").after(next));
        shop.postroom.jobBoard().cancel(part, "ann", "not wanted");
        start(1);
        shop.awaitState(last, "cancelled");
        assertThat(shop.state(next)).isEqualTo("cancelled");
        assertThat(ranBeforeLast).hasValue(-1);
        assertThat(shop.rows("select * from postroom.job_need")).isEmpty();
    }

    @Test
    void whatDoesNotExistCannotBeNeeded() {
        assertThatThrownBy(() -> shop.enqueue(Job.of("last", "{}").after(987_654_321)))
                .hasMessageContaining("comes after job 987654321, which there is not")
                .extracting("code")
                .isEqualTo("job.need-unknown");
        assertThatThrownBy(() -> shop.enqueue(Job.of("last", "{}").afterBatch(77)))
                .hasMessageContaining("batch 77");
        assertThatThrownBy(() -> shop.enqueue(Job.of("part", "{}").batch(77)))
                .hasMessageContaining("there is no batch 77")
                .extracting("code")
                .isEqualTo("job.batch-unknown");
    }

    private static Hand giveUp(long... ids) {
        Hand hand = new Hand(shop, "hand", Kind.of("part", job -> JobOutcome.done()));
        Fault fault = Fault.of("broken", "not today");
        Verdict verdict = new Verdict.GiveUp(Cause.REJECTED, 1, fault, new Verdict.Note("failed", fault));
        List<ClaimedJob> claimed = hand.claim(ids.length);
        assertThat(claimed)
                .extracting(ClaimedJob::id)
                .containsExactlyInAnyOrder(LongStream.of(ids).boxed().toArray(Long[]::new));
        hand.settle(claimed.stream().map(job -> new Ended(job, verdict, 0)).toList());
        return hand;
    }

    private static void act(RedriveAction action) throws InterruptedException {
        RedriveRequest request = new RedriveRequest(
                UUID.randomUUID(), action, DeadLetterFilter.ALL, null, null, null, "ann", "so be it");
        shop.postroom.deadLetters().redrives().request(request);
        shop.postroom.deadLetters().redrives().run(request.id(), progress -> {});
    }

    private static String waits(long id) {
        return shop.text("select waits from postroom.job where id = " + id);
    }

    /** Ends are kept for a week, dead letters until somebody decides about them. */
    @Test
    void whoeverWaitsForWhatFailedStillWaitsWhenItsEndIsForgottenAndIsCancelledWhenItIsDiscarded()
            throws InterruptedException {
        long batch = shop.postroom.database().transact(tx -> shop.jobs.batch(tx, "import"));
        long part = shop.enqueue(Job.of("part", "13").batch(batch));
        long afterBatch = shop.enqueue(Job.of("last", "{}").afterBatch(batch));
        long after = shop.enqueue(Job.of("last", "{}").after(part));
        giveUp(part);
        openGate();
        shop.database.execute("truncate postroom.job_done");
        openGate();
        assertThat(waits(afterBatch)).isEqualTo("jobs");
        assertThat(waits(after)).isEqualTo("jobs");
        act(RedriveAction.DISCARD);
        openGate();
        assertThat(shop.state(afterBatch)).isEqualTo("cancelled");
        assertThat(shop.state(after)).isEqualTo("cancelled");
        assertThat(shop.rows("select * from postroom.job_need")).isEmpty();
    }

    @Test
    void theLastEndOfARedrivenJobCountsForItsBatch() throws InterruptedException {
        long batch = shop.postroom.database().transact(tx -> shop.jobs.batch(tx, "import"));
        long part = shop.enqueue(Job.of("part", "13").batch(batch));
        long last = shop.enqueue(Job.of("last", "{}").afterBatch(batch));
        giveUp(part);
        act(RedriveAction.REDRIVE);
        shop.postroom.jobBoard().cancel(part, "ann", "not wanted");
        openGate();
        assertThat(shop.state(last)).isEqualTo("cancelled");
    }

    @Test
    void aBatchKeepsInMindThatOneOfItsJobsWasCancelled() {
        long batch = shop.postroom.database().transact(tx -> shop.jobs.batch(tx, "import"));
        long cancelled = shop.enqueue(Job.of("part", "1").batch(batch));
        shop.enqueue(Job.of("part", "2").batch(batch));
        long last = shop.enqueue(Job.of("last", "{}").afterBatch(batch));
        shop.postroom.jobBoard().cancel(cancelled, "ann", "not wanted");
        shop.database.execute("update postroom.job_done set day = day - 10, ended_at = ended_at - interval '10 days'");
        shop.postroom.maintenance().runOnce();
        assertThat(shop.rows("select id from postroom.job_done")).isEmpty();
        Hand hand = new Hand(shop, "hand", Kind.of("part", job -> JobOutcome.done()));
        assertThat(hand.complete(hand.claim(1))).hasSize(1);
        openGate();
        assertThat(shop.state(last)).isEqualTo("cancelled");
    }

    /** No worker was there for longer than ends are kept: in a partition of the day, or outside of one. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aNeedKeepsInMindHowItsJobEndedWhenThatIsForgotten(boolean daily) {
        long done = shop.enqueue(Job.of("part", "1"));
        Hand hand = new Hand(shop, "hand", Kind.of("part", job -> JobOutcome.done()));
        List<ClaimedJob> claimed = hand.claim(1);
        long cancelled = shop.enqueue(Job.of("part", "2"));
        long afterDone = shop.enqueue(Job.of("last", "{}").after(done));
        long afterCancelled = shop.enqueue(Job.of("last", "{}").after(cancelled));
        long afterAnyEnd = shop.enqueue(Job.of("last", "{}").afterEnd(cancelled));
        hand.complete(claimed);
        shop.postroom.jobBoard().cancel(cancelled, "ann", "not wanted");
        if (daily) {
            String old = shop.text("select to_char((clock_timestamp() at time zone 'utc')::date - 10, 'YYYYMMDD')");
            shop.database.execute("create table postroom.job_done_" + old + " partition of postroom.job_done"
                    + " for values from ('" + old + "') to ('" + old + "'::date + 1)");
        }
        shop.database.execute("update postroom.job_done set day = day - 10, ended_at = ended_at - interval '10 days'");
        shop.postroom.maintenance().runOnce();
        assertThat(shop.rows("select id from postroom.job_done")).isEmpty();
        openGate();
        assertThat(waits(afterDone)).isEqualTo("null");
        assertThat(shop.state(afterCancelled)).isEqualTo("cancelled");
        assertThat(waits(afterAnyEnd)).isEqualTo("null");
        assertThat(shop.rows("select * from postroom.job_need")).isEmpty();
    }

    /** Its end may be forgotten before anybody looks. */
    @Test
    void whatIsDoneAlreadyIsNotWaitedFor() {
        long part = shop.enqueue(Job.of("part", "1"));
        Hand hand = new Hand(shop, "hand", Kind.of("part", job -> JobOutcome.done()));
        hand.complete(hand.claim(1));
        long last = shop.enqueue(Job.of("last", "{}").after(part));
        assertThat(waits(last)).isEqualTo("null");
        assertThat(shop.rows("select * from postroom.job_need")).isEmpty();
    }

    @Test
    void whoeverHasAJobLockedThatWaitsHoldsUpNothingButThatJob() throws SQLException {
        long part = shop.enqueue(Job.of("part", "1"));
        long locked = shop.enqueue(Job.of("last", "{}").after(part));
        long other = shop.enqueue(Job.of("last", "{}").after(part));
        Hand hand = new Hand(shop, "hand", Kind.of("part", job -> JobOutcome.done()));
        hand.complete(hand.claim(1));
        try (Connection application = shop.database.begin()) {
            assertThat(shop.postroom.jobBoard().cancel(application, locked, "ann"))
                    .isEqualTo(Cancellation.CANCELLED);
            openGate();
            assertThat(waits(other)).isEqualTo("null");
            assertThat(waits(locked)).isEqualTo("jobs");
            application.rollback();
        }
        openGate();
        assertThat(waits(locked)).isEqualTo("null");
    }
}
