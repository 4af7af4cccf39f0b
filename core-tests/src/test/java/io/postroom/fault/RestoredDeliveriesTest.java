package io.postroom.fault;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.postroom.Postroom;
import io.postroom.deadletter.DeadLetterFilter;
import io.postroom.deadletter.RedriveRequest;
import io.postroom.deadletter.RedriveState;
import io.postroom.message.Envelope;
import io.postroom.message.Message;
import io.postroom.relay.OnBurial;
import io.postroom.relay.Outcome;
import io.postroom.relay.Relay;
import io.postroom.relay.Subscription;
import io.postroom.retry.RetryPolicy;
import io.postroom.subscription.Act;
import io.postroom.subscription.Point;
import io.postroom.subscription.ReplayRequest;
import io.postroom.testkit.Messages;
import io.postroom.testkit.RecordingSink;
import io.postroom.testkit.TestDatabase;
import io.postroom.testkit.TestPostgres;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A schema that is copied into another cluster while something of everything is under way: it goes on there, and each message comes to
 * one end.
 */
class RestoredDeliveriesTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration LEASE = Duration.ofSeconds(2);
    private static final Act ACT = new Act("ann", "a test");
    private static final Subscription ALL = Subscription.named("all")
            .lanes(4)
            .retry(RetryPolicy.builder()
                    .linear(Duration.ofHours(1))
                    .attemptsMax(5)
                    .build())
            .onBurial(OnBurial.HOLD)
            .build();
    private static final Subscription REPLAYED = Subscription.named("replayed")
            .lanes(2)
            .eventTypes("OrderConfirmed", "OrderChanged")
            .build();
    private static final Subscription PAUSED = Subscription.named("paused")
            .lanes(2)
            .eventTypes("OrderConfirmed", "OrderChanged")
            .build();

    private final RecordingSink sink = new RecordingSink();
    private final List<Message> messages = new ArrayList<>();
    private TestPostgres newCluster;
    private TestDatabase source;
    private TestDatabase copy;

    @BeforeEach
    void create() {
        newCluster = TestPostgres.start();
        source = TestDatabase.create();
        copy = TestDatabase.empty(newCluster);
        copy.postroom().migrations().migrate();
    }

    @AfterEach
    void drop() {
        source.close();
        copy.close();
        newCluster.close();
    }

    @Test
    void everythingThatWasUnderWayGoesOnAndComesToOneEnd() throws Exception {
        assertThatAllComesToOneEnd(leaveSomethingOfEverything(CopiedRows::copy));
    }

    @Test
    void everythingInADumpOfTheWholeDatabaseGoesOnAndComesToOneEnd() throws Exception {
        Optional<String> missing = Dump.missing(source);
        assumeTrue(missing.isEmpty(), missing::toString);
        assertThatAllComesToOneEnd(leaveSomethingOfEverything(Dump::copy));
    }

    /** How a database gets into another cluster. */
    private interface Way {
        void copy(TestDatabase source, TestDatabase copy) throws Exception;
    }

    private void assertThatAllComesToOneEnd(UUID redrive) throws Exception {
        assertThat(states(copy))
                .as("deliveries in the copy")
                .containsExactlyInAnyOrder("waiting", "parked", "scheduled", "held", "sending");
        RecordingSink there = new RecordingSink();
        RecordingSink replayed = new RecordingSink();
        RecordingSink paused = new RecordingSink();
        try (Relay relay = relay(copy, ALL, there);
                Relay replays = relay(copy, REPLAYED, replayed);
                Relay pauses = relay(copy, PAUSED, paused)) {
            pauses.start();
            replays.start();
            relay.start();
            // The relay that was left behind in the old cluster still has its lease for a while.
            await("the attempt that nobody ended is taken up", "attempt where outcome = 'crashed'", 1);
            await("what had no position yet", "lane where position < (select max(position) from postroom.tick)", 2);
            assertThat(count("delivery where state = 'scheduled'"))
                    .as("not before its time")
                    .isOne();
            copy.execute("update postroom.delivery set due_at = now() where state in ('waiting', 'scheduled')");
            assertThat(copy.postroom()
                            .deadLetters()
                            .redrives()
                            .run(redrive, progress -> {})
                            .state())
                    .isEqualTo(RedriveState.DONE);
            await("nothing waits", "delivery", 0);
            await("the replay is over", "lane where replay_to is not null", 0);
            Deadline.await("all, once more", PATIENCE, () -> ids(replayed).size() == messages.size() - 1);
            assertThat(paused.attempts()).isEmpty();
            copy.postroom().subscriptions().resume("paused", ACT);
            Deadline.await("what was paused", PATIENCE, () -> ids(paused).size() == messages.size() - 1);
        }
        assertThat(replayed.attempts().stream().filter(RestoredDeliveriesTest::isReplayed))
                .as("marked as what they are")
                .isNotEmpty();
        assertThat(there.accepted())
                .extracting(Message::id)
                .as("what was settled is not delivered again, and nothing twice")
                .doesNotContainAnyElementsOf(ids(sink))
                .doesNotHaveDuplicates();
        assertThat(there.accepted().size() + sink.accepted().size()).isEqualTo(messages.size());
        try (Connection connection = copy.dataSource().getConnection()) {
            for (Subscription each : List.of(ALL, REPLAYED, PAUSED)) {
                Conservation.Look look = Conservation.look(connection, each.name());
                assertThat(look.wrong()).isEmpty();
                assertThat(look.places()).hasSize(messages.size());
                assertThat(look.places().values()).containsOnly(Conservation.Place.DELIVERED);
            }
        }
    }

    /** Returns the redrive that was asked for and not begun. */
    private UUID leaveSomethingOfEverything(Way way) throws Exception {
        publish(Messages.ofManyKeys("fine", 20));
        publish(Messages.sequence("waits", 3));
        publish(Messages.sequence("dies", 2));
        publish(Messages.sequence("dead", 3));
        publish(List.of(Message.about("order", "later")
                .event("Reminder")
                .payload("{}")
                .availableAt(Instant.now().plus(Duration.ofHours(1)))
                .build()));
        sink.answer(about("dead", 1), Outcome.rejected("not a customer"));
        sink.answer(about("waits", 1), Outcome.retry("not now"));
        sink.answer(about("dies", 1), Outcome.retry("not now"), 1);
        try (Relay relay = relay(source, ALL, sink);
                Relay replayed = relay(source, REPLAYED, new RecordingSink());
                Relay paused = relay(source, PAUSED, new RecordingSink().breakDown())) {
            relay.runOnce();
            replayed.runOnce();
            paused.runOnce();
        }
        Postroom postroom = source.postroom();
        postroom.subscriptions().pause("paused", ACT);
        postroom.subscriptions().replay(new ReplayRequest("replayed", Point.beginning(), null, null), ACT, PATIENCE);
        UUID redrive = postroom.deadLetters()
                .redrives()
                .request(RedriveRequest.redrive(DeadLetterFilter.ofOwner("all"))
                        .actor("ann")
                        .reason("a test")
                        .build())
                .request()
                .id();
        source.execute("update postroom.delivery set due_at = now() where position ="
                + " (select position from postroom.message where aggregate_id = 'dies' order by position limit 1)");
        RecordingSink hanging = new RecordingSink().hang(message -> true);
        try (Relay dying = relay(source, ALL, hanging)) {
            dying.start();
            Deadline.await(
                    "it is being sent",
                    PATIENCE,
                    () -> source.queryLong("select count(*) from postroom.delivery where state = 'sending'") == 1);
            publish(Messages.ofManyKeys("new", 5));
            way.copy(source, copy);
            hanging.mend().release();
        }
        return redrive;
    }

    private static boolean isReplayed(Envelope envelope) {
        return envelope.message().headers().containsKey("postroom-replay");
    }

    private static Predicate<Message> about(String key, long version) {
        return message ->
                message.aggregateId().equals(key) && Long.valueOf(version).equals(message.aggregateVersion());
    }

    private static Set<UUID> ids(RecordingSink sink) {
        Set<UUID> ids = new HashSet<>();
        sink.accepted().forEach(message -> ids.add(message.id()));
        return ids;
    }

    private static Relay relay(TestDatabase database, Subscription subscription, RecordingSink sink) {
        return Postroom.on(database.dataSource())
                .relay()
                .lease(LEASE)
                .deliver(subscription, sink)
                .build();
    }

    private void publish(List<Message> more) throws SQLException {
        try (Connection tx = source.begin()) {
            source.postroom().outbox().publishAll(tx, more);
            tx.commit();
        }
        messages.addAll(more);
    }

    private void await(String what, String rows, long wanted) {
        Deadline.await(what, PATIENCE, () -> count(rows) == wanted);
    }

    private long count(String rows) {
        return copy.queryLong("select count(*) from postroom." + rows);
    }

    private static Set<String> states(TestDatabase database) throws SQLException {
        try (Connection connection = database.dataSource().getConnection()) {
            return Conservation.look(connection, "all").states();
        }
    }
}
