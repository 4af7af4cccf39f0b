package io.postroom.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.entry;

import io.postroom.Postroom;
import io.postroom.PostroomException;
import io.postroom.deadletter.DeadLetterFilter;
import io.postroom.deadletter.RedriveRequest;
import io.postroom.journal.Journal;
import io.postroom.message.Message;
import io.postroom.message.Upcasters;
import io.postroom.postgres.Grants;
import io.postroom.postgres.Schema;
import io.postroom.relay.OnBurial;
import io.postroom.relay.Outcome;
import io.postroom.relay.Relay;
import io.postroom.relay.Sink;
import io.postroom.relay.Start;
import io.postroom.relay.Subscription;
import io.postroom.retry.RetryPolicy;
import io.postroom.subscription.Act;
import io.postroom.subscription.Point;
import io.postroom.subscription.ReplayRequest;
import io.postroom.telemetry.Telemetry;
import io.postroom.testkit.Messages;
import io.postroom.testkit.RecordingSink;
import io.postroom.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.postgresql.ds.PGSimpleDataSource;

/** Every reason, in a situation that really has it. */
class WhyTest {
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final RetryPolicy IN_AN_HOUR = RetryPolicy.builder()
            .linear(Duration.ofHours(1))
            .jitter(0)
            .attemptsMax(5)
            .build();

    private static TestDatabase database;

    private final RecordingSink sink = new RecordingSink();
    private final String name = "why-" + UUID.randomUUID();
    private final Message first = Messages.order("a");
    private final Message second = Messages.order("a");
    private RetryPolicy retry = RetryPolicy.STANDARD;
    private long begin;

    @BeforeAll
    static void create() {
        database = TestDatabase.create();
    }

    @AfterAll
    static void drop() {
        database.close();
    }

    @BeforeEach
    void begin() {
        database.postroom().journal().stampAll();
        begin = database.postroom().journal().refreshHead().position();
        database.execute("delete from postroom.relay");
    }

    @Test
    void aMessageThatEveryoneHasIsDelivered() throws SQLException {
        publish(first);
        runOnce();
        Answer answer = answer(first, Verdict.DONE, Code.DELIVERED);
        assertThat(answer.headline())
                .matches("was delivered by relay node-7, no later than \\S+Z: lane 0 is at position " + (begin + 1)
                        + ", past it");
        assertThat(evidence(answer))
                .containsEntry("position", begin + 1)
                .containsEntry("deliveredBy", "node-7")
                .containsKeys("deliveredAfter", "deliveredBefore")
                .doesNotContainKeys("attemptsFailed", "deliveredAt");
        assertThat((Instant) evidence(answer).get("deliveredBefore"))
                .isAfter((Instant) evidence(answer).get("deliveredAfter"));
    }

    @Test
    void aDeliveryIsOfATimeEvenIfMaintenanceHasThinnedWhatIsRemembered() throws SQLException {
        publish(first);
        runOnce();
        database.execute(
                "update postroom.settlement set at = date_trunc('minute', now() - interval '2 hours') where subscription = '"
                        + name + "'",
                "insert into postroom.settlement (subscription, lane, position, at, node) select subscription, lane, position + n, at + n"
                        + " * interval '1 second', node from postroom.settlement, generate_series(1, 9) as n where subscription = '"
                        + name + "'",
                "insert into postroom.settlement (subscription, lane, position, at, node) select subscription, lane, position + 100, now()"
                        + " - interval '8 days', node from postroom.settlement where position = " + (begin + 1)
                        + " and subscription = '" + name + "'");
        database.postroom().maintenance().runOnce();
        assertThat(database.queryLong("select count(*) from postroom.settlement where subscription = '" + name + "'"))
                .isEqualTo(1);
        assertThat(evidence(answer(first, Verdict.DONE, Code.DELIVERED))).containsKey("deliveredBefore");
    }

    @Test
    void aDeliveryAfterFailuresTellsHowOftenItFailed() throws SQLException {
        publish(first);
        sink.answer(message -> true, Outcome.retry("no room"), 2);
        runOnce();
        Answer answer = answer(first, Verdict.DONE, Code.DELIVERED);
        assertThat(answer.headline())
                .matches("was delivered at \\S+Z by relay node-7 after 2 attempts that failed: .*");
        assertThat(answer.reasons().get(0).evidence())
                .containsEntry("attemptsFailed", 2L)
                .containsKey("deliveredAt")
                .doesNotContainKeys("deliveredBefore", "deliveredAfter");
        assertThat(String.valueOf(answer.reasons().get(0).evidence().get("lastError")))
                .endsWith(": no room");
    }

    @Test
    void aMessageThatFailedTellsWhenItIsTriedAgain() throws SQLException {
        retry = IN_AN_HOUR;
        publish(first);
        sink.answer(message -> true, Outcome.retry("no room"));
        runOnce();
        serve();
        Answer answer = answer(first, Verdict.ON_ITS_WAY, Code.WAITING);
        assertThat(answer.headline()).matches("failed 1 time, last with .*: no room; the next attempt is at 20.*Z");
        assertThat(evidence(answer)).containsKeys("nextAttemptAt", "lastFailedAt", "lastFailedOn");
    }

    @Test
    void aParkedMessageNamesWhatItWaitsBehind() throws SQLException {
        retry = IN_AN_HOUR;
        publish(first, second);
        sink.answer(message -> true, Outcome.retry("no room"));
        runOnce();
        serve();
        Answer answer = answer(second, Verdict.ON_ITS_WAY, Code.PARKED);
        assertThat(answer.headline())
                .startsWith("is parked behind message " + first.id() + " of its key at position " + (begin + 1)
                        + ", which is tried again at ")
                .endsWith(": no room");
        assertThat(evidence(answer))
                .containsEntry("headMessage", first.id().toString())
                .containsEntry("headState", "waiting");
        assertThat(answer.reasons().get(0).next()).containsExactly("postroom why " + first.id());
    }

    @Test
    void aMessageThatIsNotReadYetKnowsThatItsKeyWaits() throws SQLException {
        retry = IN_AN_HOUR;
        publish(first);
        sink.answer(message -> true, Outcome.retry("no room"));
        runOnce();
        publish(second);
        database.postroom().journal().stampAll();
        serve();
        Answer answer = answer(second, Verdict.ON_ITS_WAY, Code.PARKED, Code.AHEAD);
        assertThat(answer.headline()).startsWith("will be parked when its lane gets there, behind message ");
    }

    @Test
    void aMessageThatWasGivenUpIsADeadLetter() throws SQLException {
        publish(first);
        sink.answer(message -> true, Outcome.rejected("not a customer"));
        runOnce();
        Answer answer = answer(first, Verdict.STUCK, Code.DEAD_LETTER);
        long letter = letter();
        assertThat(answer.headline())
                .startsWith("was given up (rejected) after 1 attempt: dead letter " + letter + ", open since ")
                .endsWith(": not a customer");
        assertThat(answer.reasons().get(0).next())
                .startsWith(
                        "postroom deadletter show " + letter, "postroom deadletter redrive " + letter + " --dry-run");
    }

    @Test
    void aHeldKeyNamesItsDeadLetterToAllThatWaitBehindIt() throws SQLException {
        publish(first, second);
        sink.answer(message -> true, Outcome.rejected("not a customer"));
        runOnce(subscription().onBurial(OnBurial.HOLD), sink);
        long letter = letter();
        assertThat(answer(first, Verdict.STUCK, Code.HELD).headline())
                .startsWith(
                        "was given up after 1 attempt and holds its key until somebody decides: dead letter " + letter);
        Answer parked = answer(second, Verdict.STUCK, Code.PARKED);
        assertThat(parked.headline()).contains("holds the key until somebody decides (dead letter " + letter + ")");
        assertThat(evidence(parked)).containsEntry("headDeadLetter", letter);
        publish(Messages.order("a"));
        Message third = Messages.order("a");
        publish(third);
        database.postroom().journal().stampAll();
        assertThat(answer(third, Verdict.STUCK, Code.PARKED, Code.NO_RELAY, Code.AHEAD)
                        .headline())
                .contains("dead letter " + letter);
    }

    @Test
    void aDiscardedMessageNamesWhoDidIt() throws Exception {
        publish(first);
        sink.answer(message -> true, Outcome.rejected("not a customer"));
        runOnce();
        resolve(RedriveRequest.discard(DeadLetterFilter.ofIds(letter())));
        Answer answer = answer(first, Verdict.DONE, Code.DISCARDED);
        assertThat(answer.headline()).startsWith("was given up and then discarded by ann at ");
    }

    @Test
    void aRedrivenMessageIsOnItsWayAndThenDelivered() throws Exception {
        publish(first);
        sink.answer(message -> true, Outcome.rejected("not a customer"), 1);
        runOnce();
        long letter = letter();
        resolve(RedriveRequest.redrive(DeadLetterFilter.ofIds(letter)));
        serve();
        Answer answer = answer(first, Verdict.ON_ITS_WAY, Code.WAITING);
        assertThat(answer.headline()).isEqualTo("has its turn; the next attempt is due");
        assertThat(evidence(answer)).containsEntry("redrivenFrom", letter);
        unserve();
        runOnce();
        assertThat(answer(first, Verdict.DONE, Code.DELIVERED).headline()).contains(", redriven by ann: ");
    }

    @Test
    void aMessageNobodyCanReadSaysWhy() throws SQLException {
        Message newer = Message.about("order", "a")
                .event("Changed")
                .eventVersion(2)
                .payload("{}")
                .build();
        publish(newer);
        Journal old = new Journal(
                database.postroom().database(),
                Upcasters.builder().newest("Changed", 1).build(),
                Telemetry.NONE);
        try (Relay relay = new Relay.Builder(database.postroom().database(), old, Telemetry.NONE)
                .deliver(subscription().build(), sink)
                .build()) {
            relay.runOnce();
        }
        Answer answer = answer(newer, Verdict.STUCK, Code.UNREADABLE);
        assertThat(answer.headline()).contains("event version is 2, the newest known");
        assertThat(answer.reasons().get(0).next()).containsExactly("postroom message versions");
    }

    @Test
    void aScheduledMessageTellsItsTime() throws SQLException {
        Instant tomorrow = Instant.parse("2099-01-01T00:00:00Z");
        Message later = Message.about("order", "a")
                .event("Reminder")
                .payload("{}")
                .availableAt(tomorrow)
                .build();
        publish(later);
        subscribe();
        database.postroom().journal().stampAll();
        serve();
        assertThat(answer(later, Verdict.ON_ITS_WAY, Code.SCHEDULED, Code.AHEAD).headline())
                .isEqualTo("is not to be delivered before 2099-01-01T00:00:00Z");
        unserve();
        runOnce();
        serve();
        assertThat(evidence(answer(later, Verdict.ON_ITS_WAY, Code.SCHEDULED))).containsKey("scheduledFor");
    }

    @Test
    void aMessageThatIsBeingSentNamesTheRelay() throws Exception {
        sink.hang(message -> true);
        publish(first);
        try (Relay relay = relay("node-7", subscription(), sink)) {
            relay.start();
            await(() -> count("delivery where state = 'sending' and subscription = '" + name + "'") == 1);
            Answer answer = answer(first, Verdict.ON_ITS_WAY, Code.SENDING);
            assertThat(answer.headline()).startsWith("is being sent by relay node-7 for ");
            sink.mend();
            sink.release();
        }
        assertThat(answer(first, Verdict.DONE, Code.DELIVERED)).isNotNull();
    }

    @Test
    void anOpenCircuitTellsSinceWhenAndWhenItIsProbed() throws Exception {
        sink.breakDown();
        publish(first);
        try (Relay relay = relay("node-7", subscription(), sink)) {
            relay.start();
            await(() -> count("circuit where subscription = '" + name + "'") == 1);
            Answer answer = answer(first, Verdict.STUCK, Code.CIRCUIT_OPEN, Code.AHEAD);
            assertThat(answer.headline())
                    .startsWith("the destination takes nothing: relay node-7 has its circuit open since ")
                    .contains(", next probe at ")
                    .endsWith("told to be unavailable");
            sink.mend();
            sink.awaitAccepted(1, PATIENCE);
            await(() -> count("circuit where subscription = '" + name + "'") == 0);
        }
    }

    @Test
    void aPausedSubscriptionNamesWhoPausedIt() throws SQLException {
        publish(first);
        subscribe();
        serve();
        database.execute("update postroom.subscription set paused_at = now() - interval '3 hours', paused_by = 'ann',"
                + " pause_reason = 'broker upgrade' where name = '" + name + "'");
        database.postroom().journal().stampAll();
        Answer answer = answer(first, Verdict.STUCK, Code.PAUSED, Code.AHEAD);
        assertThat(answer.headline())
                .startsWith("subscription " + name + " is paused since ")
                .endsWith(" by ann: broker upgrade");
        assertThat(answer.reasons().get(0).next())
                .containsExactly("postroom subscription resume " + name + " --reason '…'");
    }

    @Test
    void lanesThatAreAboutToChangeAreSaidSo() throws SQLException {
        publish(first);
        subscribe();
        serve();
        database.execute("update postroom.subscription set lanes_wanted = 7 where name = '" + name + "'");
        database.postroom().journal().stampAll();
        assertThat(answer(first, Verdict.ON_ITS_WAY, Code.LANES_CHANGING, Code.AHEAD)
                        .headline())
                .isEqualTo("the number of lanes is about to change from 1 to 7; 1 lane is still to be given back");
    }

    @Test
    void lanesThatAnOperatorIsAboutToMoveAreSaidSo() throws SQLException {
        publish(first);
        subscribe();
        serve();
        database.execute("update postroom.subscription set drain_until = now() + interval '10 seconds' where name = '"
                + name + "'");
        database.postroom().journal().stampAll();
        assertThat(answer(first, Verdict.ON_ITS_WAY, Code.LANES_CHANGING, Code.AHEAD)
                        .headline())
                .startsWith("an operator is about to move the lanes of subscription " + name);
    }

    @Test
    void withoutARelayNothingMoves() throws SQLException {
        publish(first);
        subscribe();
        database.postroom().journal().stampAll();
        Answer answer = answer(first, Verdict.STUCK, Code.NO_RELAY, Code.AHEAD);
        assertThat(answer.headline()).isEqualTo("no live relay serves subscription " + name + "; none is known");
        assertThat(answer.reasons().get(1).sentence())
                .isEqualTo("lane 0 is at position " + begin + ", 1 position before it");
        relayRow("other", "{something-else}", "10 seconds");
        assertThat(answer(first, Verdict.STUCK, Code.NO_RELAY, Code.AHEAD).headline())
                .endsWith("; 1 relay is alive, but serves none of its lanes");
    }

    @ParameterizedTest
    @CsvSource({"1 second, ON_ITS_WAY", "5 minutes, STUCK"})
    void aLaneWhoseOwnerDiedIsTakenOverSoonOrSomethingIsWrong(String ago, Verdict verdict) throws SQLException {
        publish(first);
        subscribe();
        serve();
        relayRow("node-8", "{" + name + "}", "10 seconds");
        database.execute(
                "update postroom.relay set leased_until = now() - interval '" + ago + "' where name = 'node-7'",
                "update postroom.lane set leased_until = now() - interval '" + ago + "' where subscription = '" + name
                        + "'");
        database.postroom().journal().stampAll();
        Answer answer = answer(first, verdict, Code.LANE_WITHOUT_OWNER, Code.AHEAD);
        assertThat(answer.headline())
                .startsWith("lane 0 has no owner: relay node-7 had it, whose lease ran out at ")
                .endsWith("; 1 live relay takes it within a beat (node-8)");
    }

    @Test
    void aNewMessageWaitsForAReplayAndAnOldOneIsSentAgain() throws SQLException {
        publish(first, second);
        runOnce();
        Message third = Messages.order("b");
        publish(third);
        database.postroom().journal().stampAll();
        database.execute("update postroom.lane set position = " + begin + ", replay_to = " + (begin + 1)
                + ", resume_at = " + (begin + 2) + " where subscription = '" + name + "'");
        serve();
        assertThat(answer(third, Verdict.ON_ITS_WAY, Code.REPLAYING, Code.AHEAD).headline())
                .contains("replays up to " + (begin + 1) + " and then goes on after " + (begin + 2));
        assertThat(answer(first, Verdict.DONE, Code.DELIVERED).headline()).endsWith("and it will be sent again");
        assertThat(answer(second, Verdict.DONE, Code.DELIVERED).headline()).endsWith(", and was past it before");
    }

    @Test
    void whatAFormerLaneDeliveredIsDelivered() throws SQLException {
        publish(first);
        runOnce();
        database.execute(
                "update postroom.subscription set former_positions = array[" + (begin + 1)
                        + "]::bigint[] where name = '" + name + "'",
                "update postroom.lane set position = " + begin + " where subscription = '" + name + "'");
        answer(first, Verdict.DONE, Code.DELIVERED);
    }

    @Test
    void aCopyEndsWhereItWasTold() throws SQLException {
        publish(first);
        runOnce();
        String copy = "copy-" + UUID.randomUUID();
        database.execute(
                "insert into postroom.subscription (name, lanes, copy_of) values ('" + copy + "', 1, '" + name + "')",
                "insert into postroom.lane (subscription, lane, position, replay_to, resume_at) values ('" + copy
                        + "', 0, 0, " + (begin + 1) + ", " + (begin + 1) + ")");
        publish(second);
        database.postroom().journal().stampAll();
        assertThat(ask(second, copy).answers().get(0).reasons().get(0).code()).isEqualTo(Code.BEYOND_COPY);
        assertThat(ask(first, copy).answers().get(0).reasons())
                .extracting(Reason::code)
                .containsExactly(Code.NO_RELAY, Code.AHEAD);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "aggregate_types = '{invoice}'     | the aggregate types invoice, and this is order",
                "event_types = '{a,b,c,d,e,f,g}'   | the event types a, b, c, d, e and 2 more, and this is OrderConfirmed",
                "tenants = '{acme}'                | the tenants acme, and this is of none"
            })
    void aMessageThatIsNotWantedNamesThePartOfTheFilter(String filter, String told) throws SQLException {
        publish(first);
        subscribe();
        database.execute("update postroom.subscription set " + filter + " where name = '" + name + "'");
        assertThat(answer(first, Verdict.DONE, Code.FILTERED_OUT).headline())
                .as("before it is stamped")
                .isEqualTo("subscription " + name + " does not want it: its filter names " + told);
        runOnce(Subscription.named(name).lanes(1), sink);
        database.execute("update postroom.subscription set " + filter + " where name = '" + name + "'");
        assertThat(answer(first, Verdict.DONE, Code.FILTERED_OUT).headline()).endsWith(told);
    }

    @Test
    void aMessageFromBeforeTheSubscriptionIsNotCalledDelivered() throws SQLException {
        publish(first);
        database.postroom().journal().stampAll();
        runOnce(Subscription.named(name).lanes(1).start(Start.now()), sink);
        assertThat(sink.accepted()).isEmpty();
        Answer answer = answer(first, Verdict.DONE, Code.BEFORE_BEGIN);
        assertThat(answer.headline()).endsWith(" began, after position " + (begin + 1) + ": only a replay sends it");
        assertThat(evidence(answer)).containsKeys("beganAfter");
        database.postroom()
                .subscriptions()
                .replay(
                        new ReplayRequest(name, Point.beginning(), null, null),
                        new Act("tester", "it is wanted after all"),
                        Duration.ofSeconds(30));
        runOnce(Subscription.named(name).lanes(1), sink);
        answer(first, Verdict.DONE, Code.DELIVERED);
    }

    @Test
    void aMessageThatAnOperatorSkippedIsNotCalledDelivered() throws Exception {
        publish(first);
        subscribe();
        database.postroom().journal().stampAll();
        record("lanes", Map.of());
        record("skip", Map.of("lanes", List.of(Map.of("lane", 0, "from", begin, "to", begin + 1))));
        database.execute("update postroom.lane set position = " + (begin + 1) + " where subscription = '" + name + "'");
        assertThat(answer(first, Verdict.DONE, Code.SKIPPED).headline())
                .startsWith("was skipped and never sent: ann moved the subscription past it at ")
                .endsWith(" (old news)");
        record("lanes", Map.of());
        assertThat(answer(first, Verdict.DONE, Code.SKIPPED).headline()).startsWith("may have been skipped");
    }

    @Test
    void aSkipOfOthersIsNotToldOfAMessage() throws Exception {
        publish(first);
        subscribe();
        database.postroom().journal().stampAll();
        record(
                "skip",
                Map.of(
                        "lanes",
                        List.of(
                                Map.of("lane", 0, "from", begin + 1, "to", begin + 5),
                                Map.of("lane", 1, "from", begin, "to", begin + 5))));
        database.execute("update postroom.lane set position = " + (begin + 5) + " where subscription = '" + name + "'");
        answer(first, Verdict.DONE, Code.DELIVERED);
    }

    @Test
    void whatOperatorsDidIsTold() throws SQLException {
        retry = IN_AN_HOUR;
        Act act = new Act("ann", "old news");
        Message third = Messages.order("b");
        publish(first, second);
        sink.answer(message -> message.id().equals(first.id()), Outcome.retry("no room"));
        runOnce();
        database.postroom().subscriptions().skipMessage(name, first.id(), act);
        assertThat(answer(first, Verdict.DONE, Code.SKIPPED).headline()).startsWith("was skipped by ann at ");
        publish(third);
        database.postroom().journal().stampAll();
        database.postroom().subscriptions().pause(name, act);
        answer(third, Verdict.STUCK, Code.PAUSED, Code.AHEAD);
        assertThat(answer(second, Verdict.STUCK, Code.PAUSED, Code.WAITING)).isNotNull();
        database.postroom().subscriptions().resume(name, act);
        database.postroom().subscriptions().skip(name, Point.now(), act, Duration.ofSeconds(1));
        assertThat(answer(third, Verdict.DONE, Code.SKIPPED).headline())
                .startsWith("was skipped and never sent: ann moved");
    }

    private void record(String verb, Map<String, ?> details) throws SQLException {
        try (Connection tx = database.begin()) {
            database.postroom()
                    .audit()
                    .record(tx, "ann", "subscription " + verb, "subscription " + name, "old news", details);
            tx.commit();
        }
    }

    @Test
    void aCommittedMessageWithoutAPositionWaitsForARelay() throws SQLException {
        publish(first);
        subscribe();
        Answer answer = answer(first, Verdict.STUCK, Code.NOT_STAMPED);
        assertThat(answer.headline())
                .startsWith(
                        "is committed and has no position yet: no relay is alive to give it one; the last stamp was at ");
        relayRow("node-7", "{" + name + "}", "10 seconds");
        assertThat(answer(first, Verdict.ON_ITS_WAY, Code.NOT_STAMPED).headline())
                .contains("1 relay is alive");
    }

    @Test
    void aMessageOfAnOpenTransactionIsNotFoundButTheTransactionIsNamed() throws Exception {
        Message hidden = Messages.order("hidden");
        try (Connection tx = database.begin();
                Statement statement = tx.createStatement()) {
            statement.execute("set application_name = 'slow-import'");
            database.postroom().outbox().publish(tx, hidden);
            await(() -> ask(hidden).answers().get(0).reasons().size() == 2);
            Why why = ask(hidden);
            assertThat(why.message()).isNull();
            assertThat(why.verdict()).isEqualTo(Verdict.NOT_FOUND);
            Reason open = why.answers().get(0).reasons().get(0);
            assertThat(open.code()).isEqualTo(Code.TRANSACTION_OPEN);
            assertThat(open.evidence())
                    .contains(entry("application", "slow-import"))
                    .containsKeys("pid", "openFor");
            assertThat(String.valueOf(open.evidence().get("transactions"))).contains("idle in transaction");
            assertThat(why.answers().get(0).reasons().get(1).code()).isEqualTo(Code.NOT_FOUND);
            tx.commit();
        }
        assertThat(ask(hidden).message()).isNotNull();
    }

    @Test
    void aPreparedTransactionIsNamedToo() throws Exception {
        Message hidden = Messages.order("hidden");
        try (Connection tx = database.begin();
                Statement statement = tx.createStatement()) {
            database.postroom().outbox().publish(tx, hidden);
            statement.execute("prepare transaction 'forgotten-" + name + "'");
            tx.commit();
        }
        try {
            await(() -> ask(hidden).answers().get(0).reasons().size() == 2);
            Reason open = ask(hidden).answers().get(0).reasons().get(0);
            assertThat(open.code()).isEqualTo(Code.TRANSACTION_OPEN);
            assertThat(open.evidence()).contains(entry("prepared", "forgotten-" + name));
        } finally {
            database.execute("rollback prepared 'forgotten-" + name + "'");
        }
        assertThat(ask(hidden).answers().get(0).reasons())
                .extracting(Reason::code)
                .containsExactly(Code.NOT_FOUND);
    }

    @Test
    void aTransactionThatOnlyReadsOrWritesElsewhereIsNotBlamed() throws SQLException {
        try (Connection tx = database.begin();
                Statement statement = tx.createStatement()) {
            statement.execute("create temporary table elsewhere (i int)");
            statement.execute("select count(*) from postroom.outbox");
            assertThat(ask(Messages.sample()).answers().get(0).reasons())
                    .extracting(Reason::code)
                    .containsExactly(Code.NOT_FOUND);
        }
    }

    @Test
    void nobodySubscribes() throws Exception {
        try (TestDatabase empty = TestDatabase.create();
                Connection tx = empty.begin()) {
            empty.postroom().outbox().publish(tx, first);
            tx.commit();
            Why why = empty.postroom().diagnosis().why(first.id());
            assertThat(why.answers()).hasSize(1);
            assertThat(why.answers().get(0).subscription()).isNull();
            assertThat(why.answers().get(0).reasons().get(0).code()).isEqualTo(Code.NO_SUBSCRIPTION);
        }
    }

    @Test
    void anUnknownSubscriptionIsRefusedWithThoseThereAre() {
        subscribe();
        assertThatThrownBy(() -> database.postroom().diagnosis().why(first.id(), "bil"))
                .isInstanceOf(PostroomException.class)
                .hasMessageContaining(
                        "could not explain message " + first.id() + ": there is no subscription 'bil'; there");
    }

    @Test
    void theWorstAnswerComesFirst() throws SQLException {
        publish(first);
        runOnce();
        String unwilling = "zz-" + UUID.randomUUID();
        sink.answer(message -> true, Outcome.rejected("never"));
        runOnce(Subscription.named(unwilling).lanes(1).start(Start.after(begin)), sink);
        Why why = ask(first);
        assertThat(why.verdict()).isEqualTo(Verdict.STUCK);
        assertThat(why.answers().get(0).verdict()).isEqualTo(Verdict.STUCK);
        assertThat(why.answers()).extracting(Answer::subscription).contains(name, unwilling);
        assertThat(why.answers()).extracting(Answer::verdict).isSorted();
    }

    @Test
    void aMessageOfASubscriptionThatABrokerServesIsThere() throws SQLException {
        runOnce();
        database.execute("update postroom.subscription set served_by = 'kafka' where name = '" + name + "'");
        publish(first);
        database.postroom().journal().stamp();
        Answer answer = answer(first, Verdict.ON_ITS_WAY, Code.SERVED_ELSEWHERE);
        assertThat(answer.reasons().get(0).sentence()).contains("is served by kafka");
    }

    @Test
    void aReaderMayAsk() throws SQLException {
        publish(first);
        runOnce();
        String prefix = database.name();
        Grants grants = Grants.of(new Schema(prefix));
        String login = prefix + "_login";
        database.execute(
                grants.print(Schema.POSTROOM),
                "create role " + login + " login password 'a test needs none'",
                "grant " + grants.reader() + " to " + login);
        PGSimpleDataSource asReader = new PGSimpleDataSource();
        asReader.setUrl(database.url().replaceAll("(?<=[?&])(user|password)=[^&]*", ""));
        asReader.setUser(login);
        asReader.setPassword("a test needs none");
        Diagnosis diagnosis = Postroom.on(asReader).diagnosis();
        assertThat(diagnosis.why(first.id(), name).verdict()).isEqualTo(Verdict.DONE);
        try (Connection tx = database.begin()) {
            Message hidden = Messages.order("hidden");
            database.postroom().outbox().publish(tx, hidden);
            Reason open = diagnosis.why(hidden.id()).answers().get(0).reasons().get(0);
            assertThat(open.code()).isEqualTo(Code.TRANSACTION_OPEN);
            assertThat(String.valueOf(open.evidence().get("transactions"))).contains("age hidden from this role");
        } finally {
            database.execute("drop owned by " + login + " cascade", "drop role " + login);
            for (String role : grants.roles()) {
                database.execute(
                        "reassign owned by " + role + " to current_user", "drop owned by " + role, "drop role " + role);
            }
        }
    }

    private Answer answer(Message message, Verdict verdict, Code... codes) {
        Why why = ask(message, name);
        assertThat(why.answers()).hasSize(1);
        Answer answer = why.answers().get(0);
        assertThat(answer.subscription()).isEqualTo(name);
        assertThat(answer.reasons())
                .extracting(Reason::code)
                .as(answer.headline())
                .containsExactly(codes);
        assertThat(answer.verdict()).as(answer.headline()).isEqualTo(verdict);
        return answer;
    }

    private static Why ask(Message message) {
        return database.postroom().diagnosis().why(message.id());
    }

    private static Why ask(Message message, String subscription) {
        return database.postroom().diagnosis().why(message.id(), subscription);
    }

    private static Map<String, Object> evidence(Answer answer) {
        return answer.reasons().get(0).evidence();
    }

    private Subscription.Builder subscription() {
        return Subscription.named(name).lanes(1).start(Start.after(begin)).retry(retry);
    }

    private void runOnce() {
        runOnce(subscription(), sink);
    }

    private static void runOnce(Subscription.Builder subscription, Sink target) {
        try (Relay relay = relay("node-7", subscription, target)) {
            relay.runOnce();
        }
    }

    private static Relay relay(String node, Subscription.Builder subscription, Sink target) {
        return database.postroom()
                .relay()
                .name(node)
                .deliver(subscription.build(), target)
                .build();
    }

    private long letter() {
        return database.queryLong("select id from postroom.dead_letter where owner = '" + name + "'");
    }

    private static void resolve(RedriveRequest.Builder request) throws InterruptedException {
        UUID id = UUID.randomUUID();
        var redrives = database.postroom().deadLetters().redrives();
        redrives.request(request.id(id).actor("ann").reason("a test").build());
        redrives.run(id, progress -> {});
    }

    /** A subscription that no relay has served yet. */
    private void subscribe() {
        database.execute(
                "insert into postroom.subscription (name, lanes) values ('" + name + "', 1)",
                "insert into postroom.lane (subscription, lane, position) values ('" + name + "', 0, " + begin + ")");
    }

    /** Makes it look as if a live relay had the lane. */
    private void serve() {
        relayRow("node-7", "{" + name + "}", "10 seconds");
        database.execute(
                "update postroom.lane set owner = (select id from postroom.relay where name = 'node-7'), leased_until = now() + interval '10"
                        + " seconds' where subscription = '" + name + "'");
    }

    private void unserve() {
        database.execute(
                "update postroom.lane set owner = null, leased_until = null where subscription = '" + name + "'",
                "delete from postroom.relay");
    }

    private static void relayRow(String node, String subscriptions, String until) {
        database.execute(
                "insert into postroom.relay (id, name, subscriptions, leased_until) values (gen_random_uuid(), '" + node
                        + "', '" + subscriptions + "', now() + interval '" + until + "')");
    }

    private static long count(String from) {
        return database.queryLong("select count(*) from postroom." + from);
    }

    private static void publish(Message... messages) throws SQLException {
        try (Connection tx = database.begin()) {
            database.postroom().outbox().publishAll(tx, List.of(messages));
            tx.commit();
        }
    }

    private interface Condition {
        boolean holds() throws Exception;
    }

    private static void await(Condition condition) throws Exception {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (!condition.holds()) {
            assertThat(System.nanoTime()).as("waited too long").isLessThan(deadline);
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
        }
    }
}
