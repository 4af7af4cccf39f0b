package io.postroom.projection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import com.zaxxer.hikari.HikariDataSource;
import io.postroom.Postroom;
import io.postroom.message.Message;
import io.postroom.relay.OnBurial;
import io.postroom.relay.Outcome;
import io.postroom.relay.OutcomeException;
import io.postroom.relay.Projection;
import io.postroom.relay.Relay;
import io.postroom.relay.Subscription;
import io.postroom.subscription.Act;
import io.postroom.subscription.Point;
import io.postroom.subscription.ReplayRequest;
import io.postroom.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** How generations are made, held, refused, and kept apart by version. */
class GenerationsTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Act ACT = new Act("tester", "to see what happens");

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

    @Nested
    class Making {
        @Test
        void manyRelaysThatStartAtOnceMakeOne() throws Exception {
            ExecutorService nodes = Executors.newFixedThreadPool(6);
            try {
                List<Callable<Boolean>> starts = IntStream.range(0, 6)
                        .<Callable<Boolean>>mapToObj(node -> () -> {
                            try (Relay relay = relay(Sales.model())) {
                                relay.start();
                                return true;
                            }
                        })
                        .toList();
                for (Future<Boolean> each : nodes.invokeAll(starts)) {
                    assertThat(each.get(20, TimeUnit.SECONDS)).isTrue();
                }
            } finally {
                nodes.shutdownNow();
            }
            assertThat(count("postroom.generation")).isEqualTo(1);
            assertThat(count("postroom.lane")).isEqualTo(2);
        }

        @Test
        void tablesThatCannotBeMadeLeaveNothingBehindButWhy() {
            assertThatThrownBy(() -> once(Sales.builder()
                            .tables("create table x (y nonsense)")
                            .build()))
                    .hasMessageContaining(
                            "could not make generation 1 of read model sales: PostgreSQL said about its tables:")
                    .hasMessageContaining("nonsense");
            assertThatThrownBy(() -> once(Sales.builder()
                            .tables("create table public.x (y int)")
                            .build()))
                    .hasMessageContaining("its SQL made no table in schema sales; use names without a schema");
            assertThat(count("pg_namespace where nspname = 'sales'")).isZero();
            assertThat(count("pg_class where relname = 'x'")).isZero();
            assertThat(count("postroom.lane")).isZero();
            ReadModelState unmade = models.show("sales");
            assertThat(unmade.live()).isEmpty();
            assertThat(unmade.isFresh()).isFalse();
            assertThat(unmade.generations()).hasSize(1);
            assertThat(unmade.building().orElseThrow().error()).contains("its SQL made no table in schema sales");
            assertThatThrownBy(() -> models.swap("sales", 1, false, ACT))
                    .hasMessageContaining("it was never made: could not make generation 1")
                    .extracting("code")
                    .isEqualTo("projection.not-made");
            assertThat(models.rebuild("sales", null, ACT).already()).isTrue();
            once(Sales.model());
            assertThat(count("sales.sale")).isZero();
            assertThat(models.show("sales").live().orElseThrow().error()).isNull();
            assertThat(count("postroom.generation")).isOne();
        }

        @Test
        void whatCouldNotBeMadeIsMadeAsTheNextReleaseSaysThoughItsVersionIsAnother() {
            assertThatThrownBy(() -> once(Sales.builder()
                            .tables("create table x (y nonsense)")
                            .build()))
                    .hasMessageContaining("nonsense");
            once(Sales.builder().version(2).build());
            assertThat(models.show("sales").live().orElseThrow().version()).isEqualTo(2);
            assertThat(count("postroom.generation")).isOne();
        }

        @Test
        void whatAnOperatorAskedForBeginsWhereTheySaidAlsoWhereItIsTheFirstThatIsMade() {
            ReadModel broken =
                    Sales.builder().tables("create table x (y nonsense)").build();
            Sales.publish(database, Sales.orders(20));
            database.postroom().journal().stampAll();
            assertThatThrownBy(() -> once(broken)).hasMessageContaining("nonsense");
            models.retire("sales", 1, ACT, PATIENCE);
            assertThat(models.rebuild("sales", Point.at(11), ACT).beganAfter()).isEqualTo(10);
            assertThatThrownBy(() -> once(broken)).hasMessageContaining("nonsense");
            assertThat(models.show("sales").building().orElseThrow().error()).contains("nonsense");
            once(Sales.builder().version(2).build());
            GenerationState live = models.show("sales").live().orElseThrow();
            assertThat(live.number()).isEqualTo(2);
            assertThat(live.version()).isEqualTo(2);
            assertThat(live.beganAfter()).isEqualTo(10);
            assertThat(count("sales.sale")).isEqualTo(10);
        }

        @Test
        void whatIsWantedAgainHasNotBeenWantedSinceTheFirstTime() {
            ReadModel broken =
                    Sales.builder().tables("create table x (y nonsense)").build();
            assertThatThrownBy(() -> once(broken)).hasMessageContaining("nonsense");
            database.execute("update postroom.read_model set created_at = created_at - interval '240 days'");
            models.retire("sales", 1, ACT, PATIENCE);
            assertThat(models.show("sales").age().age()).as("by nobody").isZero();
            assertThatThrownBy(() -> once(broken)).hasMessageContaining("nonsense");
            assertThat(models.show("sales").age().age()).isLessThan(Duration.ofHours(1));
            database.execute("update postroom.generation set asked_at = asked_at - interval '2 hours'");
            assertThatThrownBy(() -> once(broken)).hasMessageContaining("nonsense");
            assertThat(models.show("sales").age().age()).isBetween(Duration.ofHours(2), Duration.ofHours(3));
        }

        @Test
        void aSchemaOfSomebodyElseIsLeftAlone() {
            database.execute("create schema sales", "create table sales.precious (n int)");
            assertThatThrownBy(() -> once(Sales.model()))
                    .hasMessageContaining("there is a schema of its name that is none of its own")
                    .extracting("code")
                    .isEqualTo("projection.schema-taken");
            assertThat(count("sales.precious")).isZero();
        }

        @Test
        void aRebuildThatCannotBeMadeSaysWhyAndIsTriedAgain() {
            try (Relay relay = relay(Sales.model())) {
                relay.start();
                database.execute("create schema sales_g2");
                models.rebuild("sales", Point.beginning(), ACT);
                await(() -> models.show("sales").building().orElseThrow().error() != null);
                assertThat(models.show("sales").building().orElseThrow().error())
                        .contains("there is a schema of its name");
                database.execute("drop schema sales_g2");
                await(() ->
                        models.show("sales").building().orElseThrow().state().equals("building"));
            }
        }

        @Test
        void aRebuildThatCannotBeMadeKeepsNoRelayFromServingTheRest() {
            once(Sales.model());
            database.execute("create schema sales_g2");
            models.rebuild("sales", Point.beginning(), ACT);
            Sales.publish(database, Sales.orders(10));
            once(Sales.model());
            assertThat(position("sales.g1")).isEqualTo(10);
            assertThat(models.show("sales").building().orElseThrow().error()).contains("there is a schema of its name");
        }

        @Test
        void aRequestThatNobodyHasCarriedOutIsTakenBack() {
            once(Sales.model());
            models.rebuild("sales", Point.beginning(), ACT);
            assertThat(models.retire("sales", 2, ACT, PATIENCE).tables()).isEmpty();
            once(Sales.model());
            assertThat(count("postroom.generation")).isEqualTo(1);
        }

        @Test
        void readersMayReadEachGeneration() {
            String role = database.name() + "_reporting";
            database.execute("create role " + role);
            try {
                once(Sales.builder().readers(role).build());
                models.rebuild("sales", Point.beginning(), ACT);
                once(Sales.builder().readers(role).build());
                for (String schema : List.of("sales", "sales_g2")) {
                    assertThat(database.queryLong("select (has_schema_privilege('" + role + "', '" + schema
                                    + "', 'usage') and has_table_privilege('" + role + "', '" + schema
                                    + ".sale', 'select'))::int"))
                            .isEqualTo(1);
                }
            } finally {
                database.execute("drop owned by " + role, "drop role " + role);
            }
        }

        @Test
        void everyProblemOfAReadModelIsToldAtOnce() {
            Projection behind =
                    Sales.model().projection().behind(database.postroom().inbox(), "sales");
            assertThatThrownBy(() -> ReadModel.named("pg_sales")
                            .version(0)
                            .tables(" ")
                            .projection(behind)
                            .ageMax(Duration.ZERO)
                            .readers("a b")
                            .messages(messages -> messages.lanes(0))
                            .build())
                    .hasMessageContaining("name is 'pg_sales'")
                    .hasMessageContaining("version is 0, the range is 1 to 1000000")
                    .hasMessageContaining("tables is empty")
                    .hasMessageContaining("its projection is behind an inbox")
                    .hasMessageContaining("there is no freshness")
                    .hasMessageContaining("age max is PT0S, the range is 1 ms to 31 days")
                    .hasMessageContaining("reader is 'a b'")
                    .hasMessageContaining("lanes is 0, the range is 1 to 256");
            assertThatThrownBy(() -> models.roster(Sales.model(), Sales.model()))
                    .hasMessageContaining("read model sales is there twice with version 1");
            assertThatThrownBy(() -> models.roster()).hasMessageContaining("there is no read model");
        }
    }

    @Nested
    class Versions {
        private final ReadModel second = Sales.builder()
                .version(2)
                .tables("create table big_customer (customer text primary key, amount numeric not null)")
                .projection((tx, batch) -> {
                    try (PreparedStatement add = tx.prepareStatement(
                            "insert into big_customer as b select ?, sum(x) from (values (1)) as v (x) on conflict (customer)"
                                    + " do update set amount = b.amount + 1")) {
                        for (var envelope : batch) {
                            add.setString(1, envelope.message().aggregateId());
                            add.addBatch();
                        }
                        add.executeBatch();
                    }
                })
                .build();

        @Test
        void bothAreKeptWhileTheNewTablesTakeTheOldOnesPlace() {
            Sales.publish(database, Sales.orders(20));
            once(Sales.model());
            try (Relay relay = relay(Sales.model(), second)) {
                relay.runOnce();
                assertThat(models.rebuild("sales", Point.beginning(), ACT).version())
                        .isEqualTo(2);
                relay.runOnce();
                models.swap("sales", null, false, ACT);
                Sales.publish(database, Sales.orders(20));
                relay.runOnce();
                assertThat(database.queryLong("select sum(amount) from sales.big_customer"))
                        .isEqualTo(40);
                assertThat(count("sales_g1.sale")).isEqualTo(40);
                models.rollback("sales", false, ACT);
                Sales.publish(database, Sales.orders(20));
                relay.runOnce();
                assertThat(database.queryLong("select sum(amount) from sales_g2.big_customer"))
                        .isEqualTo(60);
                assertThat(count("sales.sale")).isEqualTo(60);
            }
        }

        @Test
        void aVersionThatARelayDoesNotKnowStaysWhereItIs() {
            Sales.publish(database, Sales.orders(20));
            once(Sales.model());
            Sales.publish(database, Sales.orders(20));
            once(second);
            assertThat(count("sales.sale")).isEqualTo(20);
            once(Sales.model());
            assertThat(count("sales.sale")).isEqualTo(40);
        }

        @Test
        void otherTablesUnderTheSameVersionAreRefused() {
            once(Sales.model());
            assertThatThrownBy(() ->
                            once(Sales.builder().tables(Sales.TABLES + " -- ").build()))
                    .hasMessage(
                            "could not serve generation 1 of read model sales: version 1 was made with other tables than this"
                                    + " relay says; give the new ones version 2, and serve both until the old one is retired");
        }

        /** A few connections serve both, with one statement whose result has another type in each. */
        @Test
        void plansThatFitTheOtherVersionAreMadeAnew() {
            Projection counting = (tx, batch) -> {
                try (PreparedStatement read = tx.prepareStatement("select n from counted")) {
                    read.executeQuery().close();
                }
                try (PreparedStatement add = tx.prepareStatement("insert into done values (?)")) {
                    for (var envelope : batch) {
                        add.setObject(1, envelope.message().id());
                        add.execute();
                    }
                }
            };
            String done = "create table done (id uuid primary key);";
            ReadModel.Builder some = Sales.builder().projection(counting).messages(Sales.settings(1));
            ReadModel numbers =
                    some.tables(done + "create table counted (n int)").build();
            ReadModel words = some.version(2)
                    .tables(done + "create table counted (n text)")
                    .build();
            try (HikariDataSource narrow = TestDatabase.pool(database.url(), 4);
                    Relay relay = Postroom.on(narrow)
                            .relay()
                            .batch(1, 1_048_576)
                            .poll(Duration.ofMillis(1), Duration.ofMillis(5))
                            .serve(Postroom.on(narrow).readModels().roster(numbers, words))
                            .build()) {
                Sales.publish(database, Sales.orders(10));
                relay.start();
                database.execute("update postroom.read_model set version = 1");
                models.rebuild("sales", Point.beginning(), ACT);
                for (int i = 0; i < 10; i++) {
                    Sales.publish(database, Sales.orders(5));
                }
                await(() -> position("sales.g1") == 60 && position("sales.g2") == 60);
            }
            assertThat(count("postroom.attempt")).as("counted against nobody").isZero();
            assertThat(count("sales.done")).isEqualTo(60);
            assertThat(count("sales_g2.done")).isEqualTo(60);
        }
    }

    @Nested
    class Comparing {
        private final String more = Sales.TABLES + "alter table sale add column note text; create table extra (n int);";

        @Test
        void columnsThatOnlyOneHasAreNamedAndNotTakenForTheSame() {
            Sales.publish(database, Sales.orders(10));
            once(Sales.model());
            ReadModel second = Sales.builder().version(2).tables(more).build();
            try (Relay relay = relay(Sales.model(), second)) {
                relay.start();
                models.rebuild("sales", null, ACT);
                await(() -> position("sales.g2") == 10);
                Comparison comparison = models.compare("sales", 2, 5, PATIENCE);
                assertThat(comparison.isSame()).isFalse();
                assertThat(comparison.tables())
                        .extracting(TableComparison::table, TableComparison::loneColumns, TableComparison::different)
                        .containsExactly(
                                tuple("customer_total", List.of(), 0L),
                                tuple("extra", List.of("n only candidate"), 0L),
                                tuple("sale", List.of("note only candidate"), 0L));
            }
            ReadModel excused = Sales.builder()
                    .version(2)
                    .tables(more)
                    .ignore("sale.note", "extra.n")
                    .build();
            try (Relay relay = relay(Sales.model(), excused)) {
                relay.start();
                assertThat(models.compare("sales", 2, 5, PATIENCE).isSame()).isTrue();
            }
        }

        /** It would find the one generation's tables under the other's name. */
        @Test
        void isNotOvertakenByASwap() throws Exception {
            Sales.publish(database, Sales.orders(10));
            ExecutorService operator = Executors.newSingleThreadExecutor();
            try (Relay relay = relay(Sales.model());
                    Connection writer = database.begin();
                    Statement statement = writer.createStatement()) {
                relay.start();
                models.rebuild("sales", null, ACT);
                await(() -> count("postroom.lane where subscription = 'sales.g2' and position = 10") == 2);
                database.execute("insert into sales_g2.sale values (gen_random_uuid(), 'extra', 1)");
                // The comparison has looked at the first table, and waits for the second.
                statement.execute("lock table sales_g2.sale in access exclusive mode");
                Future<Comparison> comparison = operator.submit(() -> models.compare("sales", 2, 5, PATIENCE));
                await(() -> count("pg_locks where not granted and relation = 'sales_g2.sale'::regclass") > 0);
                assertThatThrownBy(() -> models.swap("sales", 2, true, ACT))
                        .hasMessageContaining("a comparison, or a batch that began right after the last swap")
                        .extracting("code")
                        .isEqualTo("projection.busy");
                writer.rollback();
                TableComparison sale =
                        comparison.get(60, TimeUnit.SECONDS).tables().get(1);
                assertThat(sale.onlyCandidate()).isEqualTo(1);
                assertThat(sale.onlyLive()).isZero();
                models.swap("sales", 2, true, ACT);
            } finally {
                operator.shutdownNow();
            }
        }
    }

    /** There may be no other connection to be had. */
    @Test
    void aBatchThatFailsAsksForNoSecondConnectionWhileItHoldsOne() {
        GreedyThreads greedy = new GreedyThreads(database.dataSource());
        Projection failing = (tx, batch) -> {
            throw new OutcomeException(Outcome.rejected("never"));
        };
        Sales.publish(database, Sales.orders(3));
        Postroom postroom = Postroom.on(greedy);
        try (Relay relay = postroom.relay()
                .serve(postroom.readModels()
                        .roster(Sales.builder().projection(failing).build()))
                .build()) {
            relay.start();
            await(() -> count("postroom.dead_letter") == 3);
        }
        assertThat(greedy.found()).noneMatch(thread -> thread.startsWith("postroom-lane"));
    }

    @Nested
    class Holding {
        @Test
        void lanesStopExactlyThereAndGoOnByThemselvesWhenTheHoldRunsOut() {
            Sales.publish(database, Sales.orders(10));
            once(Sales.model());
            database.execute(
                    "update postroom.generation set hold_at = 17, hold_until = clock_timestamp() + interval '3 s'");
            Sales.publish(database, Sales.orders(30));
            try (Relay relay = relay(Sales.model())) {
                relay.start();
                await(() -> position("sales.g1") == 17);
                assertThat(count("sales.sale")).isEqualTo(17);
                await(() -> database.queryLong("select (hold_until < clock_timestamp() + interval '500 ms')::int"
                                + " from postroom.generation")
                        == 1);
                assertThat(position("sales.g1")).isEqualTo(17);
                await(() -> position("sales.g1") == 40);
            }
            assertThat(Sales.wrong(database)).isEqualTo(Map.of(1, 0L));
        }

        @Test
        void withoutARelayAComparisonGivesUpAndChangesNothing() {
            Sales.publish(database, Sales.orders(10));
            once(Sales.model());
            models.rebuild("sales", Point.beginning(), ACT);
            once(Sales.builder().messages(Sales.settings(2)).build());
            database.execute("update postroom.lane set position = 5 where subscription = 'sales.g2' and lane = 1");
            assertThatThrownBy(() -> models.compare("sales", 2, 5, Duration.ofMillis(300)))
                    .hasMessageContaining("they are not both at position 10: lane 1 of sales.g2 is at 5")
                    .hasMessageContaining("is there a relay that serves them?");
            assertThat(count("postroom.generation where hold_at is not null")).isZero();
        }
    }

    @Nested
    class Refusing {
        @Test
        void aSwapToOneThatIsBehindOrHasNotAppliedWhatTheLiveOneHas() {
            Message bad = Sales.order(3, 666);
            AtomicReference<String> failing = new AtomicReference<>("");
            Projection picky = (tx, batch) -> {
                if (tx.getSchema().equals(failing.get())
                        && batch.stream().anyMatch(each -> each.message().id().equals(bad.id()))) {
                    throw new OutcomeException(Outcome.rejected("never"));
                }
                Sales.apply(tx, batch);
            };
            ReadModel picked = Sales.builder().projection(picky).build();
            Sales.publish(database, Sales.orders(10));
            Sales.publish(database, List.of(bad));
            once(picked);
            failing.set("sales_g2");
            models.rebuild("sales", Point.beginning(), ACT);
            assertThatThrownBy(() -> models.swap("sales", null, true, ACT))
                    .hasMessageContaining(
                            "generation 2 of read model sales was not made yet; start a relay that serves version 1");
            once(picked);
            database.execute(
                    "update postroom.tick set at = at - interval '1 h' where position > 0",
                    "update postroom.lane set position = 0 where subscription = 'sales.g2' and lane = 0");
            assertThat(models.planSwap("sales", null).problems())
                    .satisfiesExactly(
                            late -> assertThat(late)
                                    .matches(
                                            "generation 2 of read model sales is 36\\d\\d s behind, the limit is 60 s \\(11 messages\\);.*"),
                            open -> assertThat(open).startsWith("it has not applied 1 messages that 1 has"));
            assertThatThrownBy(() -> models.swap("sales", null, false, ACT))
                    .extracting("code")
                    .isEqualTo("projection.not-ready");
            assertThat(models.show("sales").epoch()).isZero();
            assertThat(models.swap("sales", null, true, ACT).problems()).hasSize(2);
            assertThat(models.show("sales").live().orElseThrow().number()).isEqualTo(2);
        }

        @Test
        void whatHangsOnTheTablesFromOutsideIsNotForgotten() {
            once(Sales.model());
            models.rebuild("sales", Point.beginning(), ACT);
            once(Sales.model());
            database.execute("create view report as select * from sales.sale");
            assertThat(models.planSwap("sales", 2).problems())
                    .singleElement()
                    .asString()
                    .startsWith("view public.report would go on with the tables of 1");
            models.swap("sales", 2, true, ACT);
            assertThatThrownBy(() -> models.retire("sales", 1, ACT, PATIENCE))
                    .hasMessageContaining("view public.report would go with its tables; drop or change it first");
            database.execute("drop view report");
            models.retire("sales", 1, ACT, PATIENCE);
        }

        /** A view and a foreign key are seen beforehand; of everything else PostgreSQL tells. */
        @Test
        void aRetirementThatWouldTakeSomethingElsewhereAlong() {
            ReadModel entangled =
                    Sales.builder().tables("""
                            create type mood as enum ('good');
                            create table a (id int primary key, m mood, n serial);
                            create table b (id int primary key references a);
                            alter table a add foreign key (id) references b;
                            create sequence s;
                            create view v as select id from a;
                            create materialized view mv as select id from v;
                            create view w as select id from mv;
                            create function f() returns bigint begin atomic select count(*) from a; end;
                            """).projection((tx, batch) -> {}).build();
            once(entangled);
            models.rebuild("sales", null, ACT);
            once(entangled);
            database.execute("create table public.kept (held sales_g2.a)");
            assertThatThrownBy(() -> models.retire("sales", 2, ACT, PATIENCE))
                    .hasMessageContaining("column held of table kept depends on type sales_g2.a; nothing was changed")
                    .extracting("code")
                    .isEqualTo("projection.has-dependents");
            assertThat(count("information_schema.columns where table_name = 'kept' and column_name = 'held'"))
                    .isEqualTo(1);
            assertThat(models.show("sales").generation(2)).isPresent();
            database.execute("drop table public.kept");
            models.retire("sales", 2, ACT, PATIENCE);
            assertThat(count("pg_namespace where nspname = 'sales_g2'")).isZero();
        }

        @Test
        void aReplayOrRemovalOfAGenerationsSubscription() {
            Sales.publish(database, Sales.orders(10));
            once(Sales.model());
            var subscriptions = database.postroom().subscriptions();
            ReplayRequest all = new ReplayRequest("sales.g1", Point.beginning(), null, null);
            for (Runnable replay : List.<Runnable>of(
                    () -> subscriptions.planReplay(all),
                    () -> subscriptions.replay(all, ACT, PATIENCE),
                    () -> subscriptions.replayCopy(all, "again", ACT))) {
                assertThatThrownBy(replay::run)
                        .hasMessageContaining(
                                "would apply them twice; rebuild its read model instead: postroom projection rebuild sales")
                        .extracting("code")
                        .isEqualTo("subscription.is-projection");
            }
            assertThatThrownBy(() -> subscriptions.remove("sales.g1", true, ACT))
                    .hasMessageContaining("it keeps a generation of read model sales; retire that");
        }

        @Test
        void aReplayOfAPlainProjectionButNotOfOneBehindAnInbox() {
            Sales.publish(database, Sales.orders(10));
            Projection nothing = (tx, batch) -> {};
            try (Relay relay = database.postroom()
                    .relay()
                    .project(Subscription.named("plain").build(), nothing)
                    .project(
                            Subscription.named("guarded").build(),
                            nothing.behind(database.postroom().inbox(), "guarded"))
                    .build()) {
                relay.runOnce();
            }
            var subscriptions = database.postroom().subscriptions();
            assertThatThrownBy(
                            () -> subscriptions.planReplay(new ReplayRequest("plain", Point.beginning(), null, null)))
                    .hasMessageContaining("put it behind an inbox, or make it a read model, which can be rebuilt");
            assertThat(subscriptions
                            .planReplay(new ReplayRequest("guarded", Point.beginning(), null, null))
                            .moves())
                    .isNotEmpty();
            // After eight days an inbox may have forgotten what it accepted.
            database.execute("update postroom.tick set at = at - interval '8 days'");
            assertThatThrownBy(
                            () -> subscriptions.planReplay(new ReplayRequest("guarded", Point.beginning(), null, null)))
                    .hasMessageContaining("its inbox may have forgotten")
                    .extracting("code")
                    .isEqualTo("subscription.inbox-forgets");
        }
    }

    @Nested
    class Ageing {
        @Test
        void isThatOfTheOldestMessageNotApplied() {
            once(Sales.model());
            assertThat(models.age("sales").age()).isZero();
            assertThatThrownBy(() -> models.age("sails")).isInstanceOf(UnknownReadModelException.class);
            Sales.publish(database, Sales.orders(10));
            database.execute("update postroom.tick set at = at - interval '1 h'");
            assertThat(models.age("sales").age())
                    .as("not stamped yet, but there")
                    .isBetween(Duration.ofNanos(1), Duration.ofSeconds(20));
            database.postroom().journal().stampAll();
            database.execute("update postroom.tick set at = at - interval '5 min' where position > 0");
            assertThat(models.age("sales").age()).isBetween(Duration.ofMinutes(5), Duration.ofMinutes(6));
            assertThat(models.age("sales").isFresh()).isFalse();
            once(Sales.model());
            assertThat(models.age("sales").age()).isZero();
        }

        @Test
        void countsWhatWaitsAndWhatHoldsItsKey() {
            Message bad = Sales.order(3, 666);
            Sales.publish(database, List.of(bad));
            once(Sales.builder()
                    .projection((tx, batch) -> {
                        throw new OutcomeException(Outcome.rejected("never"));
                    })
                    .messages(messages -> messages.onBurial(OnBurial.HOLD))
                    .build());
            database.execute("update postroom.tick set at = at - interval '5 min' where position > 0");
            assertThat(models.age("sales").age()).isGreaterThan(Duration.ofMinutes(5));
        }
    }

    @Test
    void aSchemaThatIsMissingStopsItsGenerationAndNothingIsLost() {
        once(Sales.model());
        database.execute("alter schema sales rename to elsewhere");
        try (Relay relay = database.postroom()
                .relay()
                .probe(Duration.ofMillis(20), Duration.ofMillis(100))
                .serve(models.roster(Sales.model()))
                .build()) {
            relay.start();
            Sales.publish(database, Sales.orders(10));
            await(() -> count("postroom.circuit where error like '%schema sales of generation 1%is not there%'") == 1);
            database.execute("alter schema elsewhere rename to sales");
            await(() -> position("sales.g1") == 10);
        }
        assertThat(Sales.wrong(database)).isEqualTo(Map.of(1, 0L));
        assertThat(count("postroom.dead_letter")).isZero();
    }

    private void once(ReadModel... served) {
        try (Relay relay = relay(served)) {
            relay.runOnce();
        }
    }

    private Relay relay(ReadModel... served) {
        return database.postroom()
                .relay()
                .lease(Duration.ofMillis(1_500))
                .serve(models.roster(served))
                .build();
    }

    private long position(String subscription) {
        return database.queryLong(
                "select min(position) from postroom.lane where subscription = '" + subscription + "'");
    }

    private long count(String from) {
        return database.queryLong("select count(*) from " + from);
    }

    private static void await(BooleanSupplier condition) {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime() - deadline).as("still not").isNegative();
            LockSupport.parkNanos(20_000_000);
        }
    }
}
