package io.postroom.job;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.testkit.ChildJvm;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** SIGKILL for processes that work: every job ends once, and nobody pays for a neighbour. */
class KilledWorkerTest {
    private static final int KILLS = Boolean.getBoolean("postroom.long") ? 30 : 2;

    private static final int JOBS = 600;

    /** Whoever lives looks for the dead three times as often; what a test does is over long before. */
    private static final long LEASE_MILLIS = 6_000;

    private static final String CLOCK = "select (extract(epoch from clock_timestamp()) * 1000)::bigint";

    private static Workshop shop;

    @BeforeAll
    static void open() {
        shop = new Workshop();
        shop.database.execute(
                "create table effect (job bigint, attempt int, worker text, at timestamptz default clock_timestamp())");
    }

    @AfterAll
    static void close() {
        shop.close();
    }

    @BeforeEach
    void clear() {
        shop.clear();
        shop.database.execute("truncate effect");
    }

    static ChildJvm start(Workshop shop, String name, long leaseMillis, int threads) throws InterruptedException {
        ChildJvm child = ChildJvm.start(
                WorkerMain.class,
                List.of("-Xmx96m", "-Dorg.slf4j.simpleLogger.defaultLogLevel=info"),
                shop.database.url(),
                name,
                Long.toString(leaseMillis),
                Integer.toString(threads));
        child.awaitLine("ready ", Workshop.PATIENCE);
        return child;
    }

    /** Lets the leases of processes that are known to be dead run out at once, and what waits after a crash go on. */
    private static void hurry(String... dead) {
        for (String name : dead) {
            shop.database.execute(
                    "update postroom.worker set leased_until = clock_timestamp() - interval '1 s' where name = '" + name
                            + "'");
        }
        shop.database.execute("update postroom.job set run_at = clock_timestamp() where waits = 'time'");
    }

    @Test
    void everyJobEndsOnceAndTakesEffectOnceInItsTransaction() throws InterruptedException {
        List<Long> ids = new ArrayList<>();
        try (ChildJvm survivor = start(shop, "survivor", LEASE_MILLIS, 2)) {
            survivor.say("go");
            for (int kill = 0; kill < KILLS; kill++) {
                String name = "victim-" + kill;
                try (ChildJvm victim = start(shop, name, LEASE_MILLIS, 4)) {
                    // The survivor may be quick enough to take all of them: then there are more.
                    Workshop.await(() -> "the victim works: " + victim, () -> {
                        if (shop.database.queryLong("select count(*) from postroom.job where state = 'ready'") == 0) {
                            ids.addAll(shop.enqueueAll(jobs(JOBS)));
                        }
                        return shop.database.queryLong("select count(*) from effect where worker = '" + name + "'")
                                > 20;
                    });
                    // It surely has one when it dies: whoever else gets one lets it go.
                    Workshop.await(() -> "the victim holds a job: " + victim, () -> {
                        boolean holds = victim.lines().stream().anyMatch(line -> line.startsWith("holding"));
                        if (!holds) {
                            ids.addAll(shop.enqueueAll(
                                    List.of(Job.of("hold", "0").priority(0).build())));
                        }
                        return holds;
                    });
                    victim.kill();
                }
                if (kill < KILLS - 1) {
                    hurry(name);
                }
            }
            // Nobody hurries the last one: its lease runs out.
            long killed = shop.database.queryLong(CLOCK);
            shop.awaitDone(ids.size());
            String last = " from postroom.job_attempt where outcome = 'lost' and worker = 'victim-" + (KILLS - 1) + "'";
            assertThat(shop.database.queryLong("select count(*)" + last)).isPositive();
            assertThat(shop.database.queryLong(
                            "select (extract(epoch from min(at)) * 1000)::bigint - " + killed + last))
                    .as("milliseconds from its death to the first rescue: the lease is renewed at a third of it")
                    .isBetween(LEASE_MILLIS / 2, 5 * LEASE_MILLIS);
            survivor.say("stop");
            survivor.awaitLine("stopped", Workshop.PATIENCE);
        }
        assertThat(shop.rows("select * from postroom.job")).isEmpty();
        assertThat(shop.rows("select state, count(*), count(distinct id) from postroom.job_done group by state"))
                .containsExactly("done|" + ids.size() + "|" + ids.size());
        assertThat(shop.rows(
                        "select d.id from postroom.job_done d left join effect e on e.job = d.id where d.kind = 'book'"
                                + " group by d.id having count(e.job) <> 1"))
                .as("booked other than once")
                .isEmpty();
        assertThat(shop.rows(
                        "select d.id from postroom.job_done d left join effect e on e.job = d.id where d.kind = 'count'"
                                + " group by d.id having count(e.job) < 1"))
                .as("never counted")
                .isEmpty();
        assertThat(shop.database.queryLong("select count(*) from postroom.job_attempt where outcome = 'lost'"))
                .as("something was lost and rescued")
                .isPositive();
    }

    private static List<Job> jobs(int many) {
        List<Job> jobs = new ArrayList<>();
        for (int i = 0; i < many; i++) {
            jobs.add(Job.of(i % 3 == 0 ? "book" : "count", "" + i).build());
        }
        return jobs;
    }

    /** The killer has three attempts; its neighbours are claimed with it again and again. */
    @Test
    void aJobThatEndsItsProcessIsBuriedAfterItsAttemptsAndNoNeighbourIs() throws InterruptedException {
        List<Job> jobs = new ArrayList<>(jobs(20));
        jobs.add(10, Job.of("halt", "{}").build());
        jobs.add(15, Job.of("count", "{}").retry("quick attempts=1").build());
        List<Long> ids = shop.enqueueAll(jobs);
        long killer = ids.get(10);
        int deaths = 0;
        while (!shop.state(killer).equals("failed")) {
            String name = "worker-" + deaths;
            // One thread: what runs beside the killer has begun, and counts.
            try (ChildJvm child = start(shop, name, LEASE_MILLIS, 1)) {
                Workshop.await(
                        () -> "it dies or the killer is buried: " + child,
                        () -> !child.isAlive() || shop.state(killer).equals("failed"));
                deaths += child.isAlive() ? 0 : 1;
                if (child.isAlive()) {
                    shop.awaitDone(ids.size() - 1);
                }
            }
            hurry(name);
            assertThat(deaths).as("it had three attempts").isLessThanOrEqualTo(3);
        }
        assertThat(deaths).isEqualTo(3);
        assertThat(shop.rows("select position, cause, attempts, jsonb_array_length(history) from postroom.dead_letter"))
                .containsExactly(killer + "|crashed|3|3");
        assertThat(shop.rows("select state, count(*) from postroom.job_done group by 1 order by 1"))
                .containsExactly("done|21", "failed|1");
        assertThat(shop.rows("select state from postroom.job_done where id = " + ids.get(15)))
                .containsExactly("done");
    }
}
