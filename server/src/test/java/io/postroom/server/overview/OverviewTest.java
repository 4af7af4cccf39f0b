package io.postroom.server.overview;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.subscription.PutAside;
import io.postroom.subscription.SubscriptionState;
import io.postroom.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

class OverviewTest {
    private static final Instant BEGIN = Instant.parse("2026-11-16T12:00:00Z");

    /** After n samples: the journal's end and where a slow and a fast subscription are. */
    private static Sample sample(int n, long head, long slow, long fast) {
        return new Sample(
                BEGIN.plusSeconds(5L * n),
                head,
                List.of(state("slow", head, slow), state("fast", head, fast)),
                n == 0 ? List.of() : List.of(took(2, 500), took(4, 480), took(900, 20)),
                new Footing(1, 7, Duration.ZERO, null, null, 0),
                Work.FINE);
    }

    private static Delay took(int millis, int messages) {
        return new Delay(Duration.ofMillis(millis), messages);
    }

    private static SubscriptionState state(String name, long head, long position) {
        return state(name, position, head - position, Duration.ofSeconds(1));
    }

    private static SubscriptionState late(long messages, Duration lag) {
        return state("late", 1, messages, lag);
    }

    private static SubscriptionState state(String name, long position, long behind, Duration lag) {
        return state(name, position, behind, lag, PutAside.NOTHING);
    }

    private static SubscriptionState state(String name, long position, long behind, Duration lag, PutAside putAside) {
        return new SubscriptionState(
                name,
                1,
                null,
                1,
                "key",
                null,
                null,
                null,
                "continue",
                "quick",
                BEGIN,
                position,
                behind,
                lag,
                null,
                null,
                0,
                0,
                putAside,
                null,
                null,
                0,
                null,
                false,
                "postgres");
    }

    private static Overview overview(Sample sample, List<Sample> history) {
        return Overview.of(sample, history.stream().map(Moment::of).toList());
    }

    @Test
    void measuresWhatComesInAgainstTheSlowestThatGoesOut() {
        List<Sample> history = List.of(sample(0, 100_000, 0, 100_000), sample(1, 100_500, 5_500, 100_500));
        Overview overview = overview(history.get(1), history);
        assertThat(overview.published()).isEqualTo(100);
        assertThat(overview.delivered()).isEqualTo(100);
        history = List.of(sample(0, 100_000, 0, 100_000), sample(1, 100_500, 50_500, 100_500));
        overview = overview(history.get(1), history);
        assertThat(overview.delivered()).isEqualTo(100);
        assertThat(overview.slowest()).isEqualTo("fast");
    }

    @Test
    void forecastsWhenABacklogIsGone() {
        Sample before = sample(0, 100_000, 0, 0);
        Sample now = sample(1, 100_500, 50_000, 50_000);
        Overview overview = overview(now, List.of(before, now));
        // 50 500 behind, 10 000/s out, 100/s in.
        assertThat(overview.drained()).isCloseTo(Duration.ofMillis(5_101), Duration.ofMillis(1));
        assertThat(overview(before, List.of(now, before)).drained()).isNull();
    }

    @Test
    void forecastsABacklogThatGrowsAndDrawsIt() {
        List<Sample> history = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            history.add(sample(i, 1_000 + 500L * i, 500, 1_000 + 500L * i));
        }
        Overview overview = overview(history.get(9), history);
        assertThat(overview.forecast()).isEqualTo("grows by 100/s, twice as much in 50s");
        assertThat(overview.drained()).isNull();
        Chart backlog = overview.charts().get(1);
        assertThat(backlog.ahead()).startsWith("M").contains(" L");
        assertThat(backlog.end()).isEqualTo("in 1 min 40 s");
        assertThat(backlog.described()).endsWith("; grows by 100/s, twice as much in 50s");
    }

    @Test
    void whatWaitsCountsAsLongAsItHasWaited() {
        // A thousand went through at once; as many of another wait, the oldest for seven minutes.
        Sample still = new Sample(
                BEGIN,
                2_000,
                List.of(late(1_000, Duration.ofMinutes(7))),
                List.of(took(5, 1_000)),
                new Footing(1, 7, Duration.ZERO, null, null, 0),
                Work.FINE);
        Delay.Percentiles taken = still.commitToDelivery();
        assertThat(taken).isNotNull();
        assertThat(taken.p50()).isEqualTo(Duration.ofMillis(5));
        assertThat(taken.p99()).isEqualTo(Duration.ofMinutes(7));
        Sample idle = new Sample(
                BEGIN, 2_000, List.of(), List.of(), new Footing(1, 7, Duration.ZERO, null, null, 0), Work.FINE);
        assertThat(idle.commitToDelivery()).as("nothing was delivered").isNull();
    }

    @Test
    void aChartHasAPointForEveryTimeAndLosesNoPeak() {
        List<Sample> history = new ArrayList<>();
        for (int i = 0; i < 720; i++) {
            history.add(sample(i, 1_000 + i, i == 333 ? 0 : 1_000 + i, 1_000 + i));
        }
        Chart backlog = overview(history.get(719), history).charts().get(1);
        assertThat(List.of(backlog.top(), backlog.half(), backlog.zero())).containsExactly("2000", "1000", "0");
        assertThat(backlog.described())
                .isEqualTo("Backlog from 1 h ago to now: slowest subscription now 0 messages, at most 1333 messages");
        assertThat(backlog.span()).isEqualTo("1 h ago");
        assertThat(backlog.readings().split(";")).hasSizeBetween(100, 122);
        assertThat(backlog.readings()).contains("1333 messages");
        assertThat(backlog.lines().get(0).path()).startsWith("M").doesNotContain("NaN");
    }

    @Test
    void aChartReadsAllLinesAtTheSameTimeAndHasGapsWhereNobodyLooked() {
        List<Sample> history = new ArrayList<>();
        for (int i = 0; i < 720; i++) {
            if (i < 300 || i > 400) {
                history.add(sample(i, 1_000 + 10L * i, 1_000 + 10L * i, 1_000 + 10L * i));
            }
        }
        Chart flow = overview(history.get(history.size() - 1), history).charts().get(0);
        assertThat(flow.lines())
                .allSatisfy(line -> assertThat(line.path().split("M")).hasSize(3));
        assertThat(flow.readings().split(";"))
                .allSatisfy(row -> assertThat(row.split("\\|")[2]).isEqualTo(row.split("\\|")[3]));
        // Delays begin with the second sample, backlogs with the first.
        Chart delays = overview(history.get(0), List.of(history.get(0), history.get(1)))
                .charts()
                .get(3);
        assertThat(delays.readings().split(";")).hasSize(1);
    }

    @Test
    void oneSampleIsNoLineYet() {
        Sample only = sample(0, 5, 5, 5);
        Overview overview = overview(only, List.of(only));
        assertThat(overview.published()).isZero();
        assertThat(overview.charts()).allMatch(Chart::isEmpty);
    }

    @Test
    void theChartsBeginBeforeTheProcessDid() {
        try (TestDatabase database = TestDatabase.create()) {
            // Two messages a second for twenty minutes; billing is delivered a minute late, and one of its lanes had
            // nothing to do.
            database.execute(
                    "update postroom.tick set at = now() - interval '20 minutes' where position = 0",
                    "insert into postroom.subscription (name, lanes) values ('billing', 2)",
                    "insert into postroom.tick (position, snapshot, seq, day, at) select n * 2, pg_current_snapshot(), n, current_date,"
                            + " now() - interval '20 minutes' + n * interval '1 second' from generate_series(1, 1199) as n",
                    "insert into postroom.settlement (subscription, lane, position, node, at) select 'billing', 0, n * 2, 'relay', now() -"
                            + " interval '19 minutes' + n * interval '1 second' from generate_series(1, 1139) as n",
                    "insert into postroom.lane (subscription, lane, position) values ('billing', 0, 2278), ('billing', 1, 2398)");
            try (Sampler sampler = new Sampler(database.postroom())) {
                sampler.look();
                List<Moment> history = sampler.history();
                assertThat(history).hasSizeBetween(38, 43);
                Moment middle = history.get(20);
                assertThat(middle.backlog()).isBetween(110L, 130L);
                assertThat(middle.lag()).isBetween(Duration.ofSeconds(58), Duration.ofSeconds(61));
                assertThat(middle.commitToDelivery()).isNotNull();
                assertThat(middle.commitToDelivery().p99()).isBetween(Duration.ofSeconds(59), Duration.ofSeconds(61));
                assertThat(Overview.rate(
                                history.get(19), middle, history.get(19).position(), middle.position()))
                        .isBetween(1.9, 2.1);
                assertThat(Overview.rate(
                                history.get(19),
                                middle,
                                history.get(19).positions().get("billing"),
                                middle.positions().get("billing")))
                        .isBetween(1.9, 2.1);
                assertThat(history.get(0).positions())
                        .as("nobody knows where it stood then")
                        .isEmpty();
                assertThat(history.get(0).lag()).as("nor how far behind").isNull();
                assertThat(sampler.walPerMessage()).isNull();
                Overview overview = Overview.of(sampler.newest().orElseThrow(), history);
                assertThat(overview.charts()).noneMatch(Chart::isEmpty);
            }
        }
    }

    @Test
    void whatWasPutAsideAndStillWaitsHasWaitedBeforeTheProcessBeganToo() {
        PutAside waiting = new PutAside(1, 0, 0, 0, Duration.ofMinutes(10));
        Sample now = new Sample(
                BEGIN,
                5,
                List.of(state("billing", 5, 0, Duration.ZERO, waiting)),
                List.of(),
                new Footing(1, 7, Duration.ZERO, null, null, 0),
                Work.FINE);
        Instant begin = BEGIN.minus(Duration.ofMinutes(20));
        List<Moment> moments = Past.of(
                        List.of(
                                new Past.Reached(null, 0, 5, begin, null),
                                new Past.Reached("billing", 0, 5, null, null)),
                        now)
                .moments(Map.of(), Map.of());
        assertThat(moments).hasSize(40);
        assertThat(moments.get(19).lag()).isZero();
        assertThat(moments.get(22).lag()).isEqualTo(Duration.ofMinutes(1));
        assertThat(moments.get(39).lag()).isEqualTo(Duration.ofSeconds(570));
    }

    /** A statement that takes too long takes no chart along that it is not for. */
    @Test
    void withoutStampsThePastHasNoLagAndEverythingElse() {
        try (TestDatabase database = TestDatabase.create()) {
            database.execute(
                    "update postroom.tick set at = now() - interval '20 minutes' where position = 0",
                    "insert into postroom.subscription (name, lanes) values ('billing', 1)",
                    "insert into postroom.tick (position, snapshot, seq, day, at) select n, pg_current_snapshot(), n, current_date,"
                            + " now() - interval '20 minutes' + n * interval '1 second' from generate_series(1, 1199) as n",
                    "insert into postroom.settlement (subscription, lane, position, node, at) select 'billing', 0, n, 'relay', now() -"
                            + " interval '20 minutes' + n * interval '1 second' + interval '20 milliseconds' from generate_series(1, 600) as n",
                    "insert into postroom.lane (subscription, lane, position) values ('billing', 0, 600)",
                    // Only the positions of stamps are asked for in an array of numbers.
                    "create function public.unnest(bigint[]) returns setof bigint language plpgsql as $$begin raise query_canceled; end$$");
            try (Sampler sampler = new Sampler(database.postroom())) {
                sampler.look();
                List<Moment> history = sampler.history();
                assertThat(history).hasSizeGreaterThan(30);
                Moment stuck = history.get(history.size() - 2);
                assertThat(stuck.backlog()).isGreaterThan(400);
                assertThat(stuck.lag()).as("unknown, which is not zero").isNull();
                assertThat(stuck.commitToDelivery()).isNull();
                assertThat(history.get(10).commitToDelivery()).isNotNull();
                assertThat(sampler.problem()).isNull();
            }
        }
    }

    @Test
    void theChartsTellOfAnHourInWhichNobodyDelivered() {
        try (TestDatabase database = TestDatabase.create()) {
            // A message a second; billing has stood still for ten minutes, and audit keeps up.
            database.execute(
                    "update postroom.tick set at = now() - interval '20 minutes' where position = 0",
                    "insert into postroom.subscription (name, lanes) values ('billing', 1), ('audit', 1)",
                    "insert into postroom.tick (position, snapshot, seq, day, at) select n, pg_current_snapshot(), n, current_date,"
                            + " now() - interval '20 minutes' + n * interval '1 second' from generate_series(1, 1199) as n",
                    "insert into postroom.settlement (subscription, lane, position, node, at) select name, 0, n, 'relay', now() -"
                            + " interval '20 minutes' + n * interval '1 second' + interval '20 milliseconds' from (values ('billing', 600),"
                            + " ('audit', 1199)) as s (name, last), generate_series(1, last) as n",
                    "insert into postroom.lane (subscription, lane, position) values ('billing', 0, 600), ('audit', 0, 1199)");
            try (Sampler sampler = new Sampler(database.postroom())) {
                sampler.look();
                List<Moment> history = sampler.history();
                Moment well = history.get(10);
                assertThat(well.lag())
                        .as("what is settled every second is on its way")
                        .isZero();
                assertThat(well.commitToDelivery()).isNotNull();
                assertThat(well.commitToDelivery().p99()).isLessThan(Duration.ofMillis(50));
                Moment stuck = history.get(history.size() - 2);
                Duration standing =
                        Duration.between(history.get(0).at(), stuck.at()).minusMinutes(10);
                assertThat(stuck.lag()).isCloseTo(standing, Duration.ofSeconds(32));
                assertThat(stuck.commitToDelivery()).isNotNull();
                assertThat(stuck.commitToDelivery().p99()).isGreaterThan(Duration.ofMinutes(8));
                assertThat(stuck.commitToDelivery().p50()).isLessThan(Duration.ofMinutes(8));
            }
        }
    }

    /** Somebody opens the console while the sampler looks for the first time. */
    @Test
    void twoWhoLookFirstAtOnceRememberThePastOnce() throws Exception {
        try (TestDatabase database = TestDatabase.create();
                Sampler sampler = new Sampler(database.postroom())) {
            database.execute(
                    "insert into postroom.tick (position, snapshot, seq, day, at) select n, pg_current_snapshot(), n, current_date,"
                            + " now() - interval '20 minutes' + n * interval '1 second' from generate_series(1, 1199) as n");
            List<Thread> both = List.of(new Thread(sampler::newest), new Thread(sampler::newest));
            try (Connection tx = database.begin();
                    Statement statement = tx.createStatement()) {
                statement.execute("lock table postroom.job_queue in access exclusive mode");
                both.forEach(Thread::start);
                long deadline = System.nanoTime() + Duration.ofSeconds(20).toNanos();
                while (asking(database) + waiting(both) < 2) {
                    assertThat(System.nanoTime() - deadline).as("still not").isNegative();
                    LockSupport.parkNanos(1_000_000);
                }
                assertThat(asking(database))
                        .as("who ask the database, while the other waits")
                        .isEqualTo(1);
                tx.rollback();
            }
            for (Thread each : both) {
                each.join();
            }
            assertThat(sampler.history())
                    .hasSizeGreaterThan(30)
                    .extracting(Moment::at)
                    .isSorted()
                    .doesNotHaveDuplicates();
        }
    }

    private static long asking(TestDatabase database) {
        return database.queryLong("select count(*) from pg_stat_activity where wait_event_type = 'Lock' and datname ="
                + " current_database()");
    }

    private static long waiting(List<Thread> threads) {
        return threads.stream()
                .filter(each -> each.getState() == Thread.State.BLOCKED)
                .count();
    }
}
