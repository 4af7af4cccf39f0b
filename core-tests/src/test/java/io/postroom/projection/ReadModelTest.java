package io.postroom.projection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postroom.PostroomException;
import io.postroom.relay.Projection;
import io.postroom.relay.Relay;
import io.postroom.subscription.Act;
import io.postroom.subscription.Point;
import io.postroom.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A read model through its generations. */
class ReadModelTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Act ACT = new Act("tester", "to see what happens");
    private static final int SWAPS = Boolean.getBoolean("postroom.long") ? 1_000 : 60;

    private TestDatabase database;
    private ReadModels models;

    @BeforeEach
    void create() {
        database = TestDatabase.create();
        models = database.postroom().readModels();
    }

    @AfterEach
    void drop() {
        database.close();
    }

    @Test
    void isMadeWhenItIsFirstServedAndKeptAsTheJournalSays() {
        Sales.publish(database, Sales.orders(100));
        try (Relay relay = relay(Sales.model())) {
            assertThat(relay.runOnce()).isEqualTo(100);
        }
        assertThat(database.queryLong("select sum(amount) from sales.customer_total"))
                .isEqualTo(5_050);
        assertThat(Sales.wrong(database)).containsOnlyKeys(1).containsValue(0L);
        ReadModelState model = models.show("sales");
        assertThat(model.live().orElseThrow().number()).isEqualTo(1);
        assertThat(model.age().isFresh()).isTrue();
    }

    @Test
    void isRebuiltBesideTheLiveOneSwappedAndRolledBack() {
        Sales.publish(database, Sales.orders(100));
        try (Relay relay = relay(Sales.model())) {
            relay.runOnce();
            assertThat(models.rebuild("sales", Point.beginning(), ACT)).isEqualTo(new Rebuild("sales", 2, 1, 0, false));
            assertThat(models.rebuild("sales", Point.beginning(), ACT))
                    .as("asked for already")
                    .isEqualTo(new Rebuild("sales", 2, 1, 0, true));
            assertThat(relay.runOnce()).isEqualTo(100);
            assertThat(database.queryLong("select count(*) from sales_g2.sale")).isEqualTo(100);
            Sales.publish(database, Sales.orders(50));
            assertThat(relay.runOnce()).as("both are kept").isEqualTo(100);
            assertThat(Sales.wrong(database)).isEqualTo(Map.of(1, 0L, 2, 0L));

            database.execute("insert into sales_g2.customer_total values ('marker', 0, 0)");
            assertThat(models.swap("sales", null, false, ACT)).isEqualTo(new SwapPlan("sales", 1, 2, List.of(), false));
            assertThat(models.swap("sales", 2, false, ACT).already()).isTrue();
            assertThat(database.queryLong("select count(*) from sales.customer_total where customer = 'marker'"))
                    .as("the name means the new tables")
                    .isEqualTo(1);
            assertThat(database.queryLong("select count(*) from sales_g1.customer_total where customer = 'marker'"))
                    .isZero();
            database.execute("delete from sales.customer_total where customer = 'marker'");
            Sales.publish(database, Sales.orders(50));
            relay.runOnce();
            assertThat(Sales.wrong(database)).isEqualTo(Map.of(1, 0L, 2, 0L));

            assertThat(models.rollback("sales", false, ACT)).isEqualTo(new SwapPlan("sales", 2, 1, List.of(), false));
            assertThat(models.rollback("sales", false, ACT).already())
                    .as("pressed twice")
                    .isTrue();
            assertThat(models.show("sales").live().orElseThrow().number()).isEqualTo(1);
            Sales.publish(database, Sales.orders(50));
            relay.runOnce();
            assertThat(Sales.wrong(database)).isEqualTo(Map.of(1, 0L, 2, 0L));
        }
        assertThat(database.queryLong("select count(*) from postroom.audit where action in"
                        + " ('projection rebuild', 'projection swap', 'projection rollback')"))
                .isEqualTo(3);
    }

    /** Both generations are in the middle of the same message: from then on its names mean the other's tables. */
    @Test
    void aBatchThatASwapOvertakesWritesNothingIntoTheOthersTables() throws Exception {
        Sales.publish(database, Sales.orders(10));
        AtomicInteger times = new AtomicInteger();
        CountDownLatch halfway = new CountDownLatch(2);
        CountDownLatch swapped = new CountDownLatch(1);
        Projection slow = (tx, batch) -> {
            if (batch.stream().anyMatch(each -> each.message().payload().contains("4711"))
                    && times.incrementAndGet() <= 2) {
                try (Statement statement = tx.createStatement()) {
                    // The names are known so far.
                    statement.execute("select count(*) from sale");
                }
                halfway.countDown();
                assertThat(swapped.await(20, TimeUnit.SECONDS)).isTrue();
            }
            Sales.apply(tx, batch);
        };
        ReadModel sales =
                Sales.builder().projection(slow).messages(Sales.settings(1)).build();
        // No lane changes hands, however slow the machine is.
        try (Relay relay =
                database.postroom().relay().serve(models.roster(sales)).build()) {
            relay.start();
            models.rebuild("sales", Point.beginning(), ACT);
            // Both: the first batch that a process applies keeps a swap waiting.
            await(() -> at(1, 10) && at(2, 10));
            Sales.publish(database, List.of(Sales.order(1, 4711)));
            assertThat(halfway.await(20, TimeUnit.SECONDS)).isTrue();
            models.swap("sales", 2, true, ACT);
            swapped.countDown();
            await(() -> at(1, 11) && at(2, 11));
        }
        assertThat(Sales.wrong(database)).isEqualTo(Map.of(1, 0L, 2, 0L));
        assertThat(times.get()).as("each was done again").isEqualTo(4);
        assertThat(database.queryLong("select count(*) from postroom.attempt"))
                .as("counted against nobody")
                .isZero();
    }

    /** Batches begin and end at every moment of a swap, also between its commit and the moment when sessions hear of it. */
    @Test
    void manySwapsUnderTrafficMixNothingUp() throws Exception {
        Sales.publish(database, Sales.orders(10));
        AtomicBoolean over = new AtomicBoolean();
        AtomicInteger published = new AtomicInteger(10);
        Thread publisher = new Thread(() -> {
            while (!over.get()) {
                Sales.publish(database, Sales.orders(3));
                published.addAndGet(3);
                LockSupport.parkNanos(5_000_000);
            }
        });
        try (Relay relay = relay(Sales.builder().messages(Sales.settings(4)).build())) {
            relay.start();
            models.rebuild("sales", Point.beginning(), ACT);
            await(() -> at(2, 10));
            publisher.start();
            for (int swap = 0; swap < SWAPS; swap++) {
                models.swap("sales", swap % 2 == 0 ? 2 : 1, true, ACT);
                LockSupport.parkNanos(3_000_000);
            }
            over.set(true);
            publisher.join();
            await(() -> at(1, published.get()) && at(2, published.get()));
        } finally {
            over.set(true);
        }
        assertThat(Sales.wrong(database)).isEqualTo(Map.of(1, 0L, 2, 0L));
        assertThat(database.queryLong("select count(*) from postroom.attempt"))
                .as("counted against nobody")
                .isZero();
        assertThat(database.queryLong("select epoch from postroom.read_model")).isEqualTo(SWAPS);
    }

    /** Each table that a statement names is looked up by itself; a view of the model's own knows its tables. */
    @Test
    void aViewOfTheModelShowsOneGenerationOrTheOtherNeverBothAndNeverNone() throws Exception {
        String tables = "create table one (of text); create table two (of text);"
                + " create view pair as select one.of as one, two.of as two from one, two";
        ReadModel paired =
                Sales.builder().tables(tables).projection((tx, batch) -> {}).build();
        try (Relay relay = relay(paired)) {
            relay.runOnce();
            models.rebuild("sales", null, ACT);
            relay.runOnce();
        }
        for (String schema : List.of("sales", "sales_g2")) {
            database.execute(
                    "insert into " + schema + ".one values ('" + schema + "')",
                    "insert into " + schema + ".two values ('" + schema + "')");
        }
        AtomicBoolean over = new AtomicBoolean();
        Map<String, Integer> seen = new ConcurrentHashMap<>();
        List<Thread> readers = List.of(reader(over, seen), reader(over, seen));
        readers.forEach(Thread::start);
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        for (int swap = 0; swap < SWAPS || seen.size() < 2 && System.nanoTime() - deadline < 0; swap++) {
            models.swap("sales", swap % 2 == 0 ? 2 : 1, true, ACT);
        }
        over.set(true);
        for (Thread reader : readers) {
            reader.join();
        }
        assertThat(seen).containsOnlyKeys("sales sales", "sales_g2 sales_g2");
    }

    private Thread reader(AtomicBoolean over, Map<String, Integer> seen) {
        return new Thread(() -> {
            try (Connection connection = database.dataSource().getConnection();
                    PreparedStatement read = connection.prepareStatement("select one || ' ' || two from sales.pair")) {
                while (!over.get()) {
                    try (ResultSet row = read.executeQuery()) {
                        seen.merge(row.next() ? row.getString(1) : "nothing", 1, Integer::sum);
                    }
                }
            } catch (SQLException e) {
                seen.put(e.toString(), 1);
            }
        });
    }

    @Test
    void comparesExactlyAtOnePositionWhileTrafficGoesOn() {
        Sales.publish(database, Sales.orders(100));
        try (Relay relay = relay(Sales.model())) {
            relay.start();
            models.rebuild("sales", Point.beginning(), ACT);
            await(() -> at(2, 100));
            Sales.publish(database, Sales.orders(100));
            Comparison same = models.compare("sales", null, 5, PATIENCE);
            assertThat(same.isSame()).as("%s", same).isTrue();
            assertThat(same.tables()).extracting(TableComparison::table).containsExactly("customer_total", "sale");
            database.execute(
                    "update sales_g2.customer_total set amount = amount + 1 where customer = 'customer-3'",
                    "delete from sales_g2.sale where amount = 5",
                    "insert into sales_g2.sale values (gen_random_uuid(), 'nobody', 1)");
            Comparison other = models.compare("sales", null, 5, PATIENCE);
            assertThat(other.tables().get(0).different()).isEqualTo(1);
            assertThat(other.tables().get(0).examples()).containsExactly("(customer-3) different");
            assertThat(other.tables().get(1).onlyLive()).isEqualTo(2);
            assertThat(other.tables().get(1).onlyCandidate()).isEqualTo(1);
            Sales.publish(database, Sales.orders(10));
            await(() -> at(1, 210) && at(2, 210));
        }
    }

    @Test
    void retiresWhatIsNotLive() {
        try (Relay relay = relay(Sales.model())) {
            relay.start();
            models.rebuild("sales", Point.beginning(), ACT);
            await(() -> at(2, 0));
            assertThatThrownBy(() -> models.retire("sales", 1, ACT, PATIENCE))
                    .hasMessage(
                            "could not retire generation 1 of read model sales: it is the live one; swap to another first");
            assertThat(models.retire("sales", 2, ACT, PATIENCE).tables()).containsExactly("customer_total", "sale");
            assertThat(models.retire("sales", 2, ACT, PATIENCE).already()).isTrue();
            assertThat(database.queryLong("select count(*) from pg_namespace where nspname = 'sales_g2'"))
                    .isZero();
            assertThat(database.queryLong("select count(*) from postroom.subscription where name = 'sales.g2'"))
                    .isZero();
            assertThat(models.rebuild("sales", Point.beginning(), ACT).generation())
                    .as("numbers are not given twice")
                    .isEqualTo(3);
            Sales.publish(database, Sales.orders(10));
            await(() -> at(1, 10) && at(3, 10));
        }
        assertThat(Sales.wrong(database)).isEqualTo(Map.of(1, 0L, 3, 0L));
    }

    @Test
    void isNotSwappedToOneThatNobodyHasMadeYet() {
        Sales.publish(database, Sales.orders(10));
        try (Relay relay = relay(Sales.model())) {
            relay.runOnce();
        }
        models.rebuild("sales", Point.beginning(), ACT);
        assertThatThrownBy(() -> models.swap("sales", null, false, ACT))
                .isInstanceOf(PostroomException.class)
                .hasMessageContaining("was not made yet; start a relay that serves version 1");
    }

    private Relay relay(ReadModel... served) {
        return database.postroom()
                .relay()
                .lease(Duration.ofMillis(1_500))
                .serve(models.roster(served))
                .build();
    }

    private boolean at(int generation, long position) {
        return database.queryLong("select count(*) from postroom.lane where subscription = 'sales.g" + generation
                                + "' and position < " + position)
                        == 0
                && database.queryLong(
                                "select count(*) from postroom.lane where subscription = 'sales.g" + generation + "'")
                        > 0;
    }

    private static void await(BooleanSupplier condition) {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime() - deadline).as("still not").isNegative();
            LockSupport.parkNanos(20_000_000);
        }
    }
}
