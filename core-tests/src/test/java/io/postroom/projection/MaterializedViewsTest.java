package io.postroom.projection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postroom.subscription.Act;
import io.postroom.testkit.TestDatabase;
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
