package io.postroom.fault;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.postroom.Postroom;
import io.postroom.message.Message;
import io.postroom.relay.Relay;
import io.postroom.relay.Subscription;
import io.postroom.testkit.TestDatabase;
import io.postroom.testkit.TestPostgres;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * The rows of a schema, as a dump would have them, in a cluster that did not write them: its transaction ids mean other things.
 *
 * <p>At the time of the copy a third of the messages was delivered, a third was stamped, and a third was not even stamped.
 */
class RestoredCopyTest {
    private static final int KEYS = 10;
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private static TestPostgres newCluster;

    private final History history = new History();
    private TestDatabase source;
    private TestDatabase copy;

    @BeforeAll
    static void start() {
        newCluster = TestPostgres.start();
    }

    @AfterAll
    static void stop() {
        newCluster.close();
    }

    @BeforeEach
    void create() {
        source = TestDatabase.create();
        copy = TestDatabase.empty(newCluster);
        copy.postroom().migrations().migrate();
    }

    @AfterEach
    void drop() {
        source.close();
        copy.close();
    }

    @Test
    void deliversWhatWasNotDeliveredWhereTransactionIdsAreSmaller() throws Exception {
        spendTransactionIds(source, transactionId(copy) + 5_000);
        deliverAThird();
        CopiedRows.copy(source, copy);
        assertThat(copy.queryLong("select max(xid)::text::bigint from postroom.outbox"))
                .as("the copy has messages of transactions that do not exist here yet")
                .isGreaterThan(transactionId(copy) + 1_000);
        assertThatTheRestIsDelivered(10 * KEYS);
    }

    @Test
    void deliversWhatWasNotDeliveredWhereTransactionIdsAreGreater() throws Exception {
        deliverAThird();
        spendTransactionIds(copy, transactionId(source) + 5_000);
        CopiedRows.copy(source, copy);
        assertThat(copy.queryLong("select max(xid)::text::bigint from postroom.outbox"))
                .as("the copy has messages of transactions that were others here")
                .isLessThan(transactionId(copy) - 1_000);
        assertThatTheRestIsDelivered(10 * KEYS);
    }

    @Test
    void deliversWhatWasNotDeliveredWhenTheCopyWasTakenInTheMiddleOfALargeStamp() throws Exception {
        spendTransactionIds(source, transactionId(copy) + 5_000);
        deliverAThird();
        // Ten of a hundred: the tick says where to go on, with snapshots that mean nothing in the copy.
        assertThat(source.queryLong("select stamped from postroom.stamp(10, '')"))
                .isEqualTo(10);
        assertThat(source.queryLong("select count(*) from postroom.tick where target is not null"))
                .isPositive();
        CopiedRows.copy(source, copy);
        assertThatTheRestIsDelivered(10 * KEYS - 10);
    }

    @Test
    void deliversWhatWasNotDeliveredFromADumpOfTheWholeDatabase() throws Exception {
        Optional<String> missing = Dump.missing(source);
        assumeTrue(missing.isEmpty(), missing::toString);
        spendTransactionIds(source, transactionId(copy) + 5_000);
        deliverAThird();
        source.execute("create table account (id text primary key)", "insert into account values ('account-0')");
        Dump.copy(source, copy);
        assertThat(copy.queryLong("select count(*) from account"))
                .as("the application's own")
                .isOne();
        assertThat(copy.queryLong("select max(xid)::text::bigint from postroom.outbox"))
                .as("the copy has messages of transactions that do not exist here yet")
                .isGreaterThan(transactionId(copy) + 1_000);
        copy.postroom().migrations().validate();
        assertThatTheRestIsDelivered(10 * KEYS);
        assertThat(copy.queryLong("select count(*) from postroom.outbox_default"))
                .as("partitions are what they were")
                .isZero();
    }

    @Test
    void deliversOnceWhenSeveralRelaysMeetInTheCopyWhileApplicationsPublish() throws Exception {
        spendTransactionIds(source, transactionId(copy) + 5_000);
        deliverAThird();
        CopiedRows.copy(source, copy);
        try (Relay first = relay(copy, new Counters());
                Relay second = relay(copy, new Counters());
                Relay third = relay(copy, new Counters())) {
            List<Thread> starting = new ArrayList<>();
            for (Relay relay : List.of(first, second, third)) {
                Thread thread = new Thread(relay::start, "starting");
                thread.start();
                starting.add(thread);
            }
            for (int version = 31; version <= 60; version++) {
                publish(copy, version, version);
            }
            for (Thread thread : starting) {
                thread.join();
            }
            awaitAll();
        }
        assertThat(history.violations(Truth.stored(copy.dataSource()))).isEmpty();
        assertThat(history.duplicates()).isZero();
    }

    /** Versions 1 to 10 delivered, 11 to 20 stamped, 21 to 30 published. */
    private void deliverAThird() throws SQLException {
        publish(source, 1, 10);
        try (Relay relay = relay(source, new Counters())) {
            assertThat(relay.runOnce()).isEqualTo(10 * KEYS);
        }
        publish(source, 11, 20);
        source.postroom().journal().stampAll();
        publish(source, 21, 30);
    }

    private void assertThatTheRestIsDelivered(long unstamped) throws SQLException {
        publish(copy, 31, 35);
        Counters counters = new Counters();
        try (CapturedLog log = new CapturedLog();
                Relay relay = relay(copy, counters)) {
            relay.runOnce();
            publish(copy, 36, 40);
            relay.runOnce();
            assertThat(log.text())
                    .contains("the journal of schema postroom was stamped in another cluster")
                    .contains("restamped the journal of schema postroom");
        }
        assertThat(history.violations(Truth.stored(copy.dataSource()))).isEmpty();
        assertThat(history.duplicates())
                .as("what was settled is not delivered again")
                .isZero();
        assertThat(counters.restamped.get()).isEqualTo(unstamped + 5 * KEYS);
        assertThat(copy.queryLong("select count(*) from postroom.cluster")).isEqualTo(2);
        assertThat(copy.queryLong("select system_identifier from postroom.cluster order by since desc limit 1"))
                .isEqualTo(copy.queryLong("select system_identifier from pg_control_system()"));
    }

    private Relay relay(TestDatabase database, Counters counters) {
        return Postroom.builder(database.dataSource())
                .telemetry(counters)
                .build()
                .relay()
                .handle(
                        Subscription.named("all").lanes(4).build(),
                        envelope -> history.delivered(History.Delivery.of("relay", envelope)))
                .build();
    }

    /** Some versions of each key, all in one transaction. */
    private void publish(TestDatabase database, int from, int to) throws SQLException {
        List<UUID> ids = new ArrayList<>();
        try (Connection tx = database.begin()) {
            for (int version = from; version <= to; version++) {
                for (int key = 0; key < KEYS; key++) {
                    Message message = Message.about("account", "account-" + key)
                            .event("Counted")
                            .aggregateVersion(version)
                            .payload("{}")
                            .build();
                    ids.add(database.postroom().outbox().publish(tx, message));
                }
            }
            tx.commit();
        }
        history.acknowledged(ids);
    }

    private void awaitAll() {
        Deadline.await(
                () -> history.deliveredIds().size() + " of " + history.acknowledgedCount() + " delivered",
                PATIENCE,
                () -> history.deliveredIds().size() >= history.acknowledgedCount());
    }

    private static long transactionId(TestDatabase database) {
        return database.queryLong("select pg_current_xact_id()::text::bigint");
    }

    private static void spendTransactionIds(TestDatabase database, long upTo) {
        database.execute(
                "do $$ begin while pg_current_xact_id()::text::bigint < " + upTo + " loop commit; end loop; end $$");
    }
}
