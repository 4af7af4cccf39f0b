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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Workers whose clocks are an hour off, in both directions, work as if they were right: time is the database's. */
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

    @TempDir
    Path directory;

    @Test
    void noJobBeginsEarlyAndNobodyIsTakenForDead() throws Exception {
        Path library = compile();
        assumeTrue(library != null, "there is no C compiler");
        try (Workshop shop = new Workshop()) {
            shop.database.execute(
                    "create table effect (job bigint, attempt int, worker text, at timestamptz default clock_timestamp())");
            List<ChildJvm> workers = new ArrayList<>();
            try {
                for (int offset : new int[] {-3_600, 0, 3_600}) {
                    ChildJvm worker = ChildJvm.start(
                            WorkerMain.class,
                            List.of("-Xmx96m", "-Dorg.slf4j.simpleLogger.defaultLogLevel=info"),
                            Map.of("LD_PRELOAD", library.toString(), "CLOCK_OFFSET", "" + offset),
                            shop.database.url(),
                            "offset" + offset,
                            "3000",
                            "2");
                    workers.add(worker);
                    Instant clock = Instant.parse(
                            worker.awaitLine("clock ", Workshop.PATIENCE).substring("clock ".length()));
                    assertThat(Duration.between(Instant.now().plusSeconds(offset), clock)
                                    .abs())
                            .as("the clock is off by as much as it should be")
                            .isLessThan(Duration.ofMinutes(10));
                }
                List<Job> jobs = new ArrayList<>();
                for (int i = 0; i < 300; i++) {
                    Job.Builder job = Job.of("count", "" + i);
                    jobs.add((i % 2 == 0 ? job : job.runAfter(Duration.ofMillis(10L * i))).build());
                }
                List<Long> ids = shop.enqueueAll(jobs);
                long never = shop.enqueue(Job.of("count", "-1").runAfter(Duration.ofMinutes(30)));
                shop.awaitDone(ids.size());
                assertThat(shop.state(never)).isEqualTo("ready");
                assertThat(shop.rows("select d.id from postroom.job_done d join effect e on e.job = d.id"
                                + " where e.at < d.run_at or d.claimed_at < d.run_at"))
                        .as("begun early")
                        .isEmpty();
                assertThat(shop.rows("select name from postroom.worker where leased_until not between clock_timestamp()"
                                + " - interval '3 s' and clock_timestamp() + interval '3 s'"))
                        .isEmpty();
                for (ChildJvm worker : workers) {
                    worker.say("stop");
                    worker.awaitLine("stopped", Workshop.PATIENCE);
                }
                assertThat(shop.rows("select outcome from postroom.job_attempt"))
                        .as("taken for dead")
                        .isEmpty();
                assertThat(shop.rows("select distinct worker from effect")).hasSizeGreaterThan(1);
            } finally {
                workers.forEach(ChildJvm::close);
            }
        }
    }

    private Path compile() throws IOException, InterruptedException {
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
        Path folder = Path.of("").toAbsolutePath().getParent().resolve("core/src/main/java/io/postroom/job");
        Pattern asking =
                Pattern.compile("currentTimeMillis|Instant\\.now|Date\\.now|DateTime\\.now|new Date\\(|Clock\\.");
        try (Stream<Path> files = Files.walk(folder)) {
            List<Path> found =
                    files.filter(file -> file.toString().endsWith(".java")).toList();
            assertThat(found).hasSizeGreaterThan(20);
            for (Path file : found) {
                assertThat(asking.matcher(Files.readString(file)).find())
                        .as(file.toString())
                        .isFalse();
            }
        }
    }
}
