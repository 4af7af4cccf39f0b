package io.postroom.fault;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.postroom.Postroom;
import io.postroom.journal.Journal;
import io.postroom.relay.Relay;
import io.postroom.relay.Subscription;
import io.postroom.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Writers that race in every way they can, several stampers, several relays, no faults. */
class AdversarialWritersTest {
    private static final int KEYS = 40;
    private static final int WRITERS = 12;
    private static final int STAMPERS = 3;
    private static final int RELAYS = 3;
    private static final int LANES = 8;
    private static final Duration RUN = Duration.ofSeconds(Boolean.getBoolean("postroom.long") ? 240 : 4);
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    @Test
    void deliversExactlyWhatWasCommittedInTheOrderOfEachKey() throws Exception {
        long seed = Long.getLong("postroom.seed", System.nanoTime());
        History history = new History();
        try (TestDatabase database = TestDatabase.create();
                HikariDataSource pool = TestDatabase.pool(database.url(), 2 * WRITERS)) {
            Writers.createAccounts(database.dataSource(), KEYS);
            List<Relay> relays = startRelays(database, history);
            CountDownLatch done = new CountDownLatch(1);
            List<Counters> stampers = startStampers(database, done);
            SeqReader naive = new SeqReader(database, done);
            Writers writers =
                    new Writers(pool, database.postroom(), history, KEYS, seed, 0.004, Writers.Style.values());
            writers.start(WRITERS);
            // Nothing is waited for here but time, and that it has become hard: a busy machine may need longer for
            // that.
            boolean early = done.await(RUN.toMillis(), TimeUnit.MILLISECONDS);
            assertThat(early).isFalse();
            Deadline.await("it is hard", PATIENCE, () -> isHard(database, writers, stampers));
            writers.stop();
            int committed = history.acknowledgedCount();
            Deadline.await(
                    () -> "seed " + seed + ": " + history.deliveredIds().size() + " of " + committed + " delivered",
                    PATIENCE,
                    () -> history.deliveredIds().size() >= committed);
            done.countDown();
            relays.forEach(Relay::close);

            String run = "seed " + seed + ", " + committed + " committed, " + history.failedCount() + " rolled back";
            assertThat(writers.errors()).as(run).isEmpty();
            assertThat(history.violations(Truth.stored(database.dataSource())))
                    .as(run)
                    .isEmpty();
            assertThat(history.duplicates())
                    .as("%s: duplicates without a fault", run)
                    .isZero();
            assertThatItWasHard(database, writers, stampers, run);
            assertThat(naive.lost(history.deliveredIds()))
                    .as("%s: what a reader that follows seq lost", run)
                    .isPositive();
        }
    }

    private static boolean isHard(TestDatabase database, Writers writers, List<Counters> stampers) {
        return Stream.of(Writers.Style.values()).allMatch(style -> writers.ended(style) > 0)
                && writers.rolledBackSavepoints() > 0
                && writers.rolledBackPrepared() > 0
                && stampers.stream().allMatch(one -> one.stamped.get() > 0)
                && database.queryLong(Truth.xidInversions()) > 0
                && database.queryLong(Truth.lateCommits()) > 50;
    }

    /** A run that nothing hit proves nothing. */
    private static void assertThatItWasHard(
            TestDatabase database, Writers writers, List<Counters> stampers, String run) {
        for (Writers.Style style : Writers.Style.values()) {
            assertThat(writers.ended(style))
                    .as("%s: transactions with %s", run, style)
                    .isPositive();
        }
        assertThat(writers.rolledBackSavepoints())
                .as("%s: savepoints rolled back", run)
                .isPositive();
        assertThat(writers.rolledBackPrepared())
                .as("%s: prepared and rolled back", run)
                .isPositive();
        assertThat(database.queryLong(Truth.xidInversions()))
                .as("%s: versions whose xid is smaller than that of the version before", run)
                .isPositive();
        assertThat(database.queryLong(Truth.lateCommits()))
                .as("%s: late commits", run)
                .isPositive();
        assertThat(stampers).as("%s: every stamper stamped", run).allMatch(one -> one.stamped.get() > 0);
    }

    private static List<Relay> startRelays(TestDatabase database, History history) {
        List<Relay> relays = new ArrayList<>();
        for (int i = 0; i < RELAYS; i++) {
            String name = "relay-" + i;
            // Each with a journal of its own, as in a process of its own.
            Relay relay = Postroom.on(database.dataSource())
                    .relay()
                    .name(name)
                    .lease(Duration.ofSeconds(10))
                    .handle(
                            Subscription.named("all").lanes(LANES).build(),
                            envelope -> history.delivered(History.Delivery.of(name, envelope)))
                    .build();
            relay.start();
            relays.add(relay);
        }
        return relays;
    }

    private static List<Counters> startStampers(TestDatabase database, CountDownLatch done) {
        List<Counters> stampers = new ArrayList<>();
        for (int i = 0; i < STAMPERS; i++) {
            Counters counters = new Counters();
            Journal journal = Postroom.builder(database.dataSource())
                    .telemetry(counters)
                    .build()
                    .journal();
            loop("stamper-" + i, () -> {
                journal.stamp();
                LockSupport.parkNanos(2_000_000);
                return done.getCount() > 0;
            });
            stampers.add(counters);
        }
        return stampers;
    }

    private static void loop(String name, BooleanSupplier goesOn) {
        Thread thread = new Thread(
                () -> {
                    while (goesOn.getAsBoolean()) {
                        // Until it says that it is over.
                    }
                },
                name);
        thread.setDaemon(true);
        thread.start();
    }

    /** The reader that everybody writes first: it remembers the greatest number it saw and asks for what is beyond. */
    private static final class SeqReader {
        private final Set<UUID> seen = new HashSet<>();
        private long last;

        private SeqReader(TestDatabase database, CountDownLatch done) {
            loop("reader-by-seq", () -> {
                read(database);
                LockSupport.parkNanos(20_000_000);
                return done.getCount() > 0;
            });
        }

        private synchronized void read(TestDatabase database) {
            try (Connection connection = database.dataSource().getConnection();
                    Statement statement = connection.createStatement();
                    ResultSet row = statement.executeQuery(
                            "select seq, id from postroom.outbox where seq > " + last + " order by seq")) {
                while (row.next()) {
                    last = row.getLong(1);
                    seen.add(row.getObject(2, UUID.class));
                }
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
        }

        private synchronized long lost(Set<UUID> all) {
            return all.stream().filter(id -> !seen.contains(id)).count();
        }
    }
}
