package io.postroom.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.postroom.testkit.ChildJvm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Three nodes whose clocks are an hour off, in both directions, work as if they were right: time is the database's. */
class SkewedClockTest {
    /** Adds to the time of day, and to nothing else: waits are measured by another clock. */
    private static final String SHIM = """
            #define _GNU_SOURCE
            #include <stdlib.h>
            #include <sys/syscall.h>
            #include <sys/time.h>
            #include <time.h>
            #include <unistd.h>
            static long offset(void) { const char *text = getenv("CLOCK_OFFSET"); return text ? atol(text) : 0; }
            int clock_gettime(clockid_t id, struct timespec *now) {
                int result = syscall(SYS_clock_gettime, id, now);
                if (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE) now->tv_sec += offset();
                return result;
            }
            int gettimeofday(struct timeval *now, void *zone) {
                struct timespec time;
                clock_gettime(CLOCK_REALTIME, &time);
                now->tv_sec = time.tv_sec;
                now->tv_usec = time.tv_nsec / 1000;
                return 0;
            }
            time_t time(time_t *out) {
                struct timespec now;
                clock_gettime(CLOCK_REALTIME, &now);
                if (out) *out = now.tv_sec;
                return now.tv_sec;
            }
            """;

    private static final int KEYS = 100;

    @TempDir
    static Path directory;

    private static Workshop shop;
    private static final List<ChildJvm> NODES = new ArrayList<>();

    @BeforeAll
    static void start() throws Exception {
        Path library = compile();
        if (library == null) {
            return;
        }
        shop = new Workshop();
        shop.database.execute(
                "create table effect (job bigint, attempt int, worker text, at timestamptz default clock_timestamp())");
        for (int offset : new int[] {-3_600, 0, 3_600}) {
            NODES.add(ChildJvm.start(
                    WorkerMain.class,
                    List.of("-Xmx96m", "-Dorg.slf4j.simpleLogger.defaultLogLevel=info"),
                    Map.of("LD_PRELOAD", library.toString(), "CLOCK_OFFSET", "" + offset),
                    shop.database.url(),
                    "offset" + offset,
                    "3000",
                    "2"));
        }
        for (int i = 0; i < NODES.size(); i++) {
            Instant clock = Instant.parse(
                    NODES.get(i).awaitLine("clock ", Workshop.PATIENCE).substring("clock ".length()));
            assertThat(Duration.between(Instant.now().plusSeconds((i - 1) * 3_600L), clock)
                            .abs())
                    .as("the clock is off by as much as it should be")
                    .isLessThan(Duration.ofMinutes(10));
        }
    }

    @AfterAll
    static void stop() {
        NODES.forEach(ChildJvm::close);
        NODES.clear();
        if (shop != null) {
            shop.close();
        }
    }

    @Test
    void noJobBeginsEarlyAndNobodyIsTakenForDead() {
        assumeTrue(shop != null, "there is no C compiler");
        List<Job> jobs = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            Job.Builder job = Job.of("count", "" + i);
            jobs.add((i % 2 == 0 ? job : job.runAfter(Duration.ofMillis(10L * i))).build());
        }
        List<Long> ids = shop.enqueueAll(jobs);
        long never = shop.enqueue(Job.of("count", "-1").runAfter(Duration.ofMinutes(30)));
        Workshop.await(
                () -> "all are done",
                () -> shop.database.queryLong("select count(*) from postroom.job_done where id between " + ids.get(0)
                                + " and " + ids.get(ids.size() - 1))
                        == ids.size());
        assertThat(shop.state(never)).isEqualTo("ready");
        assertThat(shop.rows("select d.id from postroom.job_done d join effect e on e.job = d.id"
                        + " where e.at < d.run_at or d.claimed_at < d.run_at"))
                .as("begun early")
                .isEmpty();
        assertThat(shop.rows("select name from postroom.worker where leased_until not between clock_timestamp()"
                        + " - interval '3 s' and clock_timestamp() + interval '3 s'"))
                .isEmpty();
        assertThat(shop.rows("select outcome from postroom.job_attempt"))
                .as("taken for dead")
                .isEmpty();
        assertThat(shop.rows("select distinct worker from effect")).hasSizeGreaterThan(1);
    }

    /** Within half an hour of its end a key is taken: whoever asked its own clock would have it free, or for an hour too long. */
    @Test
    void oneOfThreeNodesEnqueuesAUniqueKey() throws Exception {
        assumeTrue(shop != null, "there is no C compiler");
        NODES.forEach(node -> node.say("offer " + KEYS));
        int enqueued = 0;
        for (ChildJvm node : NODES) {
            enqueued += Integer.parseInt(
                    node.awaitLine("offered ", Workshop.PATIENCE).substring("offered ".length()));
        }
        assertThat(enqueued).isEqualTo(KEYS);
        String done = "select count(*) from postroom.job_done where unique_key like 'key-%'";
        Workshop.await(() -> "all are done", () -> shop.database.queryLong(done) >= KEYS);
        assertThat(shop.database.queryLong(done)).isEqualTo(KEYS);
        assertThat(shop.rows("select id from postroom.job where unique_key like 'key-%'"))
                .isEmpty();
        assertThat(shop.database.queryLong("select count(*) from effect where job in"
                        + " (select id from postroom.job_done where unique_key like 'key-%')"))
                .isEqualTo(KEYS);
        // What ended an hour ago, by the database, is free again; to one of the nodes that is now.
        shop.database.execute(
                "update postroom.job_done set ended_at = ended_at - interval '31 min'" + " where unique_key = 'key-7'");
        NODES.get(0).say("offer " + KEYS);
        NODES.get(0).awaitLine("offered 1"::equals, "one key is free", Workshop.PATIENCE);
    }

    /** Half an hour from now: past for the clock that is ahead, an hour and a half away for the one that is behind. */
    @Test
    void timesOfSchedulesFireOnceAndNeverEarly() throws Exception {
        assumeTrue(shop != null, "there is no C compiler");
        long minuteOfDay = shop.database.queryLong(
                "select extract(epoch from (clock_timestamp() at time zone 'utc')::time)::bigint / 60");
        for (ChildJvm node : NODES) {
            node.say("schedule " + (minuteOfDay + 30) % 1_440);
            node.awaitLine("scheduled", Workshop.PATIENCE);
        }
        String runs = "select count(*) from postroom.schedule_run where schedule = 'second'";
        Workshop.await(() -> "five times", () -> shop.database.queryLong(runs) >= 5);
        assertThat(shop.rows("select fire_at from postroom.schedule_run where schedule = 'daily'"))
                .isEmpty();
        assertThat(
                        shop.rows(
                                "select fire_at from postroom.schedule_run where at < fire_at or at > fire_at + interval '2 min'"))
                .as("fired early, or as of another clock")
                .isEmpty();
        assertThat(shop.rows("select headers ->> 'fire-at' from (select headers from postroom.job union all"
                        + " select headers from postroom.job_done) as j where headers ->> 'schedule' = 'second'"
                        + " group by 1 having count(*) > 1"))
                .as("fired twice")
                .isEmpty();
        assertThat(
                        shop.rows(
                                "select e.job from effect e join postroom.job_done d on d.id = e.job"
                                        + " where d.headers ->> 'schedule' = 'second' and e.at < (d.headers ->> 'fire-at')::timestamptz"))
                .as("begun early")
                .isEmpty();
    }

    private static Path compile() throws IOException, InterruptedException {
        Path source = Files.writeString(directory.resolve("clock.c"), SHIM);
        Path library = directory.resolve("clock.so");
        try {
            Process compiler = new ProcessBuilder("cc", "-shared", "-fPIC", "-o", library.toString(), source.toString())
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start();
            return compiler.waitFor() == 0 ? library : null;
        } catch (IOException e) {
            return null;
        }
    }

    /** Where there is no compiler, this is what is left of the claim: nobody asks. */
    @Test
    void nobodyHereAsksTheProcessForTheTimeOfDay() throws IOException {
        Path folder = Path.of("").toAbsolutePath().getParent().resolve("core/src/main/java/io/postroom");
        Pattern asking =
                Pattern.compile("currentTimeMillis|Instant\\.now|Date\\.now|DateTime\\.now|new Date\\(|Clock\\.");
        try (Stream<Path> files =
                Stream.concat(Files.walk(folder.resolve("job")), Files.walk(folder.resolve("schedule")))) {
            List<Path> found =
                    files.filter(file -> file.toString().endsWith(".java")).toList();
            assertThat(found).hasSizeGreaterThan(40);
            for (Path file : found) {
                assertThat(asking.matcher(Files.readString(file)).find())
                        .as(file.toString())
                        .isFalse();
            }
        }
    }
}
