package io.postroom.fault;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.PostroomException;
import io.postroom.projection.Comparison;
import io.postroom.projection.GenerationState;
import io.postroom.projection.ReadModels;
import io.postroom.subscription.Act;
import io.postroom.subscription.Point;
import io.postroom.testkit.ChildJvm;
import io.postroom.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/**
 * A read model that is rebuilt, compared, swapped, swapped back and retired while traffic goes on and the relays that serve it are
 * killed: each generation is always what the journal says up to where its lanes are, and readers always find the tables of one.
 */
class KilledReadModelTest {
    private static final boolean LONG = Boolean.getBoolean("postroom.long");
    private static final int KEYS = 30;
    private static final int ROUNDS = LONG ? 12 : 1;
    private static final Duration LEASE = Duration.ofMillis(1_500);
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final long READ_NANOS = 20_000_000;
    private static final Act ACT = new Act("operator", "a new way to count");

    /** Compares one generation with a fold of the journal, message by message, up to where each of its lanes is. */
    private static final String FOLD = """
            with told as materialized (
                select m.id, m.aggregate_id as key, m.aggregate_version as version, j.position
                from postroom.subscription as s
                join postroom.journal as j on j.position > s.began_after
                join postroom.lane as l on l.subscription = s.name and l.lane = j.key_hash % s.lanes and j.position <= l.position
                join postroom.outbox as m on m.seq = j.seq and m.day = j.outbox_day
                where s.name = 'SUBSCRIPTION' and m.aggregate_type = 'account'
                  and not exists (select from postroom.delivery as d where d.subscription = s.name and d.position = j.position)
            )
            select (select count(*) from told full join SCHEMA.entry as kept using (id)
                    where (told.position, told.version) is distinct from (kept.position, kept.version))
                 + (select count(*) from (select key, count(*) as messages, max(version) as last_version from told group by key) as t
                    full join SCHEMA.balance as kept using (key)
                    where (t.messages, t.last_version) is distinct from (kept.messages, kept.last_version))
                 + (select count(*) from (select position, lag(position) over (partition by key order by n) as before from SCHEMA.entry)
                    as entry where before >= position)
            """;

    private final List<Child> relays = new ArrayList<>();
    private final AtomicReference<Exception> unreadable = new AtomicReference<>();
    private final AtomicLong reads = new AtomicLong();
    private volatile boolean over;

    @Test
    void equalsAFoldOfTheJournalWhateverIsSwappedAndWhoeverIsKilled() throws Exception {
        long seed = Long.getLong("postroom.seed", System.nanoTime());
        History history = new History();
        try (TestDatabase database = TestDatabase.create();
                Writers writers = new Writers(
                        database.dataSource(),
                        database.postroom(),
                        history,
                        KEYS,
                        seed,
                        0.04,
                        Writers.Style.PLAIN,
                        Writers.Style.EARLY_XID,
                        Writers.Style.ROLLBACK,
                        Writers.Style.BATCH)) {
            Writers.createAccounts(database.dataSource(), KEYS);
            relays.add(start(database));
            relays.add(start(database));
            relays.forEach(Child::id);
            Thread reader = startReader(database);
            writers.start(3);
            ReadModels models = database.postroom().readModels();
            for (int round = 0; round < ROUNDS; round++) {
                round(database, models, "seed " + seed + ", round " + round);
            }
            writers.stop();
            long committed = history.acknowledgedCount();
            Deadline.await(
                    "all " + committed + " have taken effect",
                    PATIENCE,
                    () -> database.queryLong("select count(*) from accounts.entry") >= committed);
            over = true;
            reader.join();
            assertThat(unreadable.get()).as("what a reader met").isNull();
            assertThat(reads.get()).isGreaterThan(10);
            assertThat(database.queryLong("select count(*) from accounts.entry"))
                    .isEqualTo(database.queryLong("select count(*) from postroom.outbox"));
            assertThat(database.queryLong("select count(*) from postroom.dead_letter where cause <> 'skipped'"))
                    .as("but for what waited in generations that were retired")
                    .isZero();
        } finally {
            over = true;
            relays.forEach(relay -> relay.jvm().close());
        }
    }

    private void round(TestDatabase database, ReadModels models, String run) throws Exception {
        int live = models.show("accounts").live().orElseThrow().number();
        int next =
                twice(() -> models.rebuild("accounts", Point.beginning(), ACT).generation());
        Deadline.await("it is made", PATIENCE, () -> generation(models, next).subscription() != null);
        killOne(database);
        awaitNear(models, next);
        assertFold(database, run + ", rebuilt");
        Deadline.await("they were compared", PATIENCE, () -> {
            Comparison comparison = models.compare("accounts", next, 5, PATIENCE);
            boolean whole = comparison.liveOpen() + comparison.candidateOpen() == 0;
            if (whole) {
                assertThat(comparison.isSame()).as("%s: %s", run, comparison).isTrue();
            }
            return whole;
        });
        swapWhenItIsReady(models, next);
        assertFold(database, run + ", swapped");
        killOne(database);
        for (int i = 0; i < 5; i++) {
            int to = i % 2 == 0 ? live : next;
            twice(() -> models.swap("accounts", to, true, ACT).to());
            assertFold(database, run + ", swapped to and fro " + i);
        }
        swapWhenItIsReady(models, next);
        models.rollback("accounts", true, ACT);
        assertThat(models.show("accounts").live().orElseThrow().number()).isEqualTo(live);
        awaitNear(models, live);
        awaitNear(models, next);
        assertFold(database, run + ", rolled back");
        swapWhenItIsReady(models, next);
        models.retire("accounts", live, ACT, PATIENCE);
        assertFold(database, run + ", retired");
    }

    /** Under traffic, judged like any other. */
    private static void swapWhenItIsReady(ReadModels models, int number) {
        Deadline.await("it may be swapped", PATIENCE, () -> {
            try {
                models.swap("accounts", number, false, ACT);
                return true;
            } catch (PostroomException e) {
                assertThat(e.code()).isIn("projection.not-ready", "projection.busy");
                return false;
            }
        });
    }

    /** Two operators press the same button. */
    private static int twice(Callable<Integer> act) throws Exception {
        FutureTask<Integer> other = new FutureTask<>(act);
        new Thread(other).start();
        int mine = act.call();
        assertThat(other.get(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isEqualTo(mine);
        return mine;
    }

    private static GenerationState generation(ReadModels models, int number) {
        return models.show("accounts").generation(number).orElseThrow();
    }

    private static void awaitNear(ReadModels models, int number) {
        Deadline.await(
                () -> "it has caught up: " + generation(models, number),
                PATIENCE,
                () -> generation(models, number).age().compareTo(Duration.ofSeconds(3)) < 0);
    }

    private void killOne(TestDatabase database) throws InterruptedException {
        Child victim = relays.remove(0);
        relays.add(start(database));
        Deadline.await(
                "the victim has lanes",
                PATIENCE,
                () -> database.queryLong("select count(*) from postroom.lane where owner = '" + victim.id() + "'") > 0);
        victim.jvm().kill();
    }

    /** In each generation's own words, while no swap can happen. */
    private static void assertFold(TestDatabase database, String run) throws SQLException {
        Map<String, Long> wrong = new TreeMap<>();
        try (Connection tx = database.begin();
                Statement statement = tx.createStatement()) {
            statement.execute("select pg_advisory_xact_lock_shared(hashtextextended('\"postroom\".swap accounts', 0))");
            Map<String, String> generations = new TreeMap<>();
            try (ResultSet row = statement.executeQuery(
                    "select schema_name, subscription from postroom.generation where state <> 'asked'")) {
                while (row.next()) {
                    generations.put(row.getString(1), row.getString(2));
                }
            }
            for (Map.Entry<String, String> each : generations.entrySet()) {
                try (ResultSet row = statement.executeQuery(
                        FOLD.replace("SCHEMA", each.getKey()).replace("SUBSCRIPTION", each.getValue()))) {
                    row.next();
                    wrong.put(each.getValue(), row.getLong(1));
                }
            }
            tx.rollback();
        }
        assertThat(wrong)
                .as("%s: rows that the journal does not say", run)
                .allSatisfy((name, rows) -> assertThat(rows).isZero());
    }

    /** Reads all the time, with one prepared statement, as an application does. */
    private Thread startReader(TestDatabase database) {
        Thread reader = new Thread(() -> {
            try (Connection connection = database.dataSource().getConnection();
                    PreparedStatement statement =
                            connection.prepareStatement("select messages, entries from accounts.whole")) {
                while (!over) {
                    try (ResultSet row = statement.executeQuery()) {
                        row.next();
                        if (row.getLong(1) != row.getLong(2)) {
                            throw new SQLException("the balances of one generation with the entries of another: "
                                    + row.getLong(1) + " and " + row.getLong(2));
                        }
                    }
                    reads.incrementAndGet();
                    LockSupport.parkNanos(READ_NANOS);
                }
            } catch (SQLException e) {
                unreadable.compareAndSet(null, e);
            }
        });
        reader.start();
        return reader;
    }

    /** A relay in a process of its own, which may be starting still. */
    private record Child(ChildJvm jvm) {
        UUID id() {
            try {
                String line = jvm.awaitLine(text -> text.startsWith("started "), "its start", PATIENCE);
                return UUID.fromString(line.substring("started ".length()));
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    private static Child start(TestDatabase database) {
        return new Child(ChildJvm.start(
                ReadModelMain.class,
                List.of("-Xmx96m", "-Dorg.slf4j.simpleLogger.defaultLogLevel=error"),
                database.url(),
                "relay-" + UUID.randomUUID(),
                Long.toString(LEASE.toMillis())));
    }
}
