package io.postroom.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.postroom.Postroom;
import io.postroom.PostroomException;
import io.postroom.postgres.Schema;
import io.postroom.testkit.CutProxy;
import io.postroom.testkit.TestDatabase;
import io.postroom.testkit.TestPostgres;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Leases as one process sees them; the others are {@link Locks} of their own. */
class LeaseTest {
    private static final Duration LONG = Duration.ofMinutes(10);
    private static final Duration SHORT = LeaseTerms.LEASE_MIN;

    /** Long enough for a machine that is busy, short enough to see it renewed. */
    private static final Duration RENEWED = Duration.ofSeconds(6);

    private static TestDatabase database;
    private static Locks here;
    private static Locks there;

    @BeforeAll
    static void create() {
        database = TestDatabase.create();
        here = new Locks(database.postroom().database());
        there = new Locks(database.postroom().database());
        database.execute("create table effect (name text)");
    }

    @AfterAll
    static void drop() {
        database.close();
    }

    private static Lease take(Locks by, String name, Duration lease) {
        return by.tryLease(name, lease).orElseThrow();
    }

    private static void runOut(String name) {
        database.execute("update postroom.lease set leased_until = clock_timestamp() where name = '" + name + "'");
    }

    @Test
    void oneHasItUntilItIsGivenBackAndTheFenceGrows() {
        Lease first = take(here, "one", LONG);
        assertThat(first.isHeld()).isTrue();
        assertThat(there.tryLease("one", LONG)).isEmpty();
        assertThat(here.tryLease("one", LONG)).as("in the same process").isEmpty();
        assertThat(there.tryLease("two", LONG)).isPresent();
        first.close();
        assertThat(first.isHeld()).isFalse();
        try (Lease second = take(there, "one", LONG)) {
            assertThat(second.fence()).isGreaterThan(first.fence());
            first.close();
            assertThat(second.isHeld()).isTrue();
            assertThat(here.tryLease("one", LONG)).isEmpty();
        }
    }

    @Test
    void anotherTakesItWhenItHasRunOutAndTheFormerHolderCanChangeNothing() throws SQLException {
        Lease zombie = take(here, "zombie", LONG);
        runOut("zombie");
        try (Lease next = take(there, "zombie", LONG);
                Connection tx = database.begin()) {
            assertThat(next.fence()).isGreaterThan(zombie.fence());
            assertThat(zombie.isHeld()).as("it cannot know yet").isTrue();
            assertThatThrownBy(() -> zombie.requireHeld(tx))
                    .isInstanceOfSatisfying(LeaseLostException.class, e -> {
                        assertThat(e.name()).isEqualTo("zombie");
                        assertThat(e.fence()).isEqualTo(zombie.fence());
                    })
                    .hasMessage("could not go on under lease 'zombie' with fence " + zombie.fence()
                            + ": another has taken it; roll back and stop")
                    .extracting("code")
                    .isEqualTo("lock.lease-lost");
            assertThat(zombie.isHeld()).as("now it knows").isFalse();
            assertThatThrownBy(() -> zombie.requireHeld(tx)).hasMessageContaining("it was lost before");
            tx.rollback();
            zombie.close();
            next.requireHeld(tx);
            tx.rollback();
        }
    }

    @Test
    void aFenceIsNeverGivenTwiceWhateverHappensToTheRow() {
        long last = 0;
        for (String between : List.of(
                "select 1",
                "delete from postroom.lease where name = 'fence'",
                "update postroom.lease set leased_until = clock_timestamp() where name = 'fence'",
                // As after a clock that ran ahead.
                "update postroom.lease set fence = 99999999999999999, holder = null, leased_until = null where name = 'fence'",
                "select 1")) {
            try (Lease lease = take(here, "fence", LONG)) {
                assertThat(lease.fence()).as(between).isGreaterThan(last);
                last = lease.fence();
                database.execute(between);
            }
        }
        assertThat(last).isGreaterThan(99_999_999_999_999_999L);
    }

    @Test
    void manyWhoTryAtOnceGetItOneAfterTheOther() throws Exception {
        AtomicInteger inside = new AtomicInteger();
        List<Long> fences = java.util.Collections.synchronizedList(new ArrayList<>());
        List<CompletableFuture<Void>> all = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            Locks own = new Locks(database.postroom().database());
            all.add(CompletableFuture.runAsync(() -> {
                for (int got = 0; got < 20; ) {
                    Optional<Lease> lease = own.tryLease("crowd", LONG);
                    if (lease.isPresent()) {
                        try (Lease mine = lease.get()) {
                            assertThat(inside.incrementAndGet()).isEqualTo(1);
                            fences.add(mine.fence());
                            inside.decrementAndGet();
                            got++;
                        }
                    }
                }
            }));
        }
        for (CompletableFuture<Void> each : all) {
            each.get(Patience.LONG.toSeconds(), TimeUnit.SECONDS);
        }
        assertThat(fences).hasSize(120).isSorted().doesNotHaveDuplicates();
    }

    /** While a transaction that has made sure of the lease is open, nobody takes it: not when it has run out, not when it was given back. */
    @Test
    void nobodyTakesItWhileATransactionHasMadeSureOfIt() throws SQLException {
        Lease lease = take(here, "sure", LONG);
        try (Connection tx = database.begin()) {
            lease.requireHeld(tx);
            runOut("sure");
            assertThat(there.tryLease("sure", LONG)).isEmpty();
            lease.close();
            assertThat(there.tryLease("sure", LONG)).isEmpty();
            tx.commit();
        }
        try (Lease next = take(there, "sure", LONG)) {
            assertThat(next.fence()).isGreaterThan(lease.fence());
        }
    }

    @Test
    void isRenewedWhileATransactionHasMadeSureOfItAndThoughTheRowOfAnotherIsLocked() throws Exception {
        try (Lease lease = take(here, "renewed", RENEWED);
                Lease locked = take(here, "locked", LONG);
                Connection tx = database.begin();
                Connection stranger = database.begin()) {
            lease.requireHeld(tx);
            set(stranger, "select from postroom.lease where name = 'locked' for update");
            // Soon, not in minutes: the thread that renews for all must not stop at it.
            database.postroom().database().run(any -> new LeaseTable(Schema.POSTROOM).renew(any, locked.held(), LONG));
            awaitRenewals("renewed", 2);
            assertThat(lease.isHeld()).isTrue();
            assertThat(locked.isHeld()).isTrue();
            assertThat(database.queryLong("select fence from postroom.lease where name = 'renewed'"))
                    .isEqualTo(lease.fence());
            tx.commit();
            stranger.rollback();
        }
    }

    @Test
    void oneThatStillIsOursIsOursThoughItsTimeIsOver() throws SQLException {
        try (Lease lease = take(here, "late", LONG);
                Connection tx = database.begin()) {
            runOut("late");
            lease.requireHeld(tx);
            set(tx, "insert into effect values ('late')");
            tx.commit();
        }
    }

    /** A process that stands still in the middle of its transaction must not keep the name for ever. */
    @Test
    void aTransactionThatHasMadeSureOfItMayNotStandIdleForLong() throws SQLException {
        try (Lease brief = take(here, "brief", SHORT);
                Lease lasting = take(here, "lasting", Duration.ofMinutes(2));
                Connection tx = database.begin()) {
            brief.requireHeld(tx);
            assertThat(idle(tx)).isEqualTo("10s");
            tx.rollback();
            lasting.requireHeld(tx);
            assertThat(idle(tx)).isEqualTo("2min");
            brief.requireHeld(tx);
            assertThat(idle(tx)).as("the shorter one counts").isEqualTo("10s");
            lasting.requireHeld(tx);
            assertThat(idle(tx)).as("the shorter one counts").isEqualTo("10s");
            tx.rollback();
            assertThat(idle(tx)).isEqualTo("0");
            set(tx, "set local idle_in_transaction_session_timeout = '900ms'");
            brief.requireHeld(tx);
            assertThat(idle(tx)).as("what the caller has set").isEqualTo("900ms");
            tx.rollback();
        }
    }

    @Test
    void isLostAndSaidSoWhenAnotherHasTakenIt() throws Exception {
        CountDownLatch told = new CountDownLatch(1);
        Lease lease = take(here, "taken", SHORT);
        lease.onLost(() -> {
            throw new IllegalStateException("thrown for the test: it must not keep others from being told");
        });
        lease.onLost(told::countDown);
        database.execute("update postroom.lease set fence = fence + 1 where name = 'taken'");
        assertThat(told.await(Patience.LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
        assertThat(lease.isHeld()).isFalse();
        CountDownLatch late = new CountDownLatch(1);
        lease.onLost(late::countDown);
        assertThat(late.await(Patience.LONG.toSeconds(), TimeUnit.SECONDS))
                .as("who asks later is told at once")
                .isTrue();
    }

    @Test
    void whatIsGivenBackIsNotLost() throws Exception {
        CountDownLatch told = new CountDownLatch(1);
        Lease lease = take(here, "back", SHORT);
        lease.onLost(told::countDown);
        lease.close();
        lease.onLost(told::countDown);
        long over = System.nanoTime() + SHORT.multipliedBy(2).toNanos();
        Patience.await("its time is over", () -> System.nanoTime() > over);
        assertThat(told.getCount()).isEqualTo(1);
        try (Connection tx = database.begin()) {
            assertThatThrownBy(() -> lease.requireHeld(tx)).hasMessageContaining("it was given back before");
            tx.rollback();
        }
    }

    @Test
    void isLostInTimeWhenTheDatabaseDoesNotAnswerAndAnotherGoesOn() throws Exception {
        try (CutProxy proxy = CutProxy.to(TestPostgres.shared().port());
                HikariDataSource pool = TestDatabase.pool(proxy.url(database.url()), 2)) {
            CountDownLatch told = new CountDownLatch(1);
            Lease far = take(Postroom.on(pool).locks(), "far", Duration.ofSeconds(3));
            far.onLost(told::countDown);
            proxy.strand();
            try (Lease next = await("far")) {
                assertThat(far.isHeld())
                        .as("it ends there before another gets it here")
                        .isFalse();
                assertThat(next.fence()).isGreaterThan(far.fence());
            }
            assertThat(told.await(Patience.LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
        }
    }

    @Test
    void isNotRenewedForLongerThanItMayBeHeld() throws Exception {
        CountDownLatch told = new CountDownLatch(1);
        Lease hanging = here.tryLease("hanging", new LeaseTerms(SHORT, SHORT)).orElseThrow();
        hanging.onLost(told::countDown);
        assertThat(told.await(Patience.LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
        assertThat(hanging.isHeld()).isFalse();
        try (Lease next = await("hanging")) {
            assertThat(next.fence()).isGreaterThan(hanging.fence());
        }
    }

    @Test
    void whoseTakingWasNeverAnsweredIsTakenAgainByTheSameHolder() {
        UUID holder = UUID.randomUUID();
        LeaseTerms terms = LeaseTerms.of(LONG);
        Lease unknown = here.tryLease("answer", terms, holder).orElseThrow();
        assertThat(there.tryLease("answer", terms)).isEmpty();
        Lease again = there.tryLease("answer", terms, holder).orElseThrow();
        assertThat(again.fence()).isGreaterThan(unknown.fence());
        unknown.close();
        assertThat(here.tryLease("answer", terms))
                .as("it was not given back by the first")
                .isEmpty();
        again.close();
    }

    @Test
    void aFenceIsOnDiskBeforeItIsSeenWhateverTheSessionDoes() throws SQLException {
        try (Connection tx = database.begin()) {
            set(tx, "set local synchronous_commit = off");
            new LeaseTable(Schema.POSTROOM)
                    .take(tx, "durable", UUID.randomUUID(), "test:1", LONG)
                    .orElseThrow();
            assertThat(show(tx, "synchronous_commit")).isEqualTo("local");
            tx.rollback();
        }
    }

    @Test
    void oldOnesThatNobodyHasAreForgotten() {
        database.execute("""
                insert into postroom.lease (name, holder, node, fence, leased_until, taken_at)
                values ('old free', null, 'n', 1, null, clock_timestamp() - interval '31 days'),
                       ('old dead', gen_random_uuid(), 'n', 1, clock_timestamp() - interval '31 days', clock_timestamp() - interval '31 days'),
                       ('old alive', gen_random_uuid(), 'n', 1, clock_timestamp() + interval '1 hour', clock_timestamp() - interval '31 days'),
                       ('young', null, 'n', 1, null, clock_timestamp() - interval '29 days')""");
        database.postroom().maintenance().runOnce();
        assertThat(database.queryLong("select count(*) from postroom.lease where name in ('old free', 'old dead')"))
                .isZero();
        assertThat(database.queryLong("select count(*) from postroom.lease where name in ('old alive', 'young')"))
                .isEqualTo(2);
    }

    @Test
    void aTransactionIsNeededToMakeSure() throws SQLException {
        try (Lease lease = take(here, "auto", LONG);
                Connection connection = database.dataSource().getConnection()) {
            assertThatThrownBy(() -> lease.requireHeld(connection))
                    .extracting("code")
                    .isEqualTo("lock.no-transaction");
        }
    }

    @ParameterizedTest
    @CsvSource({
        "PT0.999S, PT1H, 'lease is PT0.999S, the range is PT1S to PT1H'",
        "PT1H0.001S, P2D, 'lease is PT1H0.001S, the range is PT1S to PT1H'",
        "PT10S, PT9S, 'heldMax is PT9S, the range is PT10S to PT87840H'",
        "PT10S, PT87840H0.001S, 'heldMax is PT87840H0.001S, the range is PT10S to PT87840H'"
    })
    void termsBeyondTheirLimitsAreRefused(Duration lease, Duration heldMax, String fact) {
        assertThatThrownBy(() -> new LeaseTerms(lease, heldMax))
                .isInstanceOf(PostroomException.class)
                .hasMessageContaining(fact)
                .extracting("code")
                .isEqualTo("lock.terms-invalid");
    }

    private static Lease await(String name) throws Exception {
        Lease[] lease = new Lease[1];
        Patience.await("it can be taken", () -> {
            lease[0] = there.tryLease(name, LONG).orElse(null);
            return lease[0] != null;
        });
        return lease[0];
    }

    /** Its end in the database has moved so often. */
    private static void awaitRenewals(String name, int times) throws Exception {
        String end = "select (extract(epoch from leased_until) * 1000000)::bigint from postroom.lease where name = '"
                + name + "'";
        for (int i = 0; i < times; i++) {
            long before = database.queryLong(end);
            Patience.await("renewal of " + name, () -> database.queryLong(end) > before);
        }
    }

    private static String idle(Connection tx) throws SQLException {
        return show(tx, "idle_in_transaction_session_timeout");
    }

    private static String show(Connection tx, String setting) throws SQLException {
        try (Statement statement = tx.createStatement();
                ResultSet row = statement.executeQuery("show " + setting)) {
            row.next();
            return row.getString(1);
        }
    }

    private static void set(Connection tx, String sql) throws SQLException {
        try (Statement statement = tx.createStatement()) {
            statement.execute(sql);
        }
    }
}
