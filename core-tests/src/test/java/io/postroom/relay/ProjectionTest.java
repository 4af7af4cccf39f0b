package io.postroom.relay;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.Postroom;
import io.postroom.inbox.Inbox;
import io.postroom.inbox.Received;
import io.postroom.message.Envelope;
import io.postroom.message.Message;
import io.postroom.message.Upcasters;
import io.postroom.retry.RetryPolicy;
import io.postroom.telemetry.Telemetry;
import io.postroom.testkit.CutProxy;
import io.postroom.testkit.Messages;
import io.postroom.testkit.TestDatabase;
import io.postroom.testkit.TestPostgres;
import java.net.ConnectException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.ds.PGSimpleDataSource;

/** Messages that take effect in the transaction that moves their lane. One lane, so that all keys share it. */
class ProjectionTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final RetryPolicy THREE_AT_ONCE =
            RetryPolicy.builder().immediate(3).attemptsMax(3).build();

    private TestDatabase database;

    /** How many messages each run of the projection got. */
    private final List<Integer> batches = new CopyOnWriteArrayList<>();

    @BeforeEach
    void create() throws SQLException {
        database = TestDatabase.create();
        database.execute("create table applied (id uuid, key text, version bigint, attempt int, n serial)");
    }

    @AfterEach
    void drop() {
        database.close();
    }

    @Test
    void appliesBatchesTogetherWithTheirPosition() throws Exception {
        publish(Messages.ofManyKeys("k", 250));
        AtomicInteger seen = new AtomicInteger();
        Projection projection = (tx, batch) -> {
            seen.addAndGet((int) count("applied"));
            apply(tx, batch);
        };
        try (Relay relay = relay(projection).batch(100, 1_048_576).build()) {
            assertThat(relay.runOnce()).isEqualTo(250);
        }
        assertThat(batches).containsExactly(100, 100, 50);
        assertThat(seen).as("others see a batch when it is committed").hasValue(0 + 100 + 200);
        assertEachAppliedOnce(250);
        assertThat(position()).isEqualTo(250);
        assertThat(count("delivery")).isZero();
    }

    @Test
    void nothingOfABatchThatFailsStaysAndOnlyTheMessageAtFaultIsGivenUp() throws Exception {
        publish(Messages.ofManyKeys("good", 300));
        List<Message> bad = Messages.sequence("bad", 3);
        publish(bad);
        publish(Messages.ofManyKeys("more", 300));
        Projection projection = failing(
                bad.get(0),
                // After it wrote: what it wrote must go.
                tx -> {
                    throw new IllegalStateException("not this one");
                });
        try (Relay relay = relay(projection).build()) {
            relay.runOnce();
        }
        assertThat(count("applied where id = '" + bad.get(0).id() + "'")).isZero();
        assertEachAppliedOnce(602);
        assertThat(versions("bad")).containsExactly(2L, 3L);
        assertThat(batches.size()).as("halves, not single ones: %s", batches).isLessThan(40);
        assertThat(count("dead_letter where message_id = '" + bad.get(0).id()
                        + "' and cause = 'exhausted' and attempts = 3 and error = 'not this one'"
                        + " and jsonb_array_length(history) = 3"))
                .isEqualTo(1);
        assertThat(count("dead_letter")).isEqualTo(1);
        assertThat(count("delivery")).isZero();
    }

    @Test
    void laterMessagesOfAFailingKeyWaitForIt() throws Exception {
        List<Message> bad = Messages.sequence("bad", 5);
        publish(bad);
        publish(Messages.ofManyKeys("good", 50));
        AtomicInteger failures = new AtomicInteger(2);
        Projection projection = failing(bad.get(1), tx -> {
            if (failures.get() > 0 && batches.get(batches.size() - 1) == 1) {
                failures.decrementAndGet();
                throw new IllegalStateException("not now");
            } else if (failures.get() > 0) {
                throw new IllegalStateException("not in this company");
            }
        });
        try (Relay relay = relay(projection).build()) {
            relay.runOnce();
        }
        assertEachAppliedOnce(55);
        assertThat(versions("bad")).containsExactly(1L, 2L, 3L, 4L, 5L);
        assertThat(count("dead_letter")).isZero();
    }

    @Test
    void aRejectedMessageIsBuriedAtItsFirstAttempt() throws Exception {
        List<Message> messages = Messages.sequence("key", 3);
        publish(messages);
        try (Relay relay = relay(failing(messages.get(1), tx -> {
                    throw new OutcomeException(Outcome.rejected("never"));
                }))
                .build()) {
            relay.runOnce();
        }
        assertThat(versions("key")).containsExactly(1L, 3L);
        assertThat(count("dead_letter where cause = 'rejected' and attempts = 1"))
                .isEqualTo(1);
    }

    /** The way to the database is cut when PostgreSQL has committed, before the relay hears of it. */
    @Test
    void aBatchWhoseCommitIsNotAnsweredIsNotAppliedAgain() throws Exception {
        publish(Messages.ofManyKeys("k", 120));
        try (CutProxy proxy = CutProxy.to(TestPostgres.shared().port())) {
            Projection projection = (tx, batch) -> {
                apply(tx, batch);
                if (batches.size() == 2) {
                    proxy.cutAfterNextCommit();
                }
            };
            try (Relay relay =
                    relay(through(proxy), projection).batch(50, 1_048_576).build()) {
                relay.start();
                await(() -> position() == 120);
            }
            assertThat(proxy.commitsCut()).isEqualTo(1);
        }
        assertThat(batches).containsExactly(50, 50, 20);
        assertEachAppliedOnce(120);
    }

    /** The same for a message that has a delivery, with others of its key behind it. */
    @Test
    void aRetryWhoseCommitIsNotAnsweredIsNotAppliedAgain() throws Exception {
        List<Message> bad = Messages.sequence("bad", 3);
        publish(bad);
        try (CutProxy proxy = CutProxy.to(TestPostgres.shared().port())) {
            Projection projection = failing(bad.get(0), tx -> {
                if (batches.size() < 3) {
                    throw new IllegalStateException("not now");
                }
                proxy.cutAfterNextCommit();
            });
            try (Relay relay = relay(through(proxy), projection).build()) {
                relay.start();
                await(() -> count("applied") == 3 && count("delivery") == 0);
            }
            assertThat(proxy.commitsCut()).isEqualTo(1);
        }
        assertThat(versions("bad")).containsExactly(1L, 2L, 3L);
    }

    @Test
    void aConnectionCutInTheMiddleOfABatchLosesAndRepeatsNothing() throws Exception {
        publish(Messages.ofManyKeys("k", 100));
        try (CutProxy proxy = CutProxy.to(TestPostgres.shared().port())) {
            Projection projection = (tx, batch) -> {
                if (batches.size() == 1) {
                    proxy.cut();
                }
                apply(tx, batch);
            };
            try (Relay relay =
                    relay(through(proxy), projection).batch(50, 1_048_576).build()) {
                relay.start();
                await(() -> position() == 100);
            }
        }
        assertEachAppliedOnce(100);
        assertThat(count("attempt")).as("no attempt is counted").isZero();
    }

    @Test
    void aMessageThatHangsIsFoundAndTheOthersGoOn() throws Exception {
        publish(Messages.ofManyKeys("good", 20));
        List<Message> bad = Messages.sequence("bad", 2);
        publish(bad);
        publish(Messages.ofManyKeys("more", 20));
        CountDownLatch over = new CountDownLatch(1);
        Projection projection = failing(bad.get(0), tx -> awaitDeaf(over));
        Subscription subscription = subscription()
                .retry(RetryPolicy.builder().immediate(2).attemptsMax(2).build())
                .deadline(Duration.ofMillis(300))
                .build();
        try (Relay relay = postroom().relay().project(subscription, projection).build()) {
            relay.start();
            await(() -> count("dead_letter") == 1 && count("applied") == 41);
            over.countDown();
        }
        assertThat(count("dead_letter where message_id = '" + bad.get(0).id() + "' and error_class = 'timeout'"))
                .isEqualTo(1);
        assertEachAppliedOnce(41);
    }

    /** It is busy all the time, so PostgreSQL sees nothing that hangs; it holds a lock, and comes back when another has taken over. */
    @Test
    void aBatchThatComesBackAfterItsDeadlineTakesNoEffectAndKeepsNoLock() throws Exception {
        publish(Messages.sequence("slow", 1));
        CountDownLatch second = new CountDownLatch(1);
        CountDownLatch returned = new CountDownLatch(1);
        database.execute("create table total (n bigint)", "insert into total values (0)");
        Projection projection = (tx, batch) -> {
            batches.add(batch.size());
            boolean first = batches.size() == 1;
            if (!first) {
                second.countDown();
            }
            try (Statement statement = tx.createStatement()) {
                statement.execute("update total set n = n + 1");
                while (first && second.getCount() > 0) {
                    statement.execute("select 1");
                }
            } catch (SQLException e) {
                // It goes on as if nothing had happened.
            } finally {
                returned.countDown();
            }
            awaitDeaf(returned);
        };
        Subscription subscription =
                subscription().deadline(Duration.ofMillis(300)).build();
        try (Relay relay = postroom().relay().project(subscription, projection).build()) {
            relay.start();
            await(() -> position() == 1 && count("delivery") == 0 && batches.size() >= 2);
        }
        assertThat(count("total where n = 1")).isEqualTo(1);
        assertThat(count("dead_letter")).isZero();
    }

    /** Its first message is in the hands of the thread that has taken over, by itself: that is not the batch. */
    @Test
    void aBatchThatComesBackWhileItsFirstMessageGoesAgainDoesNotTakeTheLaneBack() throws Exception {
        publish(Messages.sequence("slow", 3));
        CountDownLatch second = new CountDownLatch(1);
        CountDownLatch returning = new CountDownLatch(1);
        AtomicReference<Thread> hung = new AtomicReference<>();
        Projection projection = (tx, batch) -> {
            batches.add(batch.size());
            if (batches.size() == 1) {
                hung.set(Thread.currentThread());
                awaitDeaf(second);
                returning.countDown();
            } else if (batches.size() == 2) {
                second.countDown();
                awaitDeaf(returning);
                // Not for ever: a thread that has taken the lane back goes on.
                hung.get().join(Duration.ofMillis(500).toMillis());
            }
            insert(tx, batch);
        };
        Subscription subscription =
                subscription().deadline(Duration.ofSeconds(3)).build();
        try (Relay relay = postroom().relay().project(subscription, projection).build()) {
            relay.start();
            await(() -> position() == 3 && count("applied") == 3);
        }
        assertThat(batches).containsExactly(3, 1, 1, 1);
        assertThat(versions("slow")).containsExactly(1L, 2L, 3L);
        assertThat(database.queryLong("select fence from postroom.lane"))
                .as("taken once")
                .isEqualTo(1);
    }

    /** Nothing is said of it before the commit, where nobody could tell whose fault it is. */
    @Test
    void whatIsCheckedAtTheCommitIsTheFaultOfTheMessageThatBrokeIt() throws Exception {
        database.execute(
                "create table customer (id text primary key)",
                "insert into customer select 'k-' || n from generate_series(0, 100) as n",
                "create table purchase (customer text references customer (id) deferrable initially deferred)");
        publish(Messages.ofManyKeys("k", 20));
        publish(Messages.sequence("stranger", 1));
        publish(Messages.ofManyKeys("k", 20));
        Projection projection = (tx, batch) -> {
            apply(tx, batch);
            try (PreparedStatement insert = tx.prepareStatement("insert into purchase (customer) values (?)")) {
                for (Envelope envelope : batch) {
                    insert.setString(1, envelope.message().aggregateId());
                    insert.addBatch();
                }
                insert.executeBatch();
            }
        };
        try (Relay relay = relay(projection).build()) {
            relay.runOnce();
        }
        assertEachAppliedOnce(40);
        assertThat(
                        count(
                                "dead_letter where aggregate_id = 'stranger' and attempts = 3 and error like '%violates foreign key%'"))
                .isEqualTo(1);
    }

    /** Also a message whose SQL takes its own connection down each time, while everybody else can work. */
    @Test
    void aMessageThatEndsItsOwnSessionIsFoundInTheEnd() throws Exception {
        publish(Messages.ofManyKeys("good", 3));
        List<Message> bad = Messages.sequence("bad", 1);
        publish(bad);
        Projection projection = failing(bad.get(0), tx -> {
            try (Statement statement = tx.createStatement()) {
                statement.execute("select pg_terminate_backend(pg_backend_pid())");
            }
        });
        try (Relay relay = relay(projection).build()) {
            relay.start();
            await(() -> count("dead_letter") == 1 && count("applied") == 3);
        }
        assertEachAppliedOnce(3);
    }

    @Test
    void aProjectionThatIsUnavailableOpensTheCircuitAtOnce() throws Exception {
        publish(Messages.ofManyKeys("k", 64));
        AtomicInteger away = new AtomicInteger(1);
        Projection projection = (tx, batch) -> {
            apply(tx, batch);
            if (away.getAndDecrement() > 0) {
                throw new OutcomeException(Outcome.unavailable("not now"));
            }
        };
        try (Relay relay = relay(projection)
                .probe(Duration.ofMillis(10), Duration.ofMillis(20))
                .build()) {
            relay.start();
            await(() -> position() == 64);
        }
        assertThat(batches).startsWith(64, 1);
        assertEachAppliedOnce(64);
        assertThat(count("attempt")).isZero();
    }

    /** A projection that calls a host for each tenant, say, and one of those is gone. */
    @Test
    void aMessageThatCannotConnectIsGivenUpWhileOthersTakeEffect() throws Exception {
        List<Message> bad = Messages.sequence("bad", 2);
        publish(bad);
        publish(Messages.ofManyKeys("good", 10));
        Projection projection = failing(bad.get(0), tx -> {
            throw new ConnectException("refused");
        });
        int more = 0;
        try (Relay relay = relay(projection)
                .probe(Duration.ofMillis(10), Duration.ofMillis(20))
                .build()) {
            relay.start();
            for (long letters = 0; letters == 0; letters = count("dead_letter")) {
                publish(List.of(Messages.order("more-" + more)));
                more++;
                long expected = 10L + more;
                await(() -> count("applied where key <> 'bad'") == expected);
            }
            await(() -> count("delivery") == 0);
        }
        assertThat(count("dead_letter where message_id = '" + bad.get(0).id()
                        + "' and cause = 'exhausted' and attempts = 3 and error = 'refused'"))
                .isEqualTo(1);
        assertEachAppliedOnce(10 + more + 1);
        assertThat(versions("bad")).containsExactly(2L);
    }

    @Test
    void aProjectionThatCannotConnectForAnybodyCountsNoAttempt() throws Exception {
        for (int key = 0; key < 5; key++) {
            publish(Messages.sequence("key-" + key, 4));
        }
        AtomicBoolean away = new AtomicBoolean(true);
        AtomicInteger refused = new AtomicInteger();
        Projection projection = (tx, batch) -> {
            apply(tx, batch);
            if (away.get()) {
                refused.incrementAndGet();
                throw new ConnectException("refused");
            }
        };
        try (Relay relay = relay(projection)
                .probe(Duration.ofMillis(5), Duration.ofMillis(10))
                .build()) {
            relay.start();
            await(() -> refused.get() > 60);
            assertThat(count("dead_letter")).isZero();
            assertThat(count("attempt")).isZero();
            assertThat(count("delivery where attempts > 0 and state <> 'sending'"))
                    .isZero();
            away.set(false);
            await(() -> position() == 20 && count("delivery") == 0);
        }
        assertEachAppliedOnce(20);
        for (int key = 0; key < 5; key++) {
            assertThat(versions("key-" + key)).containsExactly(1L, 2L, 3L, 4L);
        }
        assertThat(count("dead_letter")).isZero();
    }

    @Test
    void aProbeWhoseSessionEndsIsFollowedByAnother() throws Exception {
        publish(Messages.ofManyKeys("k", 8));
        AtomicInteger attempts = new AtomicInteger();
        Projection projection = (tx, batch) -> {
            apply(tx, batch);
            int attempt = attempts.incrementAndGet();
            if (attempt == 1) {
                throw new OutcomeException(Outcome.unavailable("not now"));
            }
            if (attempt == 2) {
                try (Statement statement = tx.createStatement()) {
                    statement.execute("select pg_terminate_backend(pg_backend_pid())");
                }
            }
        };
        try (Relay relay = relay(projection)
                .probe(Duration.ofMillis(10), Duration.ofMillis(20))
                .build()) {
            relay.start();
            await(() -> position() == 8);
        }
        assertEachAppliedOnce(8);
        assertThat(count("attempt")).isZero();
    }

    /** The batch is committed; what is thrown then does not undo it. */
    @Test
    void aTelemetryThatThrowsDoesNotMakeABatchTakeEffectTwice() throws Exception {
        publish(Messages.ofManyKeys("k", 100));
        AtomicInteger left = new AtomicInteger(1);
        Telemetry throwing = new Telemetry() {
            @Override
            public void settled(String subscription, int lane, long position) {
                if (position > 0 && left.getAndDecrement() > 0) {
                    throw new IllegalStateException("no metrics today");
                }
            }
        };
        Postroom postroom =
                Postroom.builder(database.dataSource()).telemetry(throwing).build();
        try (Relay relay = postroom.relay()
                .project(subscription().build(), this::apply)
                .batch(50, 1_048_576)
                .build()) {
            relay.start();
            await(() -> position() == 100);
        }
        assertThat(left).hasNonPositiveValue();
        assertEachAppliedOnce(100);
    }

    @Test
    void aProjectionCannotEndItsTransaction() throws Exception {
        List<String> endings = List.of("commit", "rollback", "close", "autocommit", "schema");
        for (String how : endings) {
            publish(Messages.sequence(how, 1));
        }
        Projection projection = (tx, batch) -> {
            apply(tx, batch);
            switch (batch.get(0).message().aggregateId()) {
                case "commit" -> tx.commit();
                case "rollback" -> tx.rollback();
                case "close" -> tx.close();
                case "autocommit" -> tx.setAutoCommit(true);
                default -> tx.setSchema("public");
            }
        };
        try (Relay relay = relay(projection).build()) {
            relay.runOnce();
        }
        assertThat(count("applied")).isZero();
        assertThat(count("dead_letter where error like 'could not %: the transaction belongs to the relay%'"))
                .isEqualTo(endings.size());
    }

    @ParameterizedTest
    @ValueSource(strings = {"commit", "rollback"})
    void aProjectionThatEndsItsTransactionInSqlIsFoundOut(String how) throws Exception {
        publish(Messages.sequence("key", 1));
        Projection projection = (tx, batch) -> {
            try (Statement statement = tx.createStatement()) {
                statement.execute(how);
            }
        };
        try (Relay relay = relay(projection).build()) {
            relay.runOnce();
        }
        assertThat(count("dead_letter where error like 'the projection ended the transaction it was given%'"))
                .isEqualTo(1);
        assertThat(position()).isEqualTo(1);
    }

    @Test
    void aFailureThatAProjectionKeepsToItselfIsOneAllTheSame() throws Exception {
        publish(Messages.sequence("key", 1));
        Projection projection = (tx, batch) -> {
            try (Statement statement = tx.createStatement()) {
                statement.execute("select 1 / 0");
            } catch (SQLException e) {
                // Kept to itself.
            }
        };
        try (Relay relay = relay(projection).build()) {
            relay.runOnce();
        }
        assertThat(count("dead_letter")).isEqualTo(1);
    }

    @Test
    void savepointsAreTheProjectionsOwn() throws Exception {
        publish(Messages.sequence("key", 2));
        Projection projection = (tx, batch) -> {
            var savepoint = tx.setSavepoint();
            apply(tx, batch);
            tx.rollback(savepoint);
            apply(tx, batch);
        };
        try (Relay relay = relay(projection).build()) {
            relay.runOnce();
        }
        assertEachAppliedOnce(2);
    }

    @Test
    void aConnectionThatIsKeptIsOfNoUse() throws Exception {
        publish(Messages.sequence("key", 1));
        AtomicReference<Connection> kept = new AtomicReference<>();
        try (Relay relay = relay((tx, batch) -> kept.set(tx)).build()) {
            relay.runOnce();
        }
        org.assertj.core.api.Assertions.assertThatThrownBy(
                        () -> kept.get().createStatement().close())
                .hasMessageContaining("is over");
    }

    /** Not the message's fault: others did something at the same time. */
    @Test
    void whatOthersDisturbIsDoneAgainAndNoAttemptIsCounted() throws Exception {
        int all = 0;
        for (String state : List.of("40001", "40P01", "55P03", "53200")) {
            publish(Messages.ofManyKeys("k", 10));
            all += 10;
            int end = all;
            batches.clear();
            AtomicInteger left = new AtomicInteger(3);
            Projection projection = (tx, batch) -> {
                apply(tx, batch);
                if (left.getAndDecrement() > 0) {
                    throw new IllegalStateException(new SQLException("disturbed", state));
                }
            };
            try (Relay relay = relay(projection).build()) {
                relay.start();
                await(() -> position() == end);
            }
            assertThat(batches).as(state).containsExactly(10, 10, 10, 10);
            assertEachAppliedOnce(all);
        }
        assertThat(count("attempt")).isZero();
    }

    @Test
    void whatIsDisturbedForEverIsFoundToBeTheMessagesFault() throws Exception {
        publish(Messages.ofManyKeys("good", 3));
        List<Message> bad = Messages.sequence("bad", 1);
        publish(bad);
        Projection projection = failing(bad.get(0), tx -> {
            throw new SQLException("disturbed", "40P01");
        });
        try (Relay relay = relay(projection)
                .poll(Duration.ofMillis(1), Duration.ofMillis(2))
                .build()) {
            relay.start();
            await(() -> count("dead_letter") == 1);
        }
        assertEachAppliedOnce(3);
    }

    @Test
    void scheduledMessagesTakeEffectWhenTheyAreDue() throws Exception {
        publish(List.of(Messages.sequence("later", 1).get(0)));
        database.execute(
                "select postroom.publish(aggregate_type => 'order', aggregate_id => 'scheduled', event_type => 'Later',"
                        + " payload => '{}', aggregate_version => 1, available_at => clock_timestamp() + interval '400 ms')");
        try (Relay relay = relay(this::apply).build()) {
            relay.start();
            await(() -> count("applied") == 2 && count("delivery") == 0);
        }
        assertEachAppliedOnce(2);
    }

    @Test
    void behindAnInboxOnlyWhatComesForTheFirstTimeTakesEffect() throws Exception {
        List<Message> messages = Messages.ofManyKeys("k", 20);
        publish(messages);
        Inbox inbox = postroom().inbox();
        try (Connection tx = database.begin()) {
            // Two came by another way: one as it is here, one that only has the same id.
            inbox.accept(
                    tx,
                    "ledger",
                    messages.get(3).id(),
                    Received.of(messages.get(3)).payloadHash());
            inbox.accept(tx, "ledger", messages.get(4).id(), new byte[32]);
            tx.commit();
        }
        Projection projection = this::apply;
        try (Relay relay = relay(projection.behind(inbox, "ledger")).build()) {
            relay.runOnce();
        }
        assertEachAppliedOnce(18);
        assertThat(count("inbox")).isEqualTo(20);
        assertThat(count("dead_letter where cause = 'rejected' and message_id = '"
                        + messages.get(4).id() + "' and error like '%with another payload: %'"))
                .isEqualTo(1);
    }

    /** What was accepted before a release that reads it in another version is a duplicate after it, not another message. */
    @Test
    void anUpcasterDoesNotMakeAMessageAnotherOneForItsInbox() throws Exception {
        List<Message> messages = Messages.ofManyKeys("k", 5);
        publish(messages);
        try (Connection tx = database.begin()) {
            for (Message message : messages.subList(0, 3)) {
                postroom()
                        .inbox()
                        .accept(tx, "ledger", message.id(), Received.of(message).payloadHash());
            }
            tx.commit();
        }
        Upcasters upcasters = Upcasters.builder()
                .add(messages.get(0).eventType(), 1, payload -> "{\"newer\":true}")
                .build();
        Projection projection = this::apply;
        Postroom newer =
                Postroom.builder(database.dataSource()).upcasters(upcasters).build();
        try (Relay relay = newer.relay()
                .project(subscription().build(), projection.behind(newer.inbox(), "ledger"))
                .build()) {
            relay.runOnce();
        }
        assertEachAppliedOnce(2);
        assertThat(count("dead_letter")).isZero();
    }

    private static void awaitDeaf(CountDownLatch latch) {
        boolean done = false;
        while (!done) {
            try {
                done = latch.await(20, TimeUnit.SECONDS);
            } catch (InterruptedException e) {
                // It does not listen.
            }
        }
    }

    /** What is to happen when a message is applied. */
    private interface Act {
        void run(Connection tx) throws Exception;
    }

    private Projection failing(Message message, Act act) {
        return (tx, batch) -> {
            apply(tx, batch);
            if (batch.stream().anyMatch(each -> each.message().id().equals(message.id()))) {
                act.run(tx);
            }
        };
    }

    private void apply(Connection tx, List<Envelope> batch) throws SQLException {
        batches.add(batch.size());
        insert(tx, batch);
    }

    private static void insert(Connection tx, List<Envelope> batch) throws SQLException {
        try (PreparedStatement insert =
                tx.prepareStatement("insert into applied (id, key, version, attempt) values (?, ?, ?, ?)")) {
            for (Envelope envelope : batch) {
                insert.setObject(1, envelope.message().id());
                insert.setString(2, envelope.message().aggregateId());
                insert.setObject(3, envelope.message().aggregateVersion());
                insert.setInt(4, envelope.attempt());
                insert.addBatch();
            }
            insert.executeBatch();
        }
    }

    private void assertEachAppliedOnce(int messages) {
        assertThat(count("applied")).isEqualTo(messages);
        assertThat(count("(select distinct id from applied) as one")).isEqualTo(messages);
    }

    private List<Long> versions(String key) throws SQLException {
        List<Long> versions = new ArrayList<>();
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement();
                var row = statement.executeQuery("select version from applied where key = '" + key + "' order by n")) {
            while (row.next()) {
                versions.add(row.getLong(1));
            }
        }
        return versions;
    }

    private long position() {
        return database.queryLong("select min(position) from postroom.lane");
    }

    private long count(String what) {
        String table = what.startsWith("applied") || what.startsWith("total") || what.startsWith("(")
                ? what
                : "postroom." + what;
        return database.queryLong("select count(*) from " + table);
    }

    private Subscription.Builder subscription() {
        return Subscription.named("ledger").lanes(1).retry(THREE_AT_ONCE);
    }

    private Postroom postroom() {
        return database.postroom();
    }

    private Relay.Builder relay(Projection projection) {
        return postroom().relay().project(subscription().build(), projection);
    }

    private Relay.Builder relay(DataSource dataSource, Projection projection) {
        return Postroom.on(dataSource).relay().project(subscription().build(), projection);
    }

    private DataSource through(CutProxy proxy) {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl(proxy.url(database.url()));
        return source;
    }

    private void publish(List<Message> messages) throws SQLException {
        try (Connection tx = database.begin()) {
            database.postroom().outbox().publishAll(tx, messages);
            tx.commit();
        }
    }

    private static void await(BooleanSupplier condition) {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime() - deadline).as("still not").isNegative();
            LockSupport.parkNanos(20_000_000);
        }
    }
}
