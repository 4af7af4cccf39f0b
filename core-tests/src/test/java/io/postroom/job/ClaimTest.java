package io.postroom.job;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Claims take what they may and never more, whatever the planner believes. */
class ClaimTest {
    private static final int LIMIT = 7;

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

    private static List<Long> enqueue(int many) {
        Random random = new Random(many);
        List<Job> jobs = new ArrayList<>();
        for (int i = 0; i < many; i++) {
            jobs.add(Job.of("work", "" + i).priority(random.nextInt(5)).build());
        }
        return shop.enqueueAll(jobs);
    }

    private static Hand hand() {
        return new Hand(shop, "hand", Kind.of("work", job -> JobOutcome.done()));
    }

    /** A deploy costs nobody the place in line. */
    @Test
    void whatIsHandedBackIsTheNextAgain() {
        shop.enqueueAll(List.of(
                Job.of("work", "1").build(),
                Job.of("work", "2").build(),
                Job.of("work", "3").build()));
        ClaimedJob first = hand().claim(1).get(0);
        String before = shop.text("select turn, run_at from postroom.job where id = " + first.id());
        Hand hand = hand();
        assertThat(hand.settle(List.of(Ended.handBack(first)))).containsExactly(first.id());
        assertThat(shop.text("select turn, run_at from postroom.job where id = " + first.id()))
                .isEqualTo(before);
        ClaimedJob again = hand.claim(1).get(0);
        assertThat(again.id()).isEqualTo(first.id());
        assertThat(again.attempt()).isEqualTo(1);
        assertThat(again.fence()).isGreaterThan(first.fence());
    }

    @Test
    void whatWasClaimedWithoutKnowingIsFoundByItsFence() {
        enqueue(3);
        Hand hand = hand();
        List<ClaimedJob> jobs = hand.claim(3);
        shop.postroom.jobBoard().cancel(jobs.get(2).id(), "ann", "not wanted");
        TreeMap<Long, Long> known = new TreeMap<>();
        known.put(jobs.get(0).id(), jobs.get(0).fence());
        // An older claim of the same job; the answer to the last one was lost.
        known.put(jobs.get(1).id(), jobs.get(1).fence() - 1);
        assertThat(unknown(hand, known))
                .isEqualTo(Map.of(jobs.get(1).id(), false, jobs.get(2).id(), true));
        assertThat(unknown(hand, new TreeMap<>())).hasSize(3);
        assertThat(unknown(hand(), new TreeMap<>())).as("of another worker").isEmpty();
        jobs.forEach(job -> known.put(job.id(), job.fence()));
        assertThat(unknown(hand, known)).isEmpty();
    }

    private static Map<Long, Boolean> unknown(Hand hand, TreeMap<Long, Long> known) {
        return shop.postroom.database().run(tx -> hand.claims().findUnknown(tx, known, 10));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "set local enable_hashjoin = off; set local enable_mergejoin = off",
                "set local enable_nestloop = off",
                "set local enable_nestloop = off; set local enable_hashjoin = off",
                "set local enable_indexscan = off; set local enable_bitmapscan = off; set local enable_indexonlyscan = off",
                "set local enable_seqscan = off; set local enable_sort = off",
                "set local enable_material = off; set local enable_memoize = off; set local enable_hashjoin = off",
                "set local plan_cache_mode = force_generic_plan; set local random_page_cost = 1000",
                "set local enable_tidscan = off; set local cpu_tuple_cost = 1000"
            })
    void neverExceedTheirLimitUnderHostilePlans(String settings) throws SQLException {
        enqueue(2_000);
        for (String statistics :
                List.of("reltuples = 0, relpages = 1", "reltuples = 1e9, relpages = 10000000", "reltuples = 1")) {
            shop.database.execute("update pg_class set " + statistics + " where oid in ('postroom.job'::regclass,"
                    + " 'postroom.job_claim'::regclass, 'postroom.job_pkey'::regclass)");
            Hand hand = hand();
            Set<Long> claimed = new HashSet<>();
            long last = -1;
            for (int round = 0; round < 5; round++) {
                try (Connection tx = shop.database.begin();
                        Statement statement = tx.createStatement()) {
                    statement.execute(settings);
                    List<ClaimedJob> jobs = round % 2 == 0
                            ? hand.claim(tx, LIMIT)
                            : hand.claimOnward(tx, new TreeMap<>(Map.of(0, 0L, 1, 0L, 4, 0L)), LIMIT);
                    tx.commit();
                    assertThat(jobs).as(settings + ", " + statistics).hasSize(LIMIT);
                    jobs.forEach(job -> assertThat(claimed.add(job.id())).isTrue());
                    assertThat(jobs)
                            .isSortedAccordingTo(Comparator.comparingInt(ClaimedJob::priority)
                                    .thenComparingLong(ClaimedJob::turn));
                    assertThat(shop.database.queryLong(
                                    "select count(*) from postroom.job where worker = '" + hand.id() + "'"))
                            .isEqualTo(claimed.size());
                    last = jobs.get(0).priority();
                }
            }
            assertThat(last).as("the most urgent first").isZero();
        }
    }

    @Test
    void ofManyAtOnceNeverTakeAJobTwice() throws Exception {
        enqueue(3_000);
        Front front = new Front("default", hand().claims());
        Set<Long> seen = ConcurrentHashMap.newKeySet();
        AtomicInteger twice = new AtomicInteger();
        ExecutorService threads = Executors.newFixedThreadPool(2);
        List<Future<?>> both = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            Random random = new Random(i);
            AtomicInteger more = new AtomicInteger(50);
            both.add(threads.submit(() -> Workshop.await(() -> seen.size() + " of 4,000 are claimed", () -> {
                if (more.getAndDecrement() > 0) {
                    enqueue(10);
                }
                int limit = 1 + random.nextInt(60);
                for (ClaimedJob job : shop.postroom.database().run(tx -> front.claim(tx, limit))) {
                    twice.addAndGet(seen.add(job.id()) ? 0 : 1);
                }
                return seen.size() == 4_000;
            })));
        }
        for (Future<?> each : both) {
            each.get();
        }
        threads.shutdown();
        assertThat(twice).hasValue(0);
    }

    private static void claimAll(Front front, Set<Long> seen, int expected) {
        Workshop.await(() -> expected + " are claimed, not " + seen.size(), () -> {
            shop.postroom
                    .database()
                    .run(tx -> front.claim(tx, 3))
                    .forEach(job -> assertThat(seen.add(job.id())).isTrue());
            return seen.size() == expected;
        });
    }
}
