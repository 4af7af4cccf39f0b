package io.postroom.projection;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.relay.Relay;
import io.postroom.subscription.Act;
import io.postroom.subscription.Point;
import io.postroom.testkit.ChildJvm;
import io.postroom.testkit.CrashPoint;
import io.postroom.testkit.TestDatabase;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Operators that are killed in the middle of an act: it is done or not begun, and whoever does it again does it once. */
class KilledActTest {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Act ACT = new Act("tester", "to see what happens");

    private TestDatabase database;
    private ReadModels models;
    private Relay relay;

    @BeforeEach
    void serve() {
        database = TestDatabase.create();
        models = database.postroom().readModels();
        Sales.publish(database, Sales.orders(50));
        relay = database.postroom()
                .relay()
                .lease(Duration.ofMillis(1_500))
                .serve(models.roster(Sales.model()))
                .build();
        relay.start();
    }

    @AfterEach
    void drop() {
        relay.close();
        database.close();
    }

    @ParameterizedTest
    @CsvSource({
        "rebuild,  after,     ask.sql,          0",
        "rebuild,  committed, ask.sql,          1",
        "swap,     before,    swap_schemas.sql, 0",
        "swap,     after,     swap_schemas.sql, 0",
        "swap,     after,     raise_epoch.sql,  0",
        "swap,     committed, raise_epoch.sql,  1",
        "rollback, after,     promote.sql,      0",
        "rollback, committed, promote.sql,      1",
        "retire,   after,     forget.sql,       0",
        "retire,   after,     drop_schema.sql,  0",
        "retire,   committed, drop_schema.sql,  1",
        "compare,  after,     hold.sql,         0",
        "compare,  committed, hold.sql,         0"
    })
    void isDoneOrNotBegunAndDoneOnceByWhoeverRepeatsIt(String act, String moment, String statement, int done)
            throws Exception {
        if (!act.equals("rebuild")) {
            models.rebuild("sales", Point.beginning(), ACT);
            await(() -> at(2, 50));
        }
        if (act.equals("rollback")) {
            models.swap("sales", 2, true, ACT);
        }
        long acts = count("audit");
        try (ChildJvm operator =
                ChildJvm.start(ActMain.class, List.of("-Xmx96m"), database.url(), act, moment, statement)) {
            assertThat(operator.awaitExit(PATIENCE)).isEqualTo(CrashPoint.EXIT_CODE);
        }
        await(() -> count("audit") == acts + done);
        letItRunOut();
        Sales.publish(database, Sales.orders(50));
        ActMain.act(models, act);
        assertThat(count("audit")).isEqualTo(acts + (act.equals("compare") ? 0 : 1));
        boolean gone = act.equals("retire");
        await(() -> at(1, 100) && (gone || at(2, 100)));
        assertThat(Sales.wrong(database)).isEqualTo(gone ? Map.of(1, 0L) : Map.of(1, 0L, 2, 0L));
        assertThat(models.show("sales").live().orElseThrow().number()).isEqualTo(act.equals("swap") ? 2 : 1);
        assertThat(database.queryLong("select count(*) from pg_namespace where nspname like 'sales%'"))
                .isEqualTo(gone ? 1 : 2);
    }

    /** Relays stand still for what the dead one asked of them, seconds at most; nobody needs to wait for that here. */
    private void letItRunOut() {
        assertThat(database.queryLong("select count(*) from postroom.subscription, postroom.generation"
                        + " where greatest(drain_until, hold_until) > clock_timestamp() + interval '10 s'"))
                .isZero();
        database.execute(
                "update postroom.subscription set drain_until = clock_timestamp() where drain_until is not null",
                "update postroom.generation set hold_until = clock_timestamp() where hold_until is not null");
    }

    private long count(String table) {
        return database.queryLong("select count(*) from postroom." + table);
    }

    private boolean at(int generation, long position) {
        String lanes = "select count(*) from postroom.lane where subscription = 'sales.g" + generation + "'";
        return database.queryLong(lanes) > 0 && database.queryLong(lanes + " and position < " + position) == 0;
    }

    private static void await(BooleanSupplier condition) {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime() - deadline).as("still not").isNegative();
            LockSupport.parkNanos(20_000_000);
        }
    }
}
