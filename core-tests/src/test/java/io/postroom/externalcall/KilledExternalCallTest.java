package io.postroom.externalcall;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.externalcall.ExternalCallMain.Act;
import io.postroom.externalcall.ExternalCallMain.Point;
import io.postroom.testkit.ChildJvm;
import io.postroom.testkit.CrashPoint;
import io.postroom.testkit.FakeProvider;
import io.postroom.testkit.TestDatabase;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** SIGKILL at every point of a call: whoever goes on, when the lease is over, finds it done or does it under the same key. */
class KilledExternalCallTest {
    private static final Duration DEADLINE = Duration.ofSeconds(60);

    private static TestDatabase database;

    @BeforeAll
    static void create() {
        database = TestDatabase.create();
        database.execute("create table paid (business_id text, reference text)");
    }

    @AfterAll
    static void drop() {
        database.close();
    }

    /** What it leaves behind: how many rows of the call, and how many charges at the provider. */
    private record Left(Point point, long rows, long charges) {}

    /** Twelve orders of one process that is killed while each stands at its point. */
    @Test
    void chargesOnceWhereverItDies() throws InterruptedException {
        List<Left> all = List.of(
                new Left(Point.BEFORE_BEGIN, 0, 0),
                new Left(Point.IN_BEGIN, 0, 0),
                new Left(Point.BEGUN, 1, 0),
                new Left(Point.IN_TAKE, 1, 0),
                new Left(Point.TAKEN, 1, 0),
                new Left(Point.ANSWERED, 1, 1),
                new Left(Point.BEFORE_END, 1, 1),
                new Left(Point.IN_END, 1, 1),
                new Left(Point.ENDED, 1, 1),
                new Left(Point.BEFORE_LET_GO, 1, 1),
                new Left(Point.LET_GO, 1, 1),
                new Left(Point.BEFORE_PARK, 1, 1));
        try (FakeProvider provider = FakeProvider.start()) {
            for (Point second : List.of(Point.IN_TAKE, Point.TAKEN)) {
                // An attempt before it has lost its answer: this one is the second.
                database.postroom()
                        .externalCalls()
                        .perform(
                                ExternalCallMain.operation(order(second)),
                                ExternalCallsTest.HASH,
                                key -> ProviderAnswer.unknown("not even sent"));
            }
            Map<String, Point> points = new LinkedHashMap<>();
            all.forEach(each -> points.put(order(each.point()), each.point()));
            die(provider, points);
            for (Left each : all) {
                String order = order(each.point());
                assertThat(count("postroom.external_call", order)).as(order).isEqualTo(each.rows());
                assertThat(charges(provider, order)).as(order).isEqualTo(each.charges());
            }
            for (String order : points.keySet()) {
                finish(provider, order);
            }
        }
    }

    @Test
    void isParkedOnceAndEndsAsSomebodySaysWhereverThatDies() throws InterruptedException {
        String order = order(Point.PARKED);
        try (FakeProvider provider = FakeProvider.start()) {
            die(provider, order, Point.PARKED);
            assertThat(call(order).state()).isEqualTo(CallState.NEEDS_RECONCILIATION);
            assertThat(ExternalCallMain.charge(database.postroom(), provider.url(), order, null))
                    .as("nobody calls again")
                    .isFalse();
            long audited = database.queryLong("select count(*) from postroom.audit");
            die(provider, order, Point.IN_RECONCILE);
            assertThat(call(order).state()).isEqualTo(CallState.NEEDS_RECONCILIATION);
            die(provider, order, Point.RECONCILED);
            assertThat(call(order).state()).isEqualTo(CallState.DONE);
            ExternalCallMain.act(Act.RECONCILE, database.postroom(), provider.url(), order, null);
            assertThat(database.queryLong("select count(*) from postroom.audit") - audited)
                    .as("said twice, done once")
                    .isEqualTo(1);
            assertThat(provider.charges()).isEqualTo(1);
        }
    }

    @Test
    void whatIsOverdueIsParkedByWhoeverComesNext() throws InterruptedException {
        String order = order(Point.PARKED_OVERDUE);
        try (FakeProvider provider = FakeProvider.start()) {
            die(provider, order, Point.BEGUN);
            database.execute(
                    "update postroom.external_call set window_until = clock_timestamp(), leased_until = clock_timestamp()"
                            + " where business_id = '" + order + "'");
            die(provider, order, Point.BEFORE_PARK_OVERDUE);
            assertThat(call(order).state()).isEqualTo(CallState.CALLING);
            die(provider, order, Point.PARKED_OVERDUE);
            assertThat(call(order).state()).isEqualTo(CallState.NEEDS_RECONCILIATION);
            assertThat(database.postroom().externalCalls().parkOverdue()).isZero();
        }
    }

    /** SIGSTOP after the provider's answer, until another has ended the call: what it would have done is rolled back. */
    @Test
    void oneThatFreezesAndGoesOnTooLateChangesNothing() throws InterruptedException {
        String order = order(Point.FROZEN);
        try (FakeProvider provider = FakeProvider.start();
                ChildJvm frozen = start(provider, order, Point.FROZEN)) {
            frozen.awaitLine(CrashPoint.lineOf(Point.FROZEN.name()), DEADLINE);
            finish(provider, order);
            frozen.thaw();
            frozen.awaitLine("StaleAttemptException", DEADLINE);
            assertThat(count("paid", order)).isEqualTo(1);
            assertThat(call(order).attempts()).isEqualTo(2);
        }
    }

    /** The request is on its way, the process is gone, and the provider charges all the same. */
    @Test
    void chargesOnceWhenItDiesWhileTheProviderWorks() throws InterruptedException {
        try (FakeProvider provider = FakeProvider.start()) {
            ChildJvm[] child = new ChildJvm[1];
            Object started = new Object();
            provider.atWork(() -> {
                synchronized (started) {
                    kill(child[0]);
                }
            });
            synchronized (started) {
                child[0] = start(provider, "order-sent", Point.NONE);
            }
            assertThat(child[0].awaitExit(DEADLINE)).isEqualTo(CrashPoint.EXIT_CODE);
            finish(provider, "order-sent");
        }
    }

    private static void die(FakeProvider provider, String order, Point point) throws InterruptedException {
        die(provider, Map.of(order, point));
    }

    private static void die(FakeProvider provider, Map<String, Point> points) throws InterruptedException {
        try (ChildJvm child = start(provider, points)) {
            for (Point point : points.values()) {
                child.awaitLine(CrashPoint.lineOf(point.name()), DEADLINE);
            }
            child.kill();
            assertThat(child.lines()).noneMatch(line -> line.startsWith("went on"));
        }
    }

    private static long charges(FakeProvider provider, String order) {
        return provider.charged().stream()
                .filter(key -> key.equals("charge:t42:" + order + ":r1"))
                .count();
    }

    /** As somebody who comes later does: when the lease is over, which is no longer than it was given for. */
    private static void finish(FakeProvider provider, String order) throws InterruptedException {
        assertThat(database.queryLong(
                        "select coalesce(max((extract(epoch from leased_until - clock_timestamp()) * 1000)::bigint), 0)"
                                + " from postroom.external_call where business_id = '" + order + "'"))
                .isLessThanOrEqualTo(ExternalCallMain.LEASE.toMillis());
        long deadline = System.nanoTime() + DEADLINE.toNanos();
        while (!ExternalCallMain.charge(database.postroom(), provider.url(), order, null)
                && call(order).state() == CallState.CALLING) {
            assertThat(System.nanoTime() - deadline).as("still not").isNegative();
            LockSupport.parkNanos(20_000_000);
        }
        assertThat(call(order).state()).isEqualTo(CallState.DONE);
        assertThat(charges(provider, order)).isEqualTo(1);
        assertThat(count("paid", order))
                .as("what follows from it happened once")
                .isEqualTo(1);
    }

    private static String order(Point point) {
        return "order-" + point;
    }

    private static ExternalCall call(String order) {
        return database.postroom()
                .externalCalls()
                .find("charge:t42:" + order + ":r1")
                .orElseThrow();
    }

    private static ChildJvm start(FakeProvider provider, String order, Point point) {
        return start(provider, Map.of(order, point));
    }

    private static ChildJvm start(FakeProvider provider, Map<String, Point> points) {
        List<String> arguments = new ArrayList<>(List.of(database.url(), provider.url()));
        points.forEach((order, point) -> arguments.addAll(List.of(order, point.name())));
        return ChildJvm.start(ExternalCallMain.class, List.of("-Xmx96m"), arguments.toArray(String[]::new));
    }

    private static long count(String table, String order) {
        return database.queryLong("select count(*) from " + table + " where business_id = '" + order + "'");
    }

    private static void kill(ChildJvm child) {
        try {
            child.kill();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
