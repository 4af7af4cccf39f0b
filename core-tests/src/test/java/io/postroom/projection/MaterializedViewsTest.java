package io.postroom.projection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.postroom.audit.Audit;
import io.postroom.postgres.Database;
import io.postroom.postgres.Schema;
import io.postroom.subscription.Act;
import io.postroom.testkit.ChildJvm;
import io.postroom.testkit.CutProxy;
import io.postroom.testkit.TestDatabase;
import io.postroom.testkit.TestPostgres;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class MaterializedViewsTest {
    private static final Act ACT = new Act("tester", "to see what happens");

    private TestDatabase database;
    private MaterializedViews views;

    @BeforeEach
    void create() {
        database = TestDatabase.create();
        views = database.postroom().materializedViews();
        database.execute(
                "create table sale (customer text, amount numeric)",
                "insert into sale values ('a', 1), ('b', 2)",
                "create materialized view totals as select customer, sum(amount) as amount from sale group by 1 with no data",
                "create unique index on totals (customer)");
    }

    @AfterEach
    void drop() {
        database.close();
    }

    @Test
    void refreshesWhatWasNeverPopulatedThenEverySoOften() {
        views.keep("public.totals", Duration.ofHours(1));
        assertThat(views.refreshDue()).isEqualTo(1);
        assertThat(database.queryLong("select sum(amount) from totals")).isEqualTo(3);
        database.execute("insert into sale values ('c', 3)");
        assertThat(views.refreshDue()).as("not due").isZero();
        views.keep("public.totals", Duration.ofHours(1));
        assertThat(views.refreshDue()).as("said again").isZero();
        views.hasten("public.totals", ACT);
        assertThat(views.refreshDue()).isEqualTo(1);
        assertThat(database.queryLong("select sum(amount) from totals")).isEqualTo(6);
        ViewState state = views.list().get(0);
        assertThat(state.refreshedAt()).isNotNull();
        assertThat(state.took()).isNotNull();
        assertThat(state.error()).isNull();
        views.forget("public.totals", ACT);
        assertThat(views.list()).isEmpty();
        assertThat(database.queryLong(
                        "select count(*) from postroom.audit where action in ('view refresh', 'view forget')"))
                .isEqualTo(2);
    }

    @Test
    void readersGoOnDuringARefresh() throws Exception {
        views.keep("public.totals", Duration.ofHours(1));
        views.refreshDue();
        views.hasten("public.totals", ACT);
        try (Connection reader = database.begin();
                Statement statement = reader.createStatement()) {
            statement.execute("select count(*) from totals");
            assertThat(views.refreshDue())
                    .as("a reader with a lock on the view holds up nothing")
                    .isEqualTo(1);
            statement.execute("select count(*) from totals");
        }
    }

    @Test
    void oneNodeAtATimeRefreshesAView() throws Exception {
        views.keep("public.totals", Duration.ofHours(1));
        // Slow enough that all are there at once.
        database.execute(
                "create materialized view slow as select 1 as n, pg_sleep(0.3)::text as slept",
                "create unique index on slow (n)");
        views.keep("public.slow", Duration.ofHours(1));
        ExecutorService nodes = Executors.newFixedThreadPool(6);
        try {
            List<Callable<Integer>> rounds = new ArrayList<>();
            for (int i = 0; i < 6; i++) {
                rounds.add(() -> database.postroom().materializedViews().refreshDue());
            }
            int refreshed = 0;
            for (Future<Integer> each : nodes.invokeAll(rounds)) {
                refreshed += each.get(20, TimeUnit.SECONDS);
            }
            assertThat(refreshed).isEqualTo(2);
        } finally {
            nodes.shutdownNow();
        }
    }

    /** It closes no connection: its session has the view until PostgreSQL ends it. */
    @Test
    void aNodeThatVanishesInARefreshDoesNotKeepTheViewForLong() throws Exception {
        slow("1");
        try (CutProxy proxy = CutProxy.to(TestPostgres.shared().port());
                HikariDataSource pool = TestDatabase.pool(proxy.url(database.url()), 2)) {
            MaterializedViews vanished = views(pool, Duration.ofSeconds(2), Duration.ofMinutes(1));
            Thread node = new Thread(vanished::refreshDue);
            node.setDaemon(true);
            node.start();
            await(() -> refreshing() == 1);
            proxy.blackhole();
            assertThat(views.refreshDue()).as("another is at it").isZero();
            await(() -> views.refreshDue() == 1);
            proxy.cut();
        }
        assertThat(views.list().get(0).failures()).isZero();
    }

    @Test
    void aNodeThatIsKilledInARefreshKeepsNothing() throws Exception {
        slow("2");
        try (ChildJvm node = ChildJvm.start(ViewMain.class, List.of("-Xmx96m"), database.url())) {
            await(() -> refreshing() == 1);
            node.kill();
        }
        await(() -> views.refreshDue() == 1);
    }

    @Test
    void aRefreshThatTakesTooLongIsEndedAndNoted() {
        slow("60");
        assertThat(views(database.dataSource(), Duration.ofSeconds(10), Duration.ofMillis(300))
                        .refreshDue())
                .isZero();
        assertThat(views.list().get(0).error())
                .isEqualTo("could not refresh materialized view public.slow: it was ended, a refresh may take PT0.3S;"
                        + " let its query read less, or keep it as a read model");
        assertThat(refreshing()).isZero();
    }

    /** Out of memory for a moment, say. */
    @Test
    void anErrorDoesNotEndTheKeepingOfViews() {
        views.keep("public.totals", Duration.ofHours(1));
        AtomicInteger asked = new AtomicInteger();
        DataSource shaky = (DataSource) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {DataSource.class}, (self, method, arguments) -> {
                    if (method.getName().equals("getConnection") && asked.getAndIncrement() < 4) {
                        throw new OutOfMemoryError("for a moment");
                    }
                    return method.invoke(database.dataSource(), arguments);
                });
        try (MaterializedViews kept = views(shaky, Duration.ofSeconds(10), Duration.ofMinutes(1))) {
            kept.start();
            await(() -> views.list().get(0).refreshedAt() != null);
        }
        assertThat(asked).hasValueGreaterThan(4);
    }

    @Test
    void aViewThatTakesLongHoldsUpNoOther() {
        slow("60");
        views.keep("public.totals", Duration.ofHours(1));
        database.execute("update postroom.materialized_view set due_at = due_at - interval '1 hour'"
                + " where name = 'public.slow'");
        try (MaterializedViews kept = views(database.dataSource(), Duration.ofSeconds(10), Duration.ofSeconds(40))) {
            kept.start();
            await(() -> refreshing() == 1);
            await(() ->
                    database.queryLong("select count(*) from pg_matviews where matviewname = 'totals' and ispopulated")
                            == 1);
            assertThat(refreshing()).isEqualTo(1);
        }
        database.execute("select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database()"
                + " and query like '%refresh_view%' and pid <> pg_backend_pid()");
    }

    private void slow(String seconds) {
        database.execute(
                "create materialized view slow as select 1 as n, pg_sleep(" + seconds + ")::text as slept with no data",
                "create unique index on slow (n)");
        views.keep("public.slow", Duration.ofHours(1));
    }

    private MaterializedViews views(DataSource dataSource, Duration idleMax, Duration refreshMax) {
        Database far = new Database(dataSource, Schema.POSTROOM);
        return new MaterializedViews(far, new Audit(far), idleMax, refreshMax);
    }

    private long refreshing() {
        return database.queryLong("select count(*) from pg_stat_activity where datname = current_database()"
                + " and state = 'active' and query like '%refresh_view%' and pid <> pg_backend_pid()");
    }

    private static void await(BooleanSupplier condition) {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime() - deadline).as("still not").isNegative();
            LockSupport.parkNanos(20_000_000);
        }
    }

    @Test
    void whatFailsIsNotedAndTriedAgainLater() {
        views.keep("public.totals", Duration.ofHours(1));
        database.execute("drop materialized view totals");
        assertThat(views.refreshDue()).isZero();
        ViewState state = views.list().get(0);
        assertThat(state.error()).startsWith("could not refresh materialized view public.totals: there is no such");
        assertThat(state.failures()).isEqualTo(1);
        assertThat(views.refreshDue()).as("not at once").isZero();
        assertThat(views.list().get(0).failures()).isEqualTo(1);
    }

    @Test
    void refusesWhatItCouldNotRefresh() {
        database.execute("create materialized view keyless as select 1 as n", "create view plain as select 1 as n");
        assertThatThrownBy(() -> views.keep("public.keyless", Duration.ofHours(1)))
                .hasMessageContaining("could not keep materialized view public.keyless: it has no unique index");
        assertThatThrownBy(() -> views.keep("public.plain", Duration.ofHours(1)))
                .hasMessageContaining("there is no such materialized view");
        assertThatThrownBy(() -> views.keep("totals", Duration.ofHours(1))).hasMessageContaining("schema.view");
        assertThatThrownBy(() -> views.keep("public.totals", Duration.ofMillis(1)))
                .hasMessageContaining("every is PT0.001S, the range is 1 s to 31 days");
        assertThatThrownBy(() -> views.hasten("public.total", ACT)).hasMessageContaining("is not among those");
        assertThat(views.list()).isEmpty();
    }
}
