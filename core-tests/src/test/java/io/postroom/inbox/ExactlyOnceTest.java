package io.postroom.inbox;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.postroom.testkit.ChildJvm;
import io.postroom.testkit.CrashPoint;
import io.postroom.testkit.TestDatabase;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** A ledger fed each message several times, at once, with rollbacks and kills: its sums are exact. */
class ExactlyOnceTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int THREADS = 8;

    @Test
    void eachMessageTakesEffectOnceThoughItComesOneToFiveTimesAtOnceAndTransactionsRollBack() throws Exception {
        long seed = Long.getLong("postroom.seed", System.nanoTime());
        try (TestDatabase database = TestDatabase.create();
                HikariDataSource pool = TestDatabase.pool(database.url(), THREADS)) {
            Ledger.create(database, 6_000);
            Ledger ledger = new Ledger(pool);
            List<Ledger.Copy> feed = ledger.feed();
            ExecutorService threads = Executors.newFixedThreadPool(THREADS);
            try {
                List<List<Ledger.Copy>> shares = shares(feed, new Random(seed));
                List<Callable<Integer>> all = IntStream.range(0, THREADS)
                        .mapToObj(thread ->
                                (Callable<Integer>) () -> work(ledger, shares.get(thread), new Random(seed + thread)))
                        .toList();
                int rolledBack = 0;
                for (Future<Integer> each : threads.invokeAll(all)) {
                    rolledBack += each.get();
                }
                assertThat(rolledBack)
                        .as("seed %d: a run without rollbacks proves little", seed)
                        .isPositive();
            } finally {
                threads.shutdownNow();
            }
            assertExact(database, seed);
        }
    }

    /** One to five copies of each message, dealt out to all threads, each with an order of its own. */
    private static List<List<Ledger.Copy>> shares(List<Ledger.Copy> feed, Random random) {
        List<List<Ledger.Copy>> shares = new ArrayList<>();
        IntStream.range(0, THREADS).forEach(thread -> shares.add(new ArrayList<>()));
        for (Ledger.Copy copy : feed) {
            for (int times = 1 + random.nextInt(5); times > 0; times--) {
                shares.get(random.nextInt(THREADS)).add(copy);
            }
        }
        shares.forEach(share -> Collections.shuffle(share, random));
        return shares;
    }

    private static int work(Ledger ledger, List<Ledger.Copy> copies, Random random) throws SQLException {
        int rolledBack = 0;
        int next = 0;
        while (next < copies.size()) {
            int end = Math.min(copies.size(), next + 1 + random.nextInt(120));
            if (random.nextInt(3) == 0) {
                ledger.book(copies.subList(next, end), true);
                rolledBack++;
            }
            ledger.book(copies.subList(next, end), false);
            next = end;
        }
        return rolledBack;
    }

    /** At each point once, while another process books the same. */
    @Test
    void aProcessThatIsKilledAnywhereLeavesEffectAndMemoryTogetherOrNeither() throws Exception {
        long seed = Long.getLong("postroom.seed", System.nanoTime());
        Random random = new Random(seed);
        try (TestDatabase database = TestDatabase.create()) {
            Ledger.create(database, 20_000);
            for (Ledger.Point point : Ledger.Point.values()) {
                try (ChildJvm one = ledger(database, random.nextLong(), point.name());
                        ChildJvm other = ledger(database, random.nextLong(), "")) {
                    assertThat(one.awaitExit(PATIENCE))
                            .as("seed %d, %s: %s", seed, point, one)
                            .isEqualTo(CrashPoint.EXIT_CODE);
                    assertThat(one.lines()).contains(CrashPoint.lineOf(point.name()));
                    other.awaitLine("batch " + random.nextInt(5), PATIENCE);
                    other.kill();
                }
                assertThat(database.queryLong("select count(*) from postroom.inbox")
                                - database.queryLong("select count(*) from booking"))
                        .as("seed %d: accepted without effect, or the other way round", seed)
                        .isZero();
            }
            assertThat(database.queryLong("select count(*) from booking")).isBetween(1L, 19_999L);
            // What was not booked yet comes again.
            Ledger ledger = new Ledger(database.dataSource());
            List<Ledger.Copy> feed = ledger.feed();
            for (int i = 0; i < feed.size(); i += 5_000) {
                ledger.book(feed.subList(i, i + 5_000), false);
            }
            assertExact(database, seed);
        }
    }

    private static ChildJvm ledger(TestDatabase database, long seed, String point) {
        return ChildJvm.start(Ledger.class, List.of("-Xmx96m"), database.url(), Long.toString(seed), point);
    }

    private static void assertExact(TestDatabase database, long seed) {
        assertThat(database.queryLong("""
                select count(*) from feed full join (select id, count(*) as times from booking group by id) as booked using (id)
                where times is distinct from 1"""))
                .as("seed %d: messages not booked once", seed)
                .isZero();
        assertThat(database.queryLong("""
                select count(*) from account join (select account as id, sum(amount) as amount from feed group by account) as fed
                    using (id) where balance <> amount"""))
                .as("seed %d: accounts with a wrong balance", seed)
                .isZero();
    }
}
