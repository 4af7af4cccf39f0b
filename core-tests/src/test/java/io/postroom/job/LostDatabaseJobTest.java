package io.postroom.job;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.postroom.Postroom;
import io.postroom.PostroomException;
import io.postroom.fault.CapturedLog;
import io.postroom.postgres.Schema;
import io.postroom.testkit.CrashPoint;
import io.postroom.testkit.CrashingDataSource;
import io.postroom.testkit.CutProxy;
import io.postroom.testkit.TestDatabase;
import io.postroom.testkit.TestPostgres;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** PostgreSQL dies and comes back, or answers are lost, while jobs run. */
class LostDatabaseJobTest {
    private static final int KILLS = Boolean.getBoolean("postroom.long") ? 15 : 2;

    private static final int CUTS = Boolean.getBoolean("postroom.long") ? 10 : 4;

    /** Enough is enqueued for something to be on its way whenever the server dies. */
    private static final long WRITER_PAUSE_NANOS = 2_000_000;

    private static TestPostgres server;

    private final Set<Long> committed = ConcurrentHashMap.newKeySet();
    private final Set<Long> taken = ConcurrentHashMap.newKeySet();
    private volatile boolean enough;

    @BeforeAll
    static void start() {
        server = TestPostgres.start();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    private static TestDatabase migrated() {
        TestDatabase database = TestDatabase.empty(server);
        database.postroom().migrations().migrate();
        database.execute("create table effect (job bigint, attempt int)");
        return database;
    }

    private static Workers.Builder workers(DataSource dataSource) {
        return Postroom.on(dataSource)
                .jobs()
                .workers()
                .lease(Duration.ofSeconds(4))
                .queue("default", 3)
                .handle(Kind.transactional("book", (tx, job) -> {
                    try (PreparedStatement insert = tx.prepareStatement("insert into effect values (?, ?)")) {
                        insert.setLong(1, job.id());
                        insert.setInt(2, job.attempt());
                        insert.executeUpdate();
                    }
                    return JobOutcome.done();
                }))
                .handle("plain", job -> JobOutcome.done());
    }

    /** Enqueues until told to stop; what was not committed for certain may be there or not. */
    private Thread writer(TestDatabase database) {
        Thread writer = new Thread(() -> {
            for (int i = 0; !enough; i++) {
                String kind = i % 2 == 0 ? "book" : "plain";
                try (Connection tx = database.dataSource().getConnection()) {
                    tx.setAutoCommit(false);
                    long id = database.postroom()
                            .jobs()
                            .enqueue(tx, Job.of(kind, "{}").build());
                    tx.commit();
                    committed.add(id);
                } catch (SQLException | PostroomException e) {
                    // The server is away.
                }
                LockSupport.parkNanos(WRITER_PAUSE_NANOS);
            }
        });
        writer.start();
        return writer;
    }

    @Test
    void workersGoOnByThemselvesWhenPostgresWasKilledAndStarted() throws Exception {
        try (TestDatabase database = migrated();
                Workers one = workers(database.dataSource()).name("one").build();
                Workers two = workers(database.dataSource()).name("two").build()) {
            one.start();
            two.start();
            Thread writer = writer(database);
            for (int kill = 0; kill < KILLS; kill++) {
                awaitEnded(database, committed.size() + 100);
                server.kill();
                server.restart();
            }
            awaitEnded(database, committed.size() + 100);
            enough = true;
            writer.join();
            assertAllEnded(database);
        }
    }

    @Test
    void workersGoOnByThemselvesWhenConnectionsBreak() throws Exception {
        try (TestDatabase database = migrated();
                CutProxy proxy = CutProxy.to(server.port());
                HikariDataSource broken = TestDatabase.pool(proxy.url(database.url()), 20);
                Workers workers = workers(broken).build()) {
            workers.start();
            Thread writer = writer(database);
            for (int cut = 0; cut < CUTS; cut++) {
                awaitEnded(database, committed.size() + 20);
                proxy.cut();
            }
            proxy.refuse();
            proxy.cut();
            long before = committed.size();
            Workshop.await(() -> "more is enqueued", () -> committed.size() > before + 50);
            proxy.pass();
            awaitEnded(database, committed.size());
            enough = true;
            writer.join();
            assertAllEnded(database);
        }
    }

    /** A claim whose answer is lost is done all the same: nobody would know of those jobs. */
    @ParameterizedTest
    @ValueSource(strings = {"claim.sql", "claim_onward.sql"})
    void aClaimWhoseAnswerWasLostIsTakenBack(String file) {
        try (TestDatabase database = migrated()) {
            String claim = Schema.POSTROOM.sql(ClaimTable.class, file).text();
            Set<String> claims = Set.of(
                    Schema.POSTROOM.sql(ClaimTable.class, "claim.sql").text(),
                    Schema.POSTROOM.sql(ClaimTable.class, "claim_onward.sql").text());
            CrashPoint losing = CrashPoint.act("lose an answer", 1, LostDatabaseJobTest::lose);
            // Whatever claims is asked, so that what runs since an earlier claim is known.
            DataSource lossy = new CrashingDataSource(database.dataSource())
                    .committed(text -> claims.contains(text) && hasTaken(database) && text.equals(claim), losing);
            try (Workers workers = Postroom.on(lossy)
                    .jobs()
                    .workers()
                    .queue("default", 1)
                    .handle("plain", job -> JobOutcome.done())
                    .build()) {
                workers.start();
                Workshop.await(() -> "a job is claimed by " + file, () -> {
                    committed.add(database.postroom()
                            .database()
                            .transact(tx -> database.postroom()
                                    .jobs()
                                    .enqueue(tx, Job.of("plain", "{}").build())));
                    awaitEnded(database, committed.size());
                    return losing.times() > 0;
                });
            }
            assertAllEnded(database);
            assertThat(database.queryLong("select count(*) from postroom.job_done where fence > 1"))
                    .as("jobs that were claimed again")
                    .isEqualTo(1);
            assertThat(database.queryLong("select max(attempt) from postroom.job_done"))
                    .isEqualTo(1);
        }
    }

    @Test
    void anEndThatWasCommittedThoughTheAnswerWasLostIsNotCalledUndone() {
        String end = Schema.POSTROOM.sql(SettleTable.class, "complete_one.sql").text();
        CrashPoint losing = CrashPoint.act("lose an answer", 1, LostDatabaseJobTest::lose);
        try (TestDatabase database = migrated();
                CapturedLog log = new CapturedLog();
                Workers workers = Postroom.on(
                                new CrashingDataSource(database.dataSource()).committed(end::equals, losing))
                        .jobs()
                        .workers()
                        .queue("default", 1)
                        .handle(Kind.transactional("book", (tx, job) -> JobOutcome.done()))
                        .build()) {
            workers.start();
            committed.add(database.postroom()
                    .database()
                    .transact(tx -> database.postroom()
                            .jobs()
                            .enqueue(tx, Job.of("book", "{}").build())));
            Workshop.await(log::text, () -> log.text().contains("could not end 1 jobs of worker"));
            assertThat(log.text())
                    .contains("unless a transactional handler's end was committed though the answer was lost");
            assertThat(database.queryLong("select count(*) from postroom.job_done where state = 'done' and fence = 1"))
                    .isOne();
        }
    }

    /** Whether a job runs that did not after the claims before; there is one at a time. */
    private boolean hasTaken(TestDatabase database) {
        long id = database.queryLong("select coalesce(max(id), 0) from postroom.job where state = 'running'");
        return id > 0 && taken.add(id);
    }

    private static void lose() {
        LostDatabaseJobTest.<RuntimeException>thrown();
    }

    /** As the driver would say it, though the caller's signature does not. */
    @SuppressWarnings("unchecked")
    private static <T extends Throwable> void thrown() throws T {
        throw (T) new SQLException("the answer is lost", "08006");
    }

    private static void awaitEnded(TestDatabase database, long jobs) {
        Workshop.await(() -> jobs + " have ended", () -> ended(database) >= jobs);
    }

    private static long ended(TestDatabase database) {
        try {
            return database.queryLong("select count(*) from postroom.job_done");
        } catch (IllegalStateException e) {
            // A connection of before.
            return -1;
        }
    }

    private void assertAllEnded(TestDatabase database) {
        Workshop.await(
                () -> "nothing is left: " + database.queryLong("select count(*) from postroom.job"),
                () -> database.queryLong("select count(*) from postroom.job") == 0);
        assertThat(database.queryLong("select count(*) - count(distinct id) from postroom.job_done"))
                .as("jobs that ended twice")
                .isZero();
        assertThat(database.queryLong("select count(*) from postroom.job_done where state <> 'done'"))
                .isZero();
        assertThat(database.queryLong("select count(*) from postroom.job_done"))
                .isGreaterThanOrEqualTo(committed.size());
        assertThat(database.queryLong(
                        "select count(*) from (select d.id from postroom.job_done d left join effect e on e.job = d.id"
                                + " where d.kind = 'book' group by d.id having count(e.job) <> 1) as wrong"))
                .as("booked other than once")
                .isZero();
    }
}
