package io.postroom.relay;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.Postroom;
import io.postroom.journal.Journal;
import io.postroom.message.Envelope;
import io.postroom.message.Message;
import io.postroom.postgres.Schema;
import io.postroom.retry.RetryPolicy;
import io.postroom.testkit.CrashPoint;
import io.postroom.testkit.CrashingDataSource;
import io.postroom.testkit.CutProxy;
import io.postroom.testkit.Messages;
import io.postroom.testkit.RecordingSink;
import io.postroom.testkit.TestDatabase;
import io.postroom.testkit.TestPostgres;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.ds.PGSimpleDataSource;

/** The way to the database breaks in the middle of what a lane writes about its deliveries, and the relay goes on. One lane. */
class LostAnswerTest {
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private final RecordingSink sink = new RecordingSink();
    private TestDatabase database;
    private CutProxy proxy;

    @BeforeEach
    void create() {
        database = TestDatabase.create();
        proxy = CutProxy.to(TestPostgres.shared().port());
    }

    @AfterEach
    void drop() {
        proxy.close();
        database.close();
    }

    @Test
    void aClaimWhoseAnswerIsLostIsTakenBackThoughNothingElseIsDue() throws Exception {
        failOnce();
        try (Relay relay = relay(before(Relay.class, "claim.sql", 1, proxy::cutAfterNextCommit))) {
            relay.start();
            sink.awaitAccepted(3, PATIENCE);
            await(() -> deliveries("") == 0);
        }
        assertThat(proxy.commitsCut()).isEqualTo(1);
        assertEachWasSentAsOftenAsItWasToBe();
    }

    @Test
    void aClaimWhoseMessagesCannotBeReadIsTakenBackThoughNothingElseIsDue() throws Exception {
        failOnce();
        AtomicLong claimed = new AtomicLong();
        // They are read from the journal the first time, and as what was claimed the second.
        DataSource broken = before(Journal.class, "read_messages.sql", 2, () -> {
            claimed.set(deliveries("where state = 'sending'"));
            proxy.cut();
        });
        try (Relay relay = relay(broken)) {
            relay.start();
            sink.awaitAccepted(3, PATIENCE);
            await(() -> deliveries("") == 0);
        }
        assertThat(claimed).as("claimed when the way was cut").hasValue(1);
        assertEachWasSentAsOftenAsItWasToBe();
    }

    /** It is accepted before the lane hears whether the slow message was noted. */
    @Test
    void aNoteWhoseAnswerIsLostLeavesNothingBehindAndHoldsUpNobody() throws Exception {
        sink.hang(message -> true);
        publish(Messages.sequence("slow", 1));
        DataSource broken = before(Relay.class, "begin_sending.sql", 1, () -> {
            sink.mend();
            proxy.cutAfterNextCommit();
            sink.release();
        });
        try (Relay relay = relay(broken)) {
            relay.start();
            await(() -> database.queryLong("select position from postroom.lane") == 1);
            assertThat(proxy.commitsCut()).isEqualTo(1);
            assertThat(deliveries("")).as("what is left of it").isZero();
            sink.answer(about("slow"), Outcome.retry("not now"), 1);
            publish(Messages.sequence("slow", 2));
            sink.awaitAccepted(3, PATIENCE);
            await(() -> deliveries("") == 0);
        }
        assertThat(versions("slow")).containsExactly(1L, 1L, 2L);
    }

    /** When it was settled is for operators only. A lane that took it for a failed record would not look before its next beat. */
    @Test
    void aRecordIsKnownToBeWrittenThoughNobodyCanBeToldWhen() throws Exception {
        failOnce();
        DataSource broken = before(Relay.class, "mark_settled.sql", 1, proxy::cut);
        try (Relay relay = relay(broken, Duration.ofMinutes(5))) {
            relay.start();
            sink.awaitAccepted(3, PATIENCE);
        }
        assertThat(proxy.connectionsCut()).isPositive();
        assertEachWasSentAsOftenAsItWasToBe();
    }

    /** The machine behind the connections is gone, and says nothing, while a lane has its row locked. */
    @ParameterizedTest
    @ValueSource(strings = {"keep.sql", "claim.sql"})
    void aLaneLeavesAConnectionThatNobodyAnswersAnyMore(String statement) throws Exception {
        failOnce();
        try (Relay relay = relay(before(Relay.class, statement, 1, proxy::strand))) {
            relay.start();
            sink.awaitAccepted(3, PATIENCE);
            await(() -> deliveries("") == 0);
        }
        assertThat(versions("bad")).containsExactly(1L, 2L, 3L);
    }

    @Test
    void aLaneThatNotesASlowMessageLeavesAConnectionThatNobodyAnswersAnyMore() throws Exception {
        sink.hang(message -> true);
        publish(Messages.sequence("slow", 1));
        try (Relay relay = relay(before(Relay.class, "begin_sending.sql", 1, proxy::strand))) {
            relay.start();
            await(() -> deliveries("where state = 'sending'") == 1);
            sink.mend();
            sink.release();
            await(() -> deliveries("") == 0);
        }
    }

    /** The first of three messages of a key fails once. */
    private void failOnce() throws SQLException {
        sink.answer(about("bad"), Outcome.retry("not now"), 1);
        publish(Messages.sequence("bad", 3));
    }

    private void assertEachWasSentAsOftenAsItWasToBe() {
        assertThat(versions("bad")).containsExactly(1L, 2L, 3L);
        assertThat(sink.attempts()).extracting(Envelope::attempt).containsExactly(1, 2, 1, 1);
    }

    private Relay relay(DataSource dataSource) {
        return relay(dataSource, Duration.ofSeconds(3));
    }

    private Relay relay(DataSource dataSource, Duration lease) {
        RetryPolicy soon = RetryPolicy.builder()
                .linear(Duration.ofMillis(20))
                .attemptsMax(100)
                .build();
        return Postroom.builder(dataSource)
                .answerWithin(Duration.ofSeconds(1))
                .build()
                .relay()
                .lease(lease)
                .stopGrace(Duration.ofSeconds(1))
                .deliver(Subscription.named("lost-answer").lanes(1).retry(soon).build(), sink)
                .build();
    }

    /** Connections through the proxy, each of them new; something happens before the n-th run of a statement. */
    private DataSource before(Class<?> owner, String statement, int time, Runnable act) {
        PGSimpleDataSource plain = new PGSimpleDataSource();
        plain.setUrl(proxy.url(database.url()));
        String text = Schema.POSTROOM.sql(owner, statement).text();
        return new CrashingDataSource(plain).before(text::equals, CrashPoint.act(statement, time, act));
    }

    private void publish(List<Message> messages) throws SQLException {
        try (Connection tx = database.begin()) {
            database.postroom().outbox().publishAll(tx, messages);
            tx.commit();
        }
    }

    private long deliveries(String where) {
        return database.queryLong("select count(*) from postroom.delivery " + where);
    }

    private List<Long> versions(String key) {
        return sink.accepted(key).stream().map(Message::aggregateVersion).toList();
    }

    private static Predicate<Message> about(String key) {
        return message -> message.aggregateId().equals(key);
    }

    private static void await(BooleanSupplier condition) {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).as("in time").isLessThan(deadline);
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
        }
    }
}
