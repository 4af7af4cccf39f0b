package io.postroom.externalcall;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.postroom.Postroom;
import io.postroom.PostroomException;
import io.postroom.audit.AuditEntry;
import io.postroom.audit.AuditFilter;
import io.postroom.idempotency.CanonicalHash;
import io.postroom.testkit.CutProxy;
import io.postroom.testkit.FakeProvider;
import io.postroom.testkit.TestDatabase;
import io.postroom.testkit.TestPostgres;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class ExternalCallsTest {
    static final String BODY = "{\"amount\":\"19.99\"}";
    static final byte[] HASH = hash(BODY);
    static final byte[] OTHER_HASH = hash("{\"amount\":\"99.19\"}");

    static TestDatabase database;
    static ExternalCalls calls;
    static int orders;

    FakeProvider provider;
    ExternalOperation operation;

    @BeforeAll
    static void create() {
        database = TestDatabase.create();
        calls = database.postroom().externalCalls();
        database.execute("create table paid (business_id text, reference text)");
    }

    @AfterAll
    static void drop() {
        database.close();
    }

    @BeforeEach
    void begin() {
        provider = FakeProvider.start();
        operation = ExternalOperation.of("charge", "t42", "order-" + ++orders);
    }

    @AfterEach
    void end() {
        provider.close();
    }

    static byte[] hash(String json) {
        return CanonicalHash.ofJson(json.getBytes(StandardCharsets.UTF_8));
    }

    ExternalCall perform(ExternalOperation operation) throws InterruptedException {
        return calls.perform(operation, HASH, key -> FakeProvider.charge(provider.url(), key, BODY));
    }

    static Turn.Yours yours(Turn turn) {
        assertThat(turn).isInstanceOf(Turn.Yours.class);
        return (Turn.Yours) turn;
    }

    static void leaseEnds(ExternalOperation operation) {
        database.execute(
                "update postroom.external_call set leased_until = clock_timestamp() where key = '" + operation + "'");
    }

    static void windowEnds(ExternalOperation operation) {
        database.execute("update postroom.external_call set created_at = created_at - interval '25 hours',"
                + " window_until = clock_timestamp(), leased_until = clock_timestamp() where key = '" + operation
                + "'");
    }

    static <T> List<T> atOnce(int threads, Callable<T> work) throws Exception {
        ExecutorService executor = Executors.newFixedThreadPool(threads);
        try {
            CountDownLatch ready = new CountDownLatch(threads);
            List<Future<T>> futures = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                futures.add(executor.submit(() -> {
                    ready.countDown();
                    ready.await();
                    return work.call();
                }));
            }
            List<T> results = new ArrayList<>();
            for (Future<T> future : futures) {
                results.add(future.get(60, TimeUnit.SECONDS));
            }
            return results;
        } finally {
            executor.shutdownNow();
        }
    }

    @Nested
    class AnAttempt {
        @Test
        void goesUnderAKeyThatIsCommittedBefore() throws InterruptedException {
            ExternalCall call = calls.perform(operation, HASH, key -> {
                assertThat(key).isEqualTo("charge:t42:order-" + orders + ":r1");
                assertThat(database.queryLong("select count(*) from postroom.external_call where key = '" + key
                                + "' and state = 'calling' and leased_until > clock_timestamp()"))
                        .isEqualTo(1);
                return FakeProvider.charge(provider.url(), key, BODY);
            });
            assertThat(call.state()).isEqualTo(CallState.DONE);
            assertThat(call.reference()).isEqualTo("ch_1");
            assertThat(call.endedAt()).isNotNull();
            assertThat(calls.find(operation.key())).contains(call);
        }

        @Test
        void thatIsOverIsNotMadeAgain() throws InterruptedException {
            ExternalCall first = perform(operation);
            assertThat(perform(operation)).isEqualTo(first);
            assertThat(provider.requests()).isEqualTo(1);
            assertThat(calls.begin(operation, HASH)).isEqualTo(new Turn.Over(first));
        }

        @Test
        void isMadeByOneOfManyAtOnce() throws Exception {
            CountDownLatch others = new CountDownLatch(1);
            provider.atWork(() -> await(others));
            List<Future<ExternalCall>> results = new ArrayList<>();
            ExecutorService executor = Executors.newFixedThreadPool(16);
            try {
                CountDownLatch turnedAway = new CountDownLatch(15);
                for (int i = 0; i < 16; i++) {
                    results.add(executor.submit(() -> {
                        ExternalCall call = perform(operation);
                        turnedAway.countDown();
                        return call;
                    }));
                }
                assertThat(turnedAway.await(30, TimeUnit.SECONDS))
                        .as("nobody waits for another's call")
                        .isTrue();
                others.countDown();
                List<CallState> states = new ArrayList<>();
                for (Future<ExternalCall> result : results) {
                    states.add(result.get(30, TimeUnit.SECONDS).state());
                }
                assertThat(states).filteredOn(CallState.DONE::equals).hasSize(1);
                assertThat(states).filteredOn(CallState.CALLING::equals).hasSize(15);
            } finally {
                executor.shutdownNow();
            }
            assertThat(provider.requests()).isEqualTo(1);
            assertThat(calls.find(operation.key()).orElseThrow().attempts()).isEqualTo(1);
        }

        @Test
        void thatGotNoAnswerIsRepeatedUnderTheSameKey() throws InterruptedException {
            assertThatThrownBy(() -> calls.perform(operation, HASH, key -> {
                        FakeProvider.charge(provider.url(), key, BODY);
                        throw new IllegalStateException("timeout, password=hunter2");
                    }))
                    .hasMessageContaining("timeout");
            ExternalCall unknown = calls.find(operation.key()).orElseThrow();
            assertThat(unknown.state()).isEqualTo(CallState.CALLING);
            assertThat(unknown.reason()).contains("timeout").doesNotContain("hunter2");
            ExternalCall done = perform(operation);
            assertThat(done.state()).isEqualTo(CallState.DONE);
            assertThat(done.attempts()).isEqualTo(2);
            assertThat(provider.charged()).containsExactly(operation.key());
        }

        @Test
        void waitsWhileTheProviderIsStillAtTheOneBefore() throws Exception {
            CountDownLatch working = new CountDownLatch(1);
            CountDownLatch finish = new CountDownLatch(1);
            provider.atWork(() -> {
                working.countDown();
                await(finish);
            });
            ExecutorService executor = Executors.newSingleThreadExecutor();
            try {
                Future<ExternalCall> zombie = executor.submit(() -> perform(operation));
                await(working);
                leaseEnds(operation);
                assertThat(perform(operation).state()).isEqualTo(CallState.CALLING);
                finish.countDown();
                // The one before is no longer the owner; it reports how the call stands, and writes nothing.
                assertThat(zombie.get(30, TimeUnit.SECONDS).state()).isEqualTo(CallState.CALLING);
            } finally {
                executor.shutdownNow();
            }
            assertThat(perform(operation).reference()).isEqualTo("ch_1");
            assertThat(provider.charges()).isEqualTo(1);
        }

        @Test
        void ofAZombieWritesNothingAndChargesNothingTwice() throws InterruptedException {
            Turn.Yours zombie = yours(calls.begin(operation, HASH));
            FakeProvider.charge(provider.url(), zombie.key(), BODY);
            leaseEnds(operation);
            Turn.Yours owner = yours(calls.begin(operation, HASH));
            assertThat(owner.key()).isEqualTo(zombie.key());
            assertThat(owner.call().fence()).isGreaterThan(zombie.call().fence());
            for (ThrowingAct late : List.<ThrowingAct>of(
                    () -> database.postroom().database().transact(tx -> calls.done(tx, zombie, "ch_9")),
                    () -> database.postroom().database().transact(tx -> calls.declined(tx, zombie, "no")),
                    () -> calls.unknown(zombie, "late"),
                    () -> calls.park(zombie, "late"))) {
                assertThatThrownBy(late::run).isInstanceOf(StaleAttemptException.class);
            }
            ProviderAnswer again = FakeProvider.charge(provider.url(), owner.key(), BODY);
            assertThat(again).isEqualTo(ProviderAnswer.done("ch_1"));
            database.postroom().database().transact(tx -> calls.done(tx, owner, "ch_1"));
            assertThat(provider.charges()).isEqualTo(1);
        }

        /** What the key must not be: the worked case of docs/external-calls.md. */
        @Test
        void withTheFenceInItsKeyWouldChargeTwice() throws InterruptedException {
            Turn.Yours zombie = yours(calls.begin(operation, HASH));
            FakeProvider.charge(
                    provider.url(), zombie.key() + ":" + zombie.call().fence(), BODY);
            leaseEnds(operation);
            Turn.Yours owner = yours(calls.begin(operation, HASH));
            FakeProvider.charge(provider.url(), owner.key() + ":" + owner.call().fence(), BODY);
            assertThat(provider.charges()).isEqualTo(2);
        }

        @Test
        void endsWithWhatFollowsFromItOrNotAtAll() throws InterruptedException {
            Turn.Yours first = yours(calls.begin(operation, HASH));
            FakeProvider.charge(provider.url(), first.key(), BODY);
            assertThatThrownBy(() -> database.postroom().database().transact(tx -> {
                        calls.done(tx, first, "ch_1");
                        throw new IllegalStateException("the order could not be saved");
                    }))
                    .hasMessageContaining("the order");
            assertThat(calls.find(operation.key()).orElseThrow().state()).isEqualTo(CallState.CALLING);
            leaseEnds(operation);
            assertThat(perform(operation).reference()).isEqualTo("ch_1");
            assertThat(provider.charges()).isEqualTo(1);
        }

        @Test
        void whoseBeginIsCommittedButNotAnsweredIsTakenUpAfterItsLease() throws Exception {
            try (CutProxy proxy = CutProxy.to(TestPostgres.shared().port());
                    HikariDataSource pool = TestDatabase.pool(proxy.url(database.url()), 1)) {
                ExternalCalls remote = Postroom.on(pool).externalCalls();
                proxy.cutAfterNextCommit();
                assertThatThrownBy(() -> remote.begin(operation, HASH)).isInstanceOf(PostroomException.class);
                assertThat(proxy.commitsCut()).isEqualTo(1);
            }
            assertThat(calls.begin(operation, HASH)).isInstanceOf(Turn.Busy.class);
            leaseEnds(operation);
            assertThat(perform(operation).state()).isEqualTo(CallState.DONE);
        }
    }

    @Nested
    class TheRequest {
        @Test
        void isRefusedWithOtherContentInEveryState() throws InterruptedException {
            refusedWithOtherContent();
            leaseEnds(operation);
            refusedWithOtherContent();
            windowEnds(operation);
            calls.begin(operation, HASH);
            refusedWithOtherContent();
            calls.reconcile(operation.key(), CallState.DECLINED, null, "anna", "not found at the provider");
            refusedWithOtherContent();
            ExternalOperation next = operation.next();
            assertThat(calls.begin(next, OTHER_HASH))
                    .as("under the next revision it is welcome")
                    .isInstanceOf(Turn.Yours.class);
        }

        private void refusedWithOtherContent() {
            calls.begin(operation, HASH);
            assertThatThrownBy(() -> calls.begin(operation, OTHER_HASH))
                    .hasMessageContaining("it was begun with another request")
                    .extracting("code")
                    .isEqualTo("externalcall.request-changed");
        }

        @ParameterizedTest
        @ValueSource(ints = {0, 31, 33})
        void needsAHashOf32Bytes(int length) {
            assertThatThrownBy(() -> calls.begin(operation, new byte[length]))
                    .hasMessageContaining("the request's hash is " + length + " bytes, SHA-256 has 32");
            assertThat(calls.find(operation.key())).isEmpty();
        }
    }

    @Nested
    class ARevision {
        @Test
        void followsOnlyOneThatWasDeclined() throws InterruptedException {
            ExternalOperation second = operation.next();
            refusedTooEarly(second, "there is none before");
            yours(calls.begin(operation, HASH));
            refusedTooEarly(second, "r1, is calling");
            leaseEnds(operation);
            refusedTooEarly(second, "r1, is calling");
            windowEnds(operation);
            assertThat(calls.begin(operation, HASH)).isInstanceOf(Turn.Parked.class);
            refusedTooEarly(second, "r1, is needs_reconciliation");
            calls.reconcile(operation.key(), CallState.DECLINED, null, "anna", "the provider has never seen it");
            refusedTooEarly(second.next(), "r1, is declined");
            assertThat(perform(second).state()).isEqualTo(CallState.DONE);
            refusedTooEarly(second.next(), "r2, is done");
            assertThat(provider.charged()).containsExactly(second.key());
        }

        private void refusedTooEarly(ExternalOperation revision, String fact) {
            assertThatThrownBy(() -> calls.begin(revision, HASH))
                    .hasMessageContaining(fact)
                    .extracting("code")
                    .isEqualTo("externalcall.revision-too-early");
        }

        @Test
        void thatWasDeclinedStaysDeclinedAndTheNextIsOneHoweverManyAsk() throws Exception {
            provider.decline("insufficient funds");
            ExternalCall declined = perform(operation);
            assertThat(declined.state()).isEqualTo(CallState.DECLINED);
            assertThat(declined.reason()).isEqualTo("insufficient funds");
            assertThat(perform(operation)).isEqualTo(declined);
            provider.decline(null);
            List<Turn> turns = atOnce(8, () -> calls.begin(operation.next(), HASH));
            assertThat(turns).filteredOn(Turn.Yours.class::isInstance).hasSize(1);
            assertThat(turns).filteredOn(Turn.Busy.class::isInstance).hasSize(7);
            assertThat(calls.latest(operation).orElseThrow().operation()).isEqualTo(operation.next());
        }
    }

    @Nested
    class PastTheWindow {
        @Test
        void nothingIsCalledAnyMore() throws InterruptedException {
            Turn.Yours first = yours(calls.begin(operation, HASH));
            FakeProvider.charge(provider.url(), first.key(), BODY);
            provider.forgetKeys();
            windowEnds(operation);
            ExternalCall parked = perform(operation);
            assertThat(parked.state()).isEqualTo(CallState.NEEDS_RECONCILIATION);
            assertThat(parked.reason()).contains("window is over");
            assertThat(perform(operation)).isEqualTo(parked);
            assertThat(provider.charges())
                    .as("a repetition would have been charged")
                    .isEqualTo(1);
            assertThat(calls.list(ExternalCallFilter.in(CallState.NEEDS_RECONCILIATION), null, 10))
                    .contains(parked);
        }

        @Test
        void noAttemptBeginsThatWouldOutlastIt() {
            yours(calls.begin(operation, HASH));
            database.execute("update postroom.external_call set leased_until = clock_timestamp(),"
                    + " window_until = clock_timestamp() + interval '30 seconds' where key = '" + operation + "'");
            assertThat(calls.begin(operation, HASH)).isInstanceOf(Turn.Parked.class);
        }

        @Test
        void maintenanceParksWhatNobodyCallsAgain() {
            yours(calls.begin(operation, HASH));
            ExternalOperation running = ExternalOperation.of("charge", "t42", "running-" + orders);
            ExternalOperation fresh = ExternalOperation.of("charge", "t42", "fresh-" + orders);
            windowEnds(operation);
            yours(calls.begin(running, HASH));
            database.execute("update postroom.external_call set created_at = created_at - interval '25 hours',"
                    + " window_until = clock_timestamp() where key = '" + running + "'");
            yours(calls.begin(fresh, HASH));
            leaseEnds(fresh);
            database.postroom().maintenance().runOnce();
            assertThat(calls.find(operation.key()).orElseThrow().state()).isEqualTo(CallState.NEEDS_RECONCILIATION);
            assertThat(calls.find(running.key()).orElseThrow().state())
                    .as("somebody is at it")
                    .isEqualTo(CallState.CALLING);
            assertThat(calls.find(fresh.key()).orElseThrow().state()).isEqualTo(CallState.CALLING);
        }

        @Test
        void anAnswerThatComesAfterAllEndsIt() {
            Turn.Yours slow = yours(calls.begin(operation, HASH));
            windowEnds(operation);
            assertThat(calls.parkOverdue()).isPositive();
            ExternalCall done = database.postroom().database().transact(tx -> calls.done(tx, slow, "ch_1"));
            assertThat(done.state()).isEqualTo(CallState.DONE);
        }
    }

    @Nested
    class AReconciliation {
        @Test
        void endsACallAndIsAuditedOnce() {
            park();
            ExternalCall done =
                    calls.reconcile(operation.key(), CallState.DONE, "ch_77", "anna", "found it at the provider");
            assertThat(done.state()).isEqualTo(CallState.DONE);
            assertThat(done.reference()).isEqualTo("ch_77");
            assertThat(calls.reconcile(operation.key(), CallState.DONE, "ch_77", "anna", "again"))
                    .isEqualTo(done);
            List<AuditEntry> entries =
                    database.postroom().audit().list(AuditFilter.ofSubject("externalcall " + operation), null, 10);
            assertThat(entries).hasSize(1);
            assertThat(entries.get(0).action()).isEqualTo("externalcall reconcile");
            assertThat(entries.get(0).reason()).isEqualTo("found it at the provider");
            assertThat(entries.get(0).details()).contains("needs_reconciliation", "ch_77");
        }

        @Test
        void withAnotherReferenceIsRefused() {
            park();
            calls.reconcile(operation.key(), CallState.DONE, "ch_77", "anna", "found it at the provider");
            assertThatThrownBy(() -> calls.reconcile(operation.key(), CallState.DONE, "ch_78", "anna", "found another"))
                    .hasMessageContaining("it is done since")
                    .extracting("code")
                    .isEqualTo("externalcall.ended");
        }

        @Test
        void isFinalForTheZombieToo() {
            Turn.Yours zombie = yours(calls.begin(operation, HASH));
            leaseEnds(operation);
            calls.reconcile(operation.key(), CallState.DECLINED, null, "anna", "never arrived");
            assertThatThrownBy(() -> database.postroom().database().transact(tx -> calls.done(tx, zombie, "ch_1")))
                    .isInstanceOf(StaleAttemptException.class);
            assertThatThrownBy(() -> calls.reconcile(operation.key(), CallState.DONE, null, "anna", "oh"))
                    .hasMessageContaining("it is declined since")
                    .extracting("code")
                    .isEqualTo("externalcall.ended");
        }

        @Test
        void isRefusedWhileAnAttemptMayCall() {
            yours(calls.begin(operation, HASH));
            for (CallState outcome : List.of(CallState.DONE, CallState.DECLINED)) {
                assertThatThrownBy(() -> calls.reconcile(operation.key(), outcome, null, "anna", "hasty"))
                        .hasMessageContaining("attempt 1 may call until")
                        .extracting("code")
                        .isEqualTo("externalcall.is-calling");
            }
        }

        @Test
        void namesACallThatIsThere() {
            assertThatThrownBy(() -> calls.reconcile("charge:t42:nobody:r1", CallState.DONE, null, "anna", "r"))
                    .extracting("code")
                    .isEqualTo("externalcall.unknown");
        }

        @Test
        void reportsEveryProblemAtOnce() {
            assertThatThrownBy(() -> calls.reconcile("k", CallState.CALLING, "a\nb", "", "two\nlines"))
                    .hasMessageContaining("actor is empty")
                    .hasMessageContaining("reason has a control character")
                    .hasMessageContaining("the outcome is calling, it must be done or declined")
                    .hasMessageContaining("the reference is 3 characters");
            assertThatThrownBy(() -> calls.reconcile("k", CallState.DECLINED, "ch_1", "anna", "r"))
                    .hasMessageContaining("what was declined has no reference");
        }

        private void park() {
            calls.park(yours(calls.begin(operation, HASH)), "the provider repeats a stored 500");
            assertThat(calls.begin(operation, HASH)).isInstanceOf(Turn.Parked.class);
        }
    }

    static Stream<Arguments> badOperations() {
        return Stream.of(
                Arguments.of("", "t", "b", 1, "name is '', 0 characters; it must be 1 to 50"),
                Arguments.of("Charge", "t", "b", 1, "name is 'Charge'"),
                Arguments.of("a:b", "t", "b", 1, "name is 'a:b'"),
                Arguments.of("a".repeat(51), "t", "b", 1, "51 characters; it must be 1 to 50"),
                Arguments.of("a", "", "b", 1, "tenant is ''"),
                Arguments.of("a", "t:u", "b", 1, "tenant is 't:u'"),
                Arguments.of("a", "t\u0000", "b", 1, "tenant is 't?'"),
                Arguments.of("a", "t", "anna@example.com", 1, "no e-mail address"),
                Arguments.of("a", "t", "order 7", 1, "business id is 'order 7'"),
                Arguments.of("a", "t", "b".repeat(201), 1, "201 characters; it must be 1 to 200"),
                Arguments.of("a", "t", "b", 0, "revision is 0, the range is 1 to 1000"),
                Arguments.of("a", "t", "b", 1001, "revision is 1001"),
                Arguments.of(
                        "a".repeat(50),
                        "t".repeat(100),
                        "b".repeat(110),
                        1,
                        "key is 265 characters, the limit is 255"));
    }

    @ParameterizedTest
    @MethodSource("badOperations")
    void refusesNamesThatMakeNoKey(String name, String tenant, String businessId, int revision, String problem) {
        assertThatThrownBy(() -> new ExternalOperation(name, tenant, businessId, revision))
                .hasMessageContaining(problem)
                .extracting("code")
                .isEqualTo("externalcall.operation-invalid");
    }

    @Test
    void noTwoOperationsHaveOneKey() {
        assertThat(ExternalOperation.of("a", "t", "b:r2").key())
                .isNotEqualTo(new ExternalOperation("a", "t", "b", 2).key());
        assertThat(Stream.of(
                                ExternalOperation.of("a", "t", "b:c"),
                                ExternalOperation.of("a", "t", "b"),
                                ExternalOperation.of("a", "u", "b"),
                                ExternalOperation.of("b", "t", "b"),
                                ExternalOperation.of("a", "t", "b").next())
                        .map(ExternalOperation::key))
                .doesNotHaveDuplicates();
    }

    @ParameterizedTest
    @CsvSource({
        "PT0.5S, PT24H, lease is PT0.5S",
        "PT2H, PT24H, lease is PT2H",
        "PT1M, PT1M, window is PT1M",
        "PT1M, PT9000H, window is PT9000H"
    })
    void refusesALeaseOrWindowOutOfRange(Duration lease, Duration window, String problem) {
        assertThatThrownBy(() -> calls.lease(lease).window(window))
                .hasMessageContaining(problem)
                .extracting("code")
                .isEqualTo("externalcall.settings-invalid");
    }

    @Test
    void refusesAReferenceThatDoesNotFit() {
        Turn.Yours attempt = yours(calls.begin(operation, HASH));
        for (String bad : List.of("", " ", "a\u0000b", "x".repeat(256))) {
            assertThatThrownBy(() -> database.postroom().database().transact(tx -> calls.done(tx, attempt, bad)))
                    .hasMessageContaining("it must be 1 to 255 without control characters");
        }
        assertThat(database.postroom()
                        .database()
                        .transact(tx -> calls.done(tx, attempt, "x".repeat(255)))
                        .reference())
                .hasSize(255);
    }

    @Test
    void listsByStateNameAndTenantFromTheNewestOn() {
        for (int i = 0; i < 5; i++) {
            calls.begin(ExternalOperation.of("listed", i % 2 == 0 ? "even" : "odd", "b" + i), HASH);
        }
        ExternalCallFilter listed = new ExternalCallFilter(null, "listed", null);
        List<ExternalCall> page = calls.list(listed, null, 2);
        assertThat(page).extracting(call -> call.operation().businessId()).containsExactly("b4", "b3");
        assertThat(calls.list(listed, page.get(1).id(), 10))
                .extracting(call -> call.operation().businessId())
                .containsExactly("b2", "b1", "b0");
        assertThat(calls.list(new ExternalCallFilter(CallState.CALLING, "listed", "odd"), null, 10))
                .hasSize(2);
        assertThat(calls.list(new ExternalCallFilter(CallState.DONE, "listed", null), null, 10))
                .isEmpty();
        assertThatThrownBy(() -> calls.list(ExternalCallFilter.ALL, null, 1001)).hasMessageContaining("1 to 1000");
    }

    @FunctionalInterface
    interface ThrowingAct {
        void run() throws Exception;
    }

    static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(30, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
