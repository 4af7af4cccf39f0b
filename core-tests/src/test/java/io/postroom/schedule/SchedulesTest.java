package io.postroom.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.postroom.Postroom;
import io.postroom.job.Enqueued;
import io.postroom.job.Job;
import io.postroom.telemetry.Telemetry;
import io.postroom.testkit.CrashPoint;
import io.postroom.testkit.CrashingDataSource;
import io.postroom.testkit.TestDatabase;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Schedules in the database: who fires, when, and what becomes of times that nobody saw. */
class SchedulesTest {
    private static final int MISSED = Boolean.getBoolean("postroom.long") ? 20_000 : 200;

    private static TestDatabase database;
    private static Postroom postroom;
    private static Schedules schedules;

    private final Job job =
            Job.of("report", "{\"of\":\"sales\"}").queue("reports").build();

    @BeforeAll
    static void open() {
        database = TestDatabase.create();
        postroom = database.postroom();
        schedules = postroom.schedules();
    }

    @AfterAll
    static void close() {
        database.close();
    }

    @BeforeEach
    void clear() {
        database.execute(
                "truncate postroom.schedule, postroom.schedule_run, postroom.job, postroom.job_done, postroom.audit");
    }

    private static void put(Schedule schedule, Instant now) {
        postroom.database().transact(tx -> schedules.put(tx, schedule, now));
    }

    private static List<Instant> fired(String name) {
        List<Instant> times = new ArrayList<>(schedules.runs(name, 1_000).stream()
                .filter(run -> !run.skipped())
                .map(ScheduleRun::fireAt)
                .toList());
        times.sort(null);
        return times;
    }

    private static void await(String what, java.util.function.BooleanSupplier condition) {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).as(what).isLessThan(deadline);
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
        }
    }

    @Test
    void eachTimeFiresOnceHoweverManyNodesLookAtOnce() throws Exception {
        Instant now = Instant.now().truncatedTo(ChronoUnit.SECONDS);
        put(
                Schedule.of("each", FixedRate.every(Duration.ofSeconds(1)), job).missed(Missed.ALL),
                now.minusSeconds(MISSED + 1));
        ExecutorService nodes = Executors.newFixedThreadPool(3);
        try {
            List<Callable<Integer>> work = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                Schedules node = Postroom.on(database.dataSource()).schedules();
                work.add(() -> {
                    int fired = 0;
                    while (node.get("each").nextAt().isBefore(now)) {
                        fired += node.runOnce();
                    }
                    return fired;
                });
            }
            int fired = 0;
            for (Future<Integer> node : nodes.invokeAll(work)) {
                fired += node.get();
            }
            assertThat(fired).isGreaterThanOrEqualTo(MISSED);
            assertThat(database.queryLong("select count(*) from postroom.job")).isEqualTo(fired);
            assertThat(database.queryLong("select count(*) from postroom.schedule_run"))
                    .isEqualTo(fired);
            assertThat(database.queryLong("select count(distinct headers ->> 'fire-at') from postroom.job"))
                    .isEqualTo(fired);
            assertThat(database.queryLong("select count(*) from postroom.schedule_run where at < fire_at"))
                    .as("none is early")
                    .isZero();
        } finally {
            nodes.shutdownNow();
        }
    }

    @Test
    void aNodeThatFreezesWhileItFiresDoesNotKeepOthersFromIt() {
        putEverySecond(20);
        freeze(text -> text.contains("order by s.next_at") && text.contains("skip locked"));
        await("another node fires them all", () -> {
            schedules.runOnce();
            return database.queryLong("select count(distinct schedule) from postroom.schedule_run") == 20;
        });
    }

    /** One that cannot fire makes a node fire one by one. */
    @Test
    void norDoesOneThatFreezesWhileItFiresThemOneByOne() {
        putEverySecond(2);
        put(
                Schedule.of("bad", Cron.parse("* * * * *", "UTC"), job),
                Instant.now().minusSeconds(90));
        database.execute("update postroom.schedule set cron = 'never' where name = 'bad'");
        freeze(text -> text.contains("select true") && text.contains("schedule\nwhere name"));
        await("another node fires them all", () -> {
            schedules.runOnce();
            return database.queryLong("select count(distinct schedule) from postroom.schedule_run") == 2;
        });
    }

    private void putEverySecond(int count) {
        for (int i = 0; i < count; i++) {
            put(
                    Schedule.of("every-" + i, FixedRate.every(Duration.ofSeconds(1)), job),
                    Instant.now().minusSeconds(2));
        }
    }

    /** Lets a node stand still, with its transaction open, after the statement. */
    private static void freeze(Predicate<String> statement) {
        CrashPoint frozen = CrashPoint.hold("frozen", 1);
        Schedules node = Postroom.on(new CrashingDataSource(database.dataSource()).after(statement, frozen))
                .schedules();
        Thread thread = new Thread(node::runOnce, "frozen");
        thread.setDaemon(true);
        thread.start();
        await("the node is frozen", () -> frozen.times() > 0);
    }

    @Test
    void nodesThatRunFireOnTimeAndNeverEarlyOrTwice() {
        List<Scheduler> nodes = new ArrayList<>();
        postroom.database()
                .transact(tx -> schedules.put(tx, Schedule.of("tick", FixedRate.every(Duration.ofSeconds(1)), job)));
        for (int i = 0; i < 3; i++) {
            nodes.add(Postroom.on(database.dataSource()).schedules().start());
        }
        try {
            await("three times", () -> fired("tick").size() >= 3);
        } finally {
            nodes.forEach(Scheduler::close);
        }
        assertThat(fired("tick"))
                .as("no time is left out")
                .isEqualTo(FixedRate.every(Duration.ofSeconds(1))
                        .next(
                                fired("tick").get(0).minusNanos(1_000),
                                fired("tick").size()));
        assertThat(database.queryLong("select coalesce(max(extract(epoch from at - fire_at) * 1000), 0)::bigint"
                        + " from postroom.schedule_run"))
                .as("milliseconds; nodes look four times a second")
                .isLessThan(3_000);
        long runs = database.queryLong("select count(*) from postroom.schedule_run");
        assertThat(database.queryLong("select count(*) from postroom.job")).isEqualTo(runs);
        assertThat(database.queryLong(
                        "select count(*) from postroom.schedule_run r join postroom.job j on j.id = r.job_id"
                                + " where j.created_at < r.fire_at"))
                .isZero();
    }

    @Test
    void missedTimesAreSkippedFiredOnceOrAllFired() {
        Instant begin = Instant.parse("2026-05-01T00:00:00Z");
        Instant late = Instant.parse("2026-05-01T05:30:00Z");
        Cron hourly = Cron.parse("0 * * * *", "UTC");
        for (Missed missed : Missed.values()) {
            put(Schedule.of(missed.word(), hourly, job).missed(missed), begin);
        }
        assertThat(schedules.runOnce(late)).isEqualTo(6);
        assertThat(fired("skip")).isEmpty();
        assertThat(fired("once")).containsExactly(Instant.parse("2026-05-01T05:00:00Z"));
        assertThat(fired("all")).hasSize(5).endsWith(Instant.parse("2026-05-01T05:00:00Z"));
        for (Missed missed : Missed.values()) {
            assertThat(schedules.get(missed.word()).nextAt()).isEqualTo(Instant.parse("2026-05-01T06:00:00Z"));
        }
        assertThat(schedules.runOnce(late)).as("nothing more").isZero();
        assertThat(schedules.runOnce(Instant.parse("2026-05-01T06:00:59Z")))
                .as("late, but not missed")
                .isEqualTo(3);
    }

    /** A database that fails over, or a node that is paused, for less than a minute costs no time. */
    @Test
    void timesThatAreLessThanAMinuteLateAllFire() {
        Instant begin = Instant.parse("2026-05-01T00:00:00Z");
        put(Schedule.of("tick", FixedRate.every(Duration.ofSeconds(1)), job), begin);
        put(Schedule.of("tock", FixedRate.every(Duration.ofSeconds(10)), job), begin);
        assertThat(schedules.runOnce(begin.plusSeconds(45))).isEqualTo(49);
        assertThat(fired("tick")).hasSize(45).startsWith(begin.plusSeconds(1)).endsWith(begin.plusSeconds(45));
        assertThat(fired("tock")).hasSize(4);
        assertThat(schedules.runOnce(begin.plusSeconds(200)))
                .as("of 155 and 16 those of the last minute")
                .isEqualTo(60 + 6);
        assertThat(fired("tick").subList(45, 105))
                .startsWith(begin.plusSeconds(141))
                .endsWith(begin.plusSeconds(200));
        assertThat(schedules.get("tick").nextAt()).isEqualTo(begin.plusSeconds(201));
    }

    @Test
    void timesThatAreLeftOutAreNotedAndCounted() {
        Map<String, Long> told = new ConcurrentHashMap<>();
        Schedules node = Postroom.builder(database.dataSource())
                .telemetry(new Telemetry() {
                    @Override
                    public void timesMissed(String schedule, long times) {
                        told.merge(schedule, times, Long::sum);
                    }
                })
                .build()
                .schedules();
        Instant begin = Instant.parse("2026-05-01T00:00:00Z");
        Cron nightly = Cron.parse("30 2 * * *", "UTC");
        Instant night = Instant.parse("2026-05-01T02:30:00Z");
        put(Schedule.of("nightly", nightly, job), begin);
        put(Schedule.of("once", Cron.parse("0 * * * *", "UTC"), job).missed(Missed.ONCE), begin);
        put(Schedule.of("second", FixedRate.every(Duration.ofSeconds(1)), job), begin);
        assertThat(node.runOnce(night.plusSeconds(61))).isEqualTo(1 + 60);
        assertThat(schedules.runs("nightly", 10)).singleElement().satisfies(run -> {
            assertThat(run.fireAt()).isEqualTo(night);
            assertThat(run.jobId()).isNull();
            assertThat(run.skipped()).isTrue();
            assertThat(run.missed()).isEqualTo(1);
        });
        assertThat(schedules.runs("once", 10))
                .extracting(ScheduleRun::fireAt, ScheduleRun::missed)
                .containsExactly(
                        tuple(Instant.parse("2026-05-01T02:00:00Z"), 0L),
                        tuple(Instant.parse("2026-05-01T01:00:00Z"), 1L));
        assertThat(told).containsOnly(Map.entry("nightly", 1L), Map.entry("once", 1L), Map.entry("second", 9_001L));
        assertThat(node.runOnce(night.plusSeconds(61))).as("nothing more").isZero();
    }

    /** As at midnight: more than one look finds, three nodes, and each of them does a part. */
    @Test
    void manySchedulesOfOneTimeAreSharedByNodesAndFireAtOnce() throws Exception {
        int many = 20 * Firing.DUE_MAX;
        Instant begin = Instant.parse("2026-05-01T00:00:30Z");
        put(Schedule.of("s", Cron.parse("* * * * *", "UTC"), job), begin);
        database.execute("""
                insert into postroom.schedule (name, cron, zone, missed, overlap, kind, queue, priority, payload, next_at)
                select 's-' || n, cron, zone, missed, overlap, kind, queue, priority, payload, next_at
                from postroom.schedule, generate_series(1, %d) as n""".formatted(many - 1));
        ExecutorService nodes = Executors.newFixedThreadPool(3);
        try {
            List<Callable<Integer>> work = new ArrayList<>();
            CyclicBarrier together = new CyclicBarrier(3);
            for (int i = 0; i < 3; i++) {
                Schedules node = Postroom.on(database.dataSource()).schedules();
                work.add(() -> {
                    node.runOnce(begin);
                    together.await(60, TimeUnit.SECONDS);
                    return node.runOnce(begin.plusSeconds(40));
                });
            }
            List<Integer> fired = new ArrayList<>();
            for (Future<Integer> node : nodes.invokeAll(work)) {
                fired.add(node.get());
            }
            assertThat(fired.stream().mapToInt(Integer::intValue).sum())
                    .as("one look after the other: all fire")
                    .isEqualTo(many);
            assertThat(fired)
                    .as("each does a part of it")
                    .allSatisfy(part -> assertThat(part).isGreaterThanOrEqualTo(Firing.DUE_MAX));
        } finally {
            nodes.shutdownNow();
        }
    }

    /** Two nights in Berlin, one look in half an hour. */
    @Test
    void aTimeOfDayFiresOnceOnEachDayWhenClocksChange() {
        Instant time = Instant.parse("2026-03-27T12:00:00Z");
        put(Schedule.of("night", Cron.parse("30 2 * * *", "Europe/Berlin"), job), time);
        for (int looks = 0; looks < 100; looks++) {
            time = time.plus(30, ChronoUnit.MINUTES);
            schedules.runOnce(time);
        }
        assertThat(fired("night"))
                .as("02:30 does not exist on the 29th")
                .containsExactly(Instant.parse("2026-03-28T01:30:00Z"), Instant.parse("2026-03-29T01:00:00Z"));
        clear();
        time = Instant.parse("2026-10-24T12:00:00Z");
        put(Schedule.of("night", Cron.parse("30 2 * * *", "Europe/Berlin"), job), time);
        for (int looks = 0; looks < 100; looks++) {
            time = time.plus(30, ChronoUnit.MINUTES);
            schedules.runOnce(time);
        }
        assertThat(fired("night"))
                .as("02:30 comes twice on the 25th")
                .containsExactly(Instant.parse("2026-10-25T00:30:00Z"), Instant.parse("2026-10-26T01:30:00Z"));
    }

    @Test
    void aDelayBeginsWhenTheJobBeforeHasEnded() {
        put(Schedule.withDelay("after", Duration.ofHours(1), job), Instant.now().minus(2, ChronoUnit.HOURS));
        assertThat(schedules.runOnce()).isEqualTo(1);
        assertThat(schedules.get("after").nextAt()).isNull();
        assertThat(schedules.runOnce()).as("its job has not ended").isZero();
        long id = schedules.get("after").lastJob();
        postroom.jobBoard().cancel(id, "ann", "enough");
        assertThat(schedules.runOnce()).isZero();
        Instant ended = postroom.jobBoard().find(id).orElseThrow().endedAt();
        assertThat(schedules.get("after").nextAt()).isEqualTo(ended.plus(1, ChronoUnit.HOURS));
    }

    @Test
    void withoutOverlapATimeIsLeftOutWhileTheJobBeforeHasNotEnded() {
        Instant begin = Instant.parse("2026-05-01T00:00:30Z");
        put(Schedule.of("alone", Cron.parse("* * * * *", "UTC"), job).withoutOverlap(), begin);
        assertThat(schedules.runOnce(begin.plusSeconds(60))).isEqualTo(1);
        assertThat(schedules.runOnce(begin.plusSeconds(120))).isZero();
        assertThat(schedules.runs("alone", 10)).extracting(ScheduleRun::skipped).containsExactly(true, false);
        postroom.jobBoard().cancel(schedules.get("alone").lastJob(), "ann", "enough");
        assertThat(schedules.runOnce(begin.plusSeconds(180))).isEqualTo(1);
    }

    @Test
    void operatorsPauseRunAndLookAhead() {
        Cron cron = Cron.parse("0 6 * * MON", "Europe/Berlin");
        postroom.database().transact(tx -> schedules.put(tx, Schedule.of("weekly", cron, job)));
        List<Instant> next = schedules.next("weekly", 3);
        assertThat(next).isEqualTo(cron.next(Instant.now(), 3));
        assertThat(schedules.pause("weekly", "ann", "holidays")).isTrue();
        assertThat(schedules.pause("weekly", "ann", "holidays")).isFalse();
        assertThat(schedules.runOnce(next.get(2))).isZero();
        Enqueued now = schedules.runNow("weekly", "ann", "the boss asked");
        assertThat(postroom.jobBoard().find(now.id()).orElseThrow())
                .satisfies(found -> assertThat(found.payload()).isEqualTo("{\"of\":\"sales\"}"))
                .satisfies(found -> assertThat(found.headers()).containsEntry("schedule", "weekly"));
        assertThat(schedules.resume("weekly", "ann", "back")).isTrue();
        assertThat(schedules.next("weekly", 1)).isEqualTo(next.subList(0, 1));
        assertThat(database.queryLong("select count(*) from postroom.audit")).isEqualTo(3);
        assertThatThrownBy(() -> schedules.pause("weakly", "ann", "?"))
                .hasMessageContaining("there is none of this name")
                .hasMessageContaining("weekly");
    }

    @Test
    void declaringTheSameAgainChangesNothingAndAnotherTimeMovesTheNext() {
        Schedule hourly = Schedule.of("a", Cron.parse("0 * * * *", "UTC"), job);
        Instant early = Instant.parse("2026-05-01T00:30:00Z");
        put(hourly, early);
        assertThat(postroom.database().<Boolean>transact(tx -> schedules.put(tx, hourly)))
                .isFalse();
        assertThat(schedules.get("a").nextAt()).as("still due").isEqualTo(Instant.parse("2026-05-01T01:00:00Z"));
        put(Schedule.of("a", Cron.parse("15 * * * *", "UTC"), job), early);
        assertThat(schedules.get("a").nextAt()).isEqualTo(Instant.parse("2026-05-01T01:15:00Z"));
        assertThatThrownBy(() -> Schedule.of(
                        "A",
                        FixedRate.every(Duration.ofSeconds(1)),
                        Job.of("k", "{}").unique("u").build()))
                .hasMessageContaining("its name must be")
                .hasMessageContaining("unique key");
        assertThatThrownBy(() -> put(Schedule.withDelay("b", Duration.ZERO, job), early))
                .hasMessageContaining("delay is PT0S");
    }

    /** A newer JDK knows more zones. */
    @Test
    void aScheduleThatThisNodeCannotReadKeepsNoOtherFromFiringAndCanBePaused() {
        Instant begin = Instant.parse("2026-05-01T00:00:30Z");
        Cron minutely = Cron.parse("* * * * *", "UTC");
        put(Schedule.of("far", minutely, job), begin);
        put(Schedule.of("near", minutely, job), begin);
        database.execute("update postroom.schedule set zone = 'Mars/Olympus' where name = 'far'");
        assertThat(schedules.runOnce(begin.plusSeconds(60))).isEqualTo(1);
        assertThat(fired("near")).hasSize(1);
        assertThat(schedules.list()).extracting(each -> each.schedule().name()).containsExactly("far", "near");
        assertThat(schedules.get("far").schedule().describe()).contains("cannot read", "Mars/Olympus");
        assertThat(schedules.next("far", 3)).hasSize(1);
        assertThat(schedules.pause("far", "ann", "not here")).isTrue();
    }

    /** As a later release may allow them. */
    @Test
    void norDoesOneWithARateADelayOrAWordThatThisNodeDoesNotKnow() {
        Instant begin = Instant.parse("2026-05-01T00:00:30Z");
        put(Schedule.of("rate", FixedRate.every(Duration.ofMinutes(1)), job), begin);
        put(Schedule.of("word", FixedRate.every(Duration.ofMinutes(1)), job), begin);
        put(Schedule.withDelay("delay", Duration.ofMinutes(1), job), begin);
        put(Schedule.of("good", Cron.parse("* * * * *", "UTC"), job), begin);
        database.execute(
                "alter table postroom.schedule drop constraint schedule_period, drop constraint schedule_missed",
                "update postroom.schedule set rate = '1 ms' where name = 'rate'",
                "update postroom.schedule set delay = '2 years' where name = 'delay'",
                "update postroom.schedule set missed = 'half' where name = 'word'");
        try {
            assertThat(schedules.runOnce(begin.plusSeconds(90))).isEqualTo(1);
            assertThat(fired("good")).hasSize(1);
            assertThat(schedules.list())
                    .extracting(each -> each.schedule().name())
                    .containsExactly("delay", "good", "rate", "word");
            assertThat(schedules.get("rate").schedule().describe()).contains("cannot read", "PT0.001S");
            assertThat(schedules.get("word").schedule().describe()).contains("cannot read", "half");
        } finally {
            database.execute(
                    "delete from postroom.schedule",
                    "alter table postroom.schedule add constraint schedule_missed check (missed in ('skip', 'once', 'all')),"
                            + " add constraint schedule_period"
                            + " check (coalesce(rate, delay) between interval '1 s' and interval '366 days')");
        }
    }

    @Test
    void aListIsReadInPages() {
        Instant begin = Instant.parse("2026-05-01T00:00:30Z");
        for (String name : List.of("c", "a", "b")) {
            put(Schedule.of(name, Cron.parse("* * * * *", "UTC"), job), begin);
        }
        assertThat(schedules.list(null, 2))
                .extracting(each -> each.schedule().name())
                .containsExactly("a", "b");
        assertThat(schedules.list("b", 2))
                .extracting(each -> each.schedule().name())
                .containsExactly("c");
        assertThatThrownBy(() -> schedules.list(null, 0)).hasMessageContaining("0 schedules, the range is 1 to 10000");
    }

    @Test
    void schedulesThatCannotFireDoNotStarveTheOthers() {
        Instant begin = Instant.parse("2026-05-01T00:00:30Z");
        put(Schedule.of("broken", Cron.parse("* * * * *", "UTC"), job), begin);
        put(Schedule.of("good", Cron.parse("* * * * *", "UTC"), job), begin.plusSeconds(60));
        database.execute("update postroom.schedule set zone = 'Mars/Olympus' where name = 'broken'", """
                insert into postroom.schedule (name, cron, zone, missed, overlap, kind, queue, priority, payload, next_at)
                select 'broken-' || n, cron, zone, missed, overlap, kind, queue, priority, payload, next_at
                from postroom.schedule, generate_series(1, 120) as n
                where name = 'broken'""");
        Instant now = begin.plusSeconds(120);
        assertThat(schedules.runOnce(now) + schedules.runOnce(now)).isEqualTo(1);
        assertThat(fired("good")).hasSize(1);
    }

    @Test
    void aJobThatCouldNotBeEnqueuedIsRefusedWhenItIsDeclared() {
        Job.Builder full = Job.of("report", "{}");
        for (int i = 0; i < 63; i++) {
            full.header("h" + i, "v");
        }
        Schedule schedule = Schedule.of("full", Cron.parse("* * * * *", "UTC"), full.build());
        assertThatThrownBy(() -> postroom.database().transact(tx -> schedules.put(tx, schedule)))
                .hasMessageContaining("headers");
    }

    @Test
    void anotherDelayBeginsWhenTheJobBeforeHasEndedToo() {
        put(Schedule.withDelay("after", Duration.ofHours(1), job), Instant.now().minus(2, ChronoUnit.HOURS));
        assertThat(schedules.runOnce()).isEqualTo(1);
        put(
                Schedule.withDelay("after", Duration.ofMinutes(5), job),
                Instant.now().minus(2, ChronoUnit.HOURS));
        assertThat(schedules.get("after").nextAt()).isNull();
        assertThat(schedules.runOnce()).isZero();
    }
}
