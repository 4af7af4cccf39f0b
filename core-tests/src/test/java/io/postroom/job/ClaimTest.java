package io.postroom.job;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Callable;
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

    @Test
    void aProcessThatFreezesWhileItTakesBackWhatItClaimedLosesItsSession() throws SQLException {
        try (Connection tx = shop.database.begin()) {
            hand().claims().findUnknown(tx, new TreeMap<>(), 10);
            try (Statement statement = tx.createStatement();
                    ResultSet row = statement.executeQuery("show idle_in_transaction_session_timeout")) {
                row.next();
                assertThat(row.getString(1)).isEqualTo(SettleTable.FROZEN.toSeconds() + "s");
            }
        }
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
        int many = 3_000;
        enqueue(many);
        ExecutorService threads = Executors.newFixedThreadPool(4);
        try {
            List<Callable<List<Long>>> claimers = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                Hand hand = hand();
                int limit = 1 + i * 20;
                claimers.add(() -> {
                    List<Long> mine = new ArrayList<>();
                    // Empty-handed once is not the end: others may hold locks on what is left, and give up none of it.
                    for (int misses = 0; misses < 3; ) {
                        List<ClaimedJob> jobs = hand.claim(limit);
                        assertThat(jobs.size()).isLessThanOrEqualTo(limit);
                        jobs.forEach(job -> mine.add(job.id()));
                        misses = jobs.isEmpty() ? misses + 1 : 0;
                    }
                    return mine;
                });
            }
            List<Long> all = new ArrayList<>();
            for (Future<List<Long>> each : threads.invokeAll(claimers)) {
                all.addAll(each.get());
            }
            assertThat(all).doesNotHaveDuplicates().hasSize(many);
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    void ofTwoThreadsWithOneFrontTakeEveryJobOnce() throws Exception {
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

    /** However many are asked for, a claim brings no more into memory than it may, and always one. */
    @Test
    void takeNoMoreThanFitsIntoMemory() {
        String large = "\"" + "x".repeat(1_000_000) + "\"";
        // By hand: nobody else enqueues one that is larger than all may be together.
        shop.database.execute(
                "insert into postroom.job (queue, kind, priority, payload) values ('default', 'work', 0, to_json(repeat('x', "
                        + 2 * ClaimTable.BYTES_MAX + ")))");
        List<Long> ids = new ArrayList<>();
        ids.add(shop.database.queryLong("select id from postroom.job"));
        ids.addAll(shop.enqueueAll(
                Collections.nCopies(12, Job.of("work", large).priority(1).build())));
        Hand hand = hand();
        List<Long> claimed = new ArrayList<>();
        for (int round = 0; claimed.size() < ids.size(); round++) {
            boolean onward = round % 2 == 1;
            List<ClaimedJob> some = onward
                    ? shop.postroom.database().run(tx -> hand.claimOnward(tx, new TreeMap<>(Map.of(0, 0L, 1, 0L)), 100))
                    : hand.claim(100);
            assertThat(some).as("round " + round).isNotEmpty();
            assertThat(some.subList(0, some.size() - 1).stream()
                            .mapToLong(ClaimedJob::size)
                            .sum())
                    .as("before the last one of round " + round)
                    .isLessThan(ClaimTable.BYTES_MAX);
            some.forEach(job -> claimed.add(job.id()));
        }
        assertThat(claimed).isEqualTo(ids);
    }

    @Test
    void passOverWhatOthersHaveLockedWithoutWaiting() throws SQLException {
        List<Long> ids = enqueue(10);
        Hand hand = hand();
        try (Connection other = shop.database.begin();
                Statement locking = other.createStatement();
                Connection tx = shop.database.begin();
                Statement bounding = tx.createStatement()) {
            locking.execute("select from postroom.job where id <= " + ids.get(4) + " for update");
            // Whoever waits all the same fails.
            bounding.execute("set local lock_timeout = '5s'");
            List<ClaimedJob> claimed = new ArrayList<>(hand.claim(tx, 2));
            assertThat(claimed).hasSize(2);
            claimed.addAll(hand.claimOnward(tx, new TreeMap<>(Map.of(0, 0L, 1, 0L, 2, 0L, 3, 0L, 4, 0L)), 10));
            assertThat(claimed).extracting(ClaimedJob::id).containsExactlyInAnyOrderElementsOf(ids.subList(5, 10));
            tx.commit();
            other.rollback();
        }
        assertThat(hand.claim(10)).hasSize(5);
    }

    /** By looks onward alone: there is one from the beginning, and none after it. */
    @Test
    void beyondAHintMissNothingThatBecameClaimableSince() {
        Duration never = Duration.ofDays(1);
        Hand hand = hand();
        Front front = new Front("default", hand.claims(), Duration.ZERO, new Pace(never, never));
        enqueue(20);
        List<ClaimedJob> first = shop.postroom.database().run(tx -> front.claim(tx, 100));
        assertThat(first).hasSize(20);
        Set<Long> seen = new HashSet<>();
        first.forEach(job -> seen.add(job.id()));
        List<Long> later = enqueue(20);
        claimAll(front, seen, 40);
        assertThat(seen).containsAll(later);
        // Of the first priority and of the last, which goes on at once.
        for (ClaimedJob again : List.of(first.get(0), first.get(19))) {
            hand.settle(List.of(new Ended(again, new Verdict.Again(Duration.ZERO, true, true, null), 0)));
            seen.remove(again.id());
        }
        claimAll(front, seen, 40);
    }

    /** A transaction that drew its turn early and commits late lies below what was claimed: the look from the beginning finds it. */
    @Test
    void findWhoCommitsLate() throws SQLException {
        Front front = new Front("default", hand().claims());
        Set<Long> seen = new HashSet<>();
        try (Connection slow = shop.database.begin()) {
            long late = shop.jobs.enqueue(slow, Job.of("work", "0").priority(0).build());
            enqueue(10);
            shop.enqueue(Job.of("work", "1").priority(0));
            shop.postroom.database().run(tx -> front.claim(tx, 100)).forEach(job -> seen.add(job.id()));
            assertThat(seen).hasSize(11);
            assertThat(seen).doesNotContain(late);
            slow.commit();
            claimAll(front, seen, 12);
            assertThat(seen).contains(late);
        }
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
