package io.postroom.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postroom.Postroom;
import io.postroom.postgres.Database;
import io.postroom.postgres.Schema;
import io.postroom.retry.Fault;
import java.lang.reflect.Proxy;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Limits for each key: how many at once, how many in a time, how many in line. */
class JobLimitTest {
    private static final int JOBS = Boolean.getBoolean("postroom.long") ? 5_000 : 300;

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

    private static void declare(Limit limit) {
        shop.postroom.database().transact(tx -> {
            shop.jobs.declare(tx, limit);
            return true;
        });
    }

    private static Gate gate() {
        return new Gate(
                shop.postroom.database(),
                new Settler(new SettleTable(shop.postroom.database().schema()), "gate"));
    }

    /** One step of a worker that was just started. */
    private static void openGate() {
        shop.postroom.database().run(tx -> gate().open(tx));
    }

    private static long claimable(String key) {
        return shop.database.queryLong(
                "select count(*) from postroom.job where waits is null and limit_key = '" + key + "'");
    }

    private static void enqueue(int jobs, String key) {
        shop.enqueueAll(IntStream.range(0, jobs)
                .mapToObj(i -> Job.of("work", "{}").limit("tenant", key).build())
                .toList());
    }

    @Test
    void noMoreOfAKeyRunThanItsLimitAllowsHoweverManyNodesWork() {
        declare(Limit.ofConcurrency("tenant", 3));
        Map<String, AtomicInteger> running = new ConcurrentHashMap<>();
        Map<String, Integer> most = new ConcurrentHashMap<>();
        AtomicInteger ran = new AtomicInteger();
        List<String> keys = List.of("a", "b");
        List<Workers> nodes = new ArrayList<>();
        for (int node = 0; node < 3; node++) {
            nodes.add(Postroom.on(shop.database.dataSource())
                    .jobs()
                    .workers()
                    .name("node-" + node)
                    .queue("default", 4)
                    .handle("work", job -> {
                        String key = job.payload();
                        int now = running.computeIfAbsent(key, k -> new AtomicInteger())
                                .incrementAndGet();
                        most.merge(key, now, Math::max);
                        ran.incrementAndGet();
                        // Long enough that without a limit more would be here at once.
                        LockSupport.parkNanos(2_000_000);
                        // Some fail at first, and wait without their seat.
                        boolean fails = job.attempt() == 1 && job.id() % 10 == 0;
                        running.get(key).decrementAndGet();
                        return fails ? JobOutcome.retry("once more", Duration.ofMillis(1)) : JobOutcome.done();
                    })
                    .build());
        }
        shop.enqueueAll(IntStream.range(0, JOBS)
                .mapToObj(i -> keys.get(i % 2))
                .map(key -> Job.of("work", "\"" + key + "\"")
                        .limit("tenant", key)
                        .retry("linear step=1ms cap=1ms")
                        .build())
                .toList());
        nodes.forEach(Workers::start);
        try {
            shop.awaitDone(JOBS);
        } finally {
            nodes.forEach(Workers::close);
        }
        assertThat(most).hasSize(2).allSatisfy((key, count) -> assertThat(count).isBetween(1, 3));
        assertThat(shop.rows("select id from postroom.job")).isEmpty();
    }

    @Test
    void aSeatIsFreeWhenItsJobEndsOrWaitsAndNotBefore() {
        declare(Limit.ofConcurrency("tenant", 2));
        enqueue(5, "a");
        enqueue(1, "b");
        openGate();
        assertThat(claimable("a")).isEqualTo(2);
        assertThat(claimable("b")).isEqualTo(1);
        openGate();
        assertThat(claimable("a")).isEqualTo(2);
        Hand hand = new Hand(shop, "hand", Kind.of("work", job -> JobOutcome.done()));
        List<ClaimedJob> claimed = hand.claim(10);
        assertThat(claimed).hasSize(3);
        openGate();
        assertThat(hand.claim(10)).as("all seats are taken by what runs").isEmpty();
        hand.settle(List.of(new Ended(claimed.get(0), Verdict.handBack(), 0)));
        openGate();
        assertThat(claimable("a")).as("handed back, it keeps its seat").isEqualTo(2);
        hand.complete(claimed.subList(1, 2));
        hand.settle(List.of(
                new Ended(hand.claim(1).get(0), new Verdict.Again(Duration.ofHours(1), false, false, null), 0)));
        openGate();
        assertThat(claimable("a")).as("one is done, one waits: two others").isEqualTo(2);
        assertThat(shop.text("select count(*) from postroom.job where waits = 'turn'"))
                .isEqualTo("1");
    }

    @Test
    void aRateLetsThroughNoMoreThanItsCountAndABurstInATime() {
        declare(Limit.ofConcurrency("tenant", 1_000).rate(100, Duration.ofSeconds(10), 5));
        enqueue(50, "a");
        Hand hand = new Hand(shop, "hand", Kind.of("work", job -> JobOutcome.done()));
        openGate();
        assertThat(hand.claim(100)).as("a burst").hasSize(5);
        // Ten in a second: what is past is moved, nobody waits.
        shop.database.execute("update postroom.job_rate set used_until = clock_timestamp() - interval '0.35 s'");
        String before = shop.text("select used_until from postroom.job_rate");
        openGate();
        int more = hand.claim(100).size();
        assertThat(more).as("three, or a few more if this took its time").isBetween(3, 5);
        assertThat(shop.text("select used_until = timestamptz '" + before + "' + " + more
                        + " * interval '0.1 s' and used_until <= clock_timestamp() from postroom.job_rate"))
                .isEqualTo("t");
        shop.database.execute("update postroom.job_rate set used_until = clock_timestamp() - interval '1 h'");
        openGate();
        assertThat(claimable("a") - 5 - more).as("never more than a burst").isEqualTo(5);
        shop.database.execute("update postroom.job_rate set used_until = clock_timestamp() - interval '1 h'");
        openGate();
        assertThat(claimable("a") - 5 - more)
                .as("not while a burst waits for a worker")
                .isEqualTo(5);
    }

    /** A handler that is refused, and tried again at once, would otherwise begin as often as it likes. */
    @Test
    void aFurtherAttemptUsesTheRateToo() {
        declare(Limit.ofConcurrency("tenant", 1_000).rate(1, Duration.ofHours(1), 1));
        enqueue(1, "a");
        Hand hand = new Hand(shop, "hand", Kind.of("work", job -> JobOutcome.done()));
        Fault fault = Fault.of("refused", "too many");
        for (Verdict verdict : List.of(
                new Verdict.Again(Duration.ZERO, true, false, new Verdict.Note("failed", fault)),
                new Verdict.Again(Duration.ZERO, false, false, new Verdict.Note("snoozed", null)),
                new Verdict.Again(Duration.ZERO, true, true, new Verdict.Note("lost", fault)))) {
            openGate();
            hand.settle(List.of(new Ended(hand.claim(10).get(0), verdict, 0)));
            openGate();
            assertThat(claimable("a")).as("after " + verdict).isZero();
            shop.database.execute("update postroom.job_rate set used_until = clock_timestamp() - interval '1 h'");
        }
        openGate();
        hand.settle(List.of(new Ended(hand.claim(10).get(0), Verdict.handBack(), 0)));
        assertThat(claimable("a")).as("handed back, it has used nothing").isEqualTo(1);
    }

    @Test
    void aFurtherAttemptAtOnceKeepsItsSeatWhereThereIsNoRate() {
        declare(Limit.ofConcurrency("tenant", 1));
        enqueue(3, "a");
        openGate();
        Hand hand = new Hand(shop, "hand", Kind.of("work", job -> JobOutcome.done()));
        ClaimedJob first = hand.claim(10).get(0);
        hand.settle(List.of(new Ended(first, new Verdict.Again(Duration.ZERO, true, true, null), 0)));
        openGate();
        assertThat(hand.claim(10)).extracting(ClaimedJob::id).containsExactly(first.id());
    }

    @Test
    void aFurtherAttemptThatTheRateAllowsIsMadeAtOnce() {
        declare(Limit.ofRate("tenant", 1_000, Duration.ofSeconds(1)));
        enqueue(1, "a");
        AtomicInteger ran = new AtomicInteger();
        try (Workers workers = shop.workers()
                .queue("default", 1)
                .handle(
                        "work",
                        job -> ran.incrementAndGet() < 20 ? JobOutcome.snooze(Duration.ZERO) : JobOutcome.done())
                .build()) {
            workers.start();
            shop.awaitDone(1);
        }
        assertThat(ran).hasValue(20);
    }

    @Test
    void whoeverHasManyLeavesRoomForTheOthers() {
        declare(Limit.ofLine("tenant", 5));
        List<String> order = Collections.synchronizedList(new ArrayList<>());
        for (String key : List.of("many", "few")) {
            shop.enqueueAll(IntStream.range(0, key.equals("many") ? 200 : 5)
                    .mapToObj(i -> Job.of("work", "\"" + key + "\"")
                            .limit("tenant", key)
                            .build())
                    .toList());
        }
        try (Workers workers = shop.workers()
                .queue("default", 1)
                .handle("work", job -> {
                    order.add(job.payload());
                    return JobOutcome.done();
                })
                .build()) {
            workers.start();
            shop.awaitDone(205);
        }
        assertThat(order.lastIndexOf("\"few\""))
                .as("the few came with the first")
                .isLessThan(20);
    }

    @Test
    void aLimitThatIsNotDeclaredOrLimitsNothingIsRefused() {
        assertThatThrownBy(() -> enqueue(1, "a"))
                .hasMessageContaining("there is no limit tenant; declare it first")
                .extracting("code")
                .isEqualTo("job.limit-unknown");
        assertThatThrownBy(() -> new Limit("T", 0, new Limit.Rate(0, Duration.ZERO, 1), null))
                .hasMessageContaining("its name must be")
                .hasMessageContaining("concurrency is 0")
                .hasMessageContaining("rate is 0")
                .hasMessageContaining("per PT0S");
        assertThatThrownBy(() -> new Limit("t", null, null, null)).hasMessageContaining("limits nothing");
    }

    /** A limit for each customer is the obvious use: all of them are looked at, not only the first. */
    @Test
    void jobsOfTheLastOfManyLimitsGetTheirTurnToo() {
        shop.database.execute(
                "insert into postroom.job_limit (name, concurrency) select 'tenant-' || n, 1 from generate_series(1, 1100) as n",
                "insert into postroom.job (queue, kind, payload, waits, limit_name, limit_key)"
                        + " select 'default', 'work', '{}', 'turn', 'tenant-' || n, 'k' from generate_series(1, 1100) as n");
        shop.postroom.database().run(tx -> gate().openWide(tx));
        assertThat(claimable("k")).isEqualTo(1_100);
    }

    /** A reminder for each customer, tomorrow. */
    @Test
    void whatWaitsForItsTimeHoldsUpNobodyHoweverManyKeysItHas() {
        declare(Limit.ofConcurrency("tenant", 1));
        shop.database.execute(
                "insert into postroom.job (queue, kind, payload, waits, run_at, limit_name, limit_key) select 'default', 'work', '{}',"
                        + " 'time', clock_timestamp() + interval '1 day', 'tenant', 'a-' || n from generate_series(1, 100000) as n");
        enqueue(2, "z");
        openGate();
        assertThat(claimable("z")).isEqualTo(1);
    }

    @Test
    void aFreeSeatIsForItsKeyAtOnceHoweverManyOthersWaitWithoutOne() {
        declare(Limit.ofConcurrency("tenant", 1));
        enqueue(2, "z");
        openGate();
        Hand hand = new Hand(shop, "hand", Kind.of("work", job -> JobOutcome.done()));
        ClaimedJob first = hand.claim(1).get(0);
        shop.database.execute(
                "insert into postroom.job (queue, kind, payload, waits, limit_name, limit_key) select 'other', 'work', '{}', waits,"
                        + " 'tenant', 'a-' || n from generate_series(1, 10000) as n, unnest(array[null, 'turn']) as waits");
        Gate gate = gate();
        shop.postroom.database().run(gate::open);
        assertThat(claimable("z")).as("its seat is taken").isEqualTo(1);
        hand.complete(first);
        gate.over(first);
        shop.postroom.database().run(gate::open);
        assertThat(claimable("z")).isEqualTo(1);
        assertThat(hand.claim(10)).singleElement().extracting(ClaimedJob::limit).isEqualTo(first.limit());
    }

    @Test
    void aRateWhosePartIsLessThanAMicrosecondLetsJobsThrough() {
        declare(Limit.ofRate("tenant", 10_000, Duration.ofMillis(1)));
        enqueue(3, "a");
        openGate();
        assertThat(claimable("a")).isEqualTo(3);
    }

    @Test
    void oneLimitThatCannotBeWrittenHoldsUpNoOther() {
        declare(Limit.ofConcurrency("tenant", 5));
        declare(Limit.ofConcurrency("another", 5).rate(10, Duration.ofSeconds(1), 1));
        enqueue(1, "a");
        shop.enqueue(Job.of("work", "{}").limit("another", "b"));
        shop.database.execute("alter table postroom.job_rate add constraint refused check (limit_key <> 'b')");
        shop.enqueue(Job.of("work", "{}").runAfter(Duration.ofMillis(1)));
        Gate gate = gate();
        try {
            Workshop.await(() -> "both are let go", () -> {
                shop.postroom.database().run(gate::open);
                return claimable("a") == 1
                        && shop.rows("select id from postroom.job where waits = 'time'")
                                .isEmpty();
            });
        } finally {
            shop.database.execute("alter table postroom.job_rate drop constraint refused");
        }
    }

    /** All of the pool may be with handlers, for long. */
    @Test
    void theGateNeedsNoConnectionButTheOneItHas() {
        declare(Limit.ofConcurrency("tenant", 5));
        enqueue(1, "a");
        DataSource exhausted = (DataSource) Proxy.newProxyInstance(
                DataSource.class.getClassLoader(), new Class<?>[] {DataSource.class}, (proxy, method, arguments) -> {
                    throw new SQLException("the pool is exhausted", "08001");
                });
        Gate gate = new Gate(
                new Database(exhausted, Schema.POSTROOM), new Settler(new SettleTable(Schema.POSTROOM), "gate"));
        shop.postroom.database().run(gate::open);
        assertThat(claimable("a")).isEqualTo(1);
    }
}
