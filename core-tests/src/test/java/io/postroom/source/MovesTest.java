package io.postroom.source;

import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postroom.Postroom;
import io.postroom.deadletter.DeadLetterFilter;
import io.postroom.deadletter.JsonPatch;
import io.postroom.deadletter.Redrive;
import io.postroom.deadletter.RedriveRequest;
import io.postroom.message.Envelope;
import io.postroom.message.Message;
import io.postroom.relay.Outcome;
import io.postroom.relay.OutcomeException;
import io.postroom.relay.Projection;
import io.postroom.relay.Relay;
import io.postroom.relay.Subscription;
import io.postroom.retry.RetryPolicy;
import io.postroom.subscription.Act;
import io.postroom.subscription.Point;
import io.postroom.subscription.ReplayRequest;
import io.postroom.subscription.Subscriptions;
import io.postroom.testkit.Messages;
import io.postroom.testkit.RecordingSink;
import io.postroom.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Moves as far as the database goes. The broker is a list: what the feed has sent, in its order. */
class MovesTest {
    private static final Act ACT = new Act("ann", "more traffic");
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    TestDatabase database;
    Postroom postroom;
    Moves moves;
    Subscriptions subscriptions;
    final RecordingSink topic = new RecordingSink();
    final Set<String> rejected = ConcurrentHashMap.newKeySet();
    final List<String> applied = new ArrayList<>();
    int received;
    Projection projection = (tx, batch) -> {
        for (Envelope each : batch) {
            if (rejected.contains(each.message().aggregateId())) {
                throw new OutcomeException(Outcome.rejected("no such account"));
            }
        }
        // In this order, also when two threads do it.
        synchronized (applied) {
            batch.forEach(each -> applied.add(
                    each.message().aggregateId() + " " + each.message().payload()));
        }
    };

    @BeforeEach
    void create() {
        database = TestDatabase.create();
        postroom = database.postroom();
        moves = postroom.moves();
        subscriptions = postroom.subscriptions();
        relay();
    }

    @AfterEach
    void drop() {
        database.close();
    }

    /** A relay that does what is due and goes. */
    private void relay() {
        try (Relay relay = postroom.relay()
                .deliver(
                        Subscription.named("feed")
                                .retry(RetryPolicy.builder()
                                        .attemptsMax(100)
                                        .linear(Duration.ofHours(1))
                                        .cap(Duration.ofHours(1))
                                        .build())
                                .build(),
                        topic)
                .project(
                        Subscription.named("billing")
                                .lanes(1)
                                .aggregateTypes("order")
                                .build(),
                        projection.behind(postroom.inbox(), "billing"))
                .build()) {
            relay.runOnce();
        }
    }

    private void publish(Message... messages) {
        try (Connection tx = database.begin()) {
            postroom.outbox().publishAll(tx, List.of(messages));
            tx.commit();
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private Reception reception() {
        return postroom.reception().consumer("billing").node("test").build(projection);
    }

    /** Receives what the feed has sent and was not received before. */
    private void receive() throws InterruptedException {
        List<Envelope> sent = topic.attempts().stream()
                .filter(each -> topic.accepted().contains(each.message()))
                .toList();
        List<Arrival> arrivals = new ArrayList<>();
        for (Envelope each : sent.subList(received, sent.size())) {
            arrivals.add(new Arrival("events/0@" + (received + arrivals.size()), each, true, null));
        }
        received = sent.size();
        receive(arrivals);
    }

    private void receive(List<Arrival> arrivals) throws InterruptedException {
        reception().receive(arrivals, new Reception.Caller() {
            @Override
            public boolean goesOn() {
                return true;
            }

            @Override
            public void pause(Duration time) {
                LockSupport.parkNanos(Math.min(20_000_000, time.toNanos()));
            }

            @Override
            public void handled(int arrivals) {}
        });
    }

    private static Moves.Request request(ServedBy target) {
        return new Moves.Request("billing", target, "feed", List.of("events"), "billing", ACT);
    }

    private Move note(ServedBy target) {
        return target == ServedBy.KAFKA
                ? moves.note(request(target), postroom.journal().refreshHead().position(), Map.of("events/0", 0L))
                        .orElseThrow()
                : moves.aim(moves.note(request(target)).orElseThrow(), Map.of("events/0", 0L));
    }

    private boolean switchOver(Move move) {
        return moves.switchOver(move, ACT, PATIENCE, PATIENCE);
    }

    private void move(ServedBy target) {
        assertThat(switchOver(note(target))).isTrue();
    }

    /** What is changed, and what is said of it then. */
    private static final Map<String, String> OBSTACLES = Map.ofEntries(
            entry("billing set receiver = 'sink'", "its receiver is a sink, not a projection"),
            entry(
                    "billing set receiver = 'projection'",
                    "its receiver is a projection, not a projection behind an inbox"),
            entry("billing set consumer = 'ledger'", "as consumer ledger and a source would do so as billing"),
            entry("billing set on_burial = 'hold'", "it holds keys after a burial"),
            entry("billing set copy_of = 'feed'", "it is a copy; move the original"),
            entry("billing set lanes_wanted = 2", "the number of its lanes is being changed"),
            entry(
                    "billing set paused_at = now(), paused_by = 'a', pause_reason = 'b'",
                    "it is paused; resume it first"),
            entry(
                    "feed set paused_at = now(), paused_by = 'a', pause_reason = 'b'",
                    "feed feed is paused; resume it first"),
            entry("feed set receiver = 'inbox'", "feed feed does not deliver to a sink"),
            entry("feed set served_by = 'kafka'", "feed feed does not deliver to a sink"),
            entry("feed set copy_of = 'billing'", "feed feed does not deliver to a sink"),
            entry("feed set aggregate_types = '{basket}'", "feed feed leaves out messages that billing wants"),
            entry("feed set ordering = 'none'", "feed feed sends without an order"),
            entry("feed set tenants = '{acme}'", "feed feed leaves out messages that billing wants"),
            entry("feed set name = 'feeds'", "there is no subscription feed that could carry messages"));

    @Test
    void saysWhatSpeaksAgainstItBeforeAnythingIsNoted() {
        database.execute(
                "alter table postroom.lane drop constraint lane_subscription_fkey",
                "create table before as table postroom.subscription");
        for (ServedBy target : List.of(ServedBy.KAFKA, ServedBy.POSTGRES)) {
            OBSTACLES.forEach((change, obstacle) -> {
                String[] parts = change.split(" ", 2);
                database.execute(
                        "delete from postroom.subscription",
                        "insert into postroom.subscription select * from before",
                        "update postroom.subscription " + parts[1] + " where name = '" + parts[0] + "'");
                assertInTheWay(target, obstacle);
            });
            database.execute(
                    "delete from postroom.subscription",
                    "insert into postroom.subscription select * from before",
                    "update postroom.lane set replay_to = 9, resume_at = 9 where subscription = 'billing'");
            assertInTheWay(target, "it replays; wait for its end");
            database.execute(
                    "update postroom.lane set replay_to = null, resume_at = null",
                    "update before set served_by = 'kafka' where name = 'billing'");
        }
        assertThat(database.queryLong("select count(*) from postroom.subscription_move"))
                .isZero();
        assertThat(database.queryLong("select count(*) from postroom.audit")).isZero();
    }

    private void assertInTheWay(ServedBy target, String obstacle) {
        assertThat(moves.outlook("billing", "feed").obstacles())
                .singleElement()
                .asString()
                .contains(obstacle);
        assertThatThrownBy(() -> note(target))
                .hasMessageContaining(obstacle)
                .extracting("code")
                .isEqualTo("subscription.cannot-move");
    }

    /** What Kafka lacks, and what inboxes have forgotten when it comes. */
    @Test
    void aFeedThatHasGivenUpOrIsFarBehindIsInTheWay() {
        topic.answer(message -> message.aggregateId().equals("bad"), Outcome.rejected("too large"));
        publish(Messages.order("bad"));
        relay();
        assertThatThrownBy(() -> note(ServedBy.KAFKA)).hasMessageContaining("feed feed has 1 open dead letters");
        act(RedriveRequest.discard(DeadLetterFilter.ofOwner("feed")));
        assertThat(moves.outlook("billing", "feed").obstacles()).isEmpty();

        topic.answer(message -> message.aggregateId().equals("slow"), Outcome.retry("not now"));
        publish(Messages.order("slow"));
        relay();
        assertThat(moves.outlook("billing", "feed").obstacles()).isEmpty();
        database.execute("update postroom.tick set at = at - interval '200 hours' where position > 0");
        assertThatThrownBy(() -> note(ServedBy.KAFKA))
                .hasMessageContaining("feed feed is behind for 200 h and inboxes remember 192 h");
    }

    /** What was forgotten while they were kept for a shorter time does not come back. */
    @Test
    void aLongerRetentionCountsFromWhenItWasDeclared() {
        topic.answer(message -> message.aggregateId().equals("slow"), Outcome.retry("not now"));
        publish(Messages.order("slow"));
        relay();
        database.execute(
                "update postroom.tick set at = at - interval '200 hours' where position > 0",
                "select postroom.declare_inbox('billing', '30 days', '7 days')",
                "update postroom.inbox_consumer set receives_since = now() - interval '40 days'");
        assertThatThrownBy(() -> note(ServedBy.KAFKA)).hasMessageContaining("inboxes remember 192 h");
        assertThat(reception().rememberedSince().orElseThrow())
                .isAfter(Instant.now().minus(Duration.ofDays(8)));
        assertForgotten("billing");

        database.execute("update postroom.inbox_consumer set declared_at = now() - interval '30 days'");
        assertThat(reception().rememberedSince().orElseThrow())
                .isBefore(Instant.now().minus(Duration.ofDays(29)));
        note(ServedBy.KAFKA);
    }

    private void assertForgotten(String name) {
        assertThatThrownBy(() ->
                        subscriptions.replay(new ReplayRequest(name, Point.beginning(), null, null), ACT, PATIENCE))
                .hasMessageContaining("may have forgotten");
    }

    /** A feed brings what it is replayed, or redriven, to inboxes that others have behind Kafka. */
    @Test
    void aFeedSendsNothingThatTheInboxesBehindItMayHaveForgotten() throws Exception {
        topic.answer(message -> message.aggregateId().equals("stuck"), Outcome.retry("not now"));
        publish(Messages.order("stuck"));
        relay();
        move(ServedBy.KAFKA);
        topic.answer(message -> message.aggregateId().equals("stuck"), Outcome.rejected("too large"));
        publish(Messages.order("new"));
        database.execute("update postroom.delivery set due_at = now() where subscription = 'feed'");
        relay();
        database.execute(
                "update postroom.tick set at = at - interval '200 hours'",
                "update postroom.inbox set accepted_at = accepted_at - interval '200 hours'");
        assertForgotten("feed");
        assertThat(strings("select aggregate_id from postroom.dead_letter where resolution is null"))
                .containsExactly("stuck");
        assertThat(act(RedriveRequest.redrive(DeadLetterFilter.ofOwner("feed"))).skipped())
                .isOne();
        // What came after the move only the feed brings: late is better than never.
        database.execute("update postroom.lane set position = 0 where subscription = 'billing'");
        assertThat(act(RedriveRequest.redrive(DeadLetterFilter.ofOwner("feed"))).skipped())
                .isZero();
    }

    @Test
    void whatTheFeedGivesUpAfterTheCutWasNotedIsInTheWayToKafka() {
        Move move = note(ServedBy.KAFKA);
        topic.answer(message -> message.aggregateId().equals("bad"), Outcome.rejected("too large"));
        publish(Messages.order("bad"));
        relay();
        assertThatThrownBy(() -> switchOver(move)).hasMessageContaining("feed feed has 1 open dead letters");
        act(RedriveRequest.discard(DeadLetterFilter.ofOwner("feed")));
        assertThat(switchOver(move)).isTrue();
    }

    /** Between the look at the feed and the copy of what waits in it: neither of the two shows it. */
    @Test
    void whatTheFeedGivesUpWhileTheCutIsNotedIsInTheWayBack() {
        move(ServedBy.KAFKA);
        topic.answer(message -> true, Outcome.retry("not now"));
        publish(Messages.order("bad"));
        relay();
        database.execute("""
                create function give_up() returns trigger language plpgsql as $$
                begin
                    insert into postroom.dead_letter (source, owner, position, key_hash, message_id, aggregate_type, aggregate_id,
                        event_type, event_version, payload, occurred_at, cause, attempts, error_class, error, fingerprint, buried_by)
                    select 'subscription', 'feed', position, key_hash, gen_random_uuid(), 'order', 'bad', 'OrderConfirmed', 1, '{}',
                        now(), 'rejected', 1, 'x', 'no', 'f00d', 'test' from postroom.delivery where subscription = 'feed';
                    delete from postroom.delivery where subscription = 'feed';
                    return new;
                end $$""", """
                create trigger give_up after insert on postroom.subscription_move for each row execute function give_up()""");
        assertThatThrownBy(() -> note(ServedBy.POSTGRES)).hasMessageContaining("has just given up on 1 messages");
        assertThat(moves.underWay("billing")).isEmpty();
    }

    /** With other topics, another group or another feed nobody would know what it has not applied yet. */
    @Test
    void itGoesBackTheWayItCame() throws Exception {
        move(ServedBy.KAFKA);
        assertThat(
                        strings(
                                "select partition || '@' || next_offset from postroom.source_offset where consumer = 'billing'"))
                .containsExactly("events/0@0");
        for (Moves.Request other : List.of(
                new Moves.Request("billing", ServedBy.POSTGRES, "feed", List.of("events", "more"), "billing", ACT),
                new Moves.Request("billing", ServedBy.POSTGRES, "feed", List.of("more"), "billing", ACT),
                new Moves.Request("billing", ServedBy.POSTGRES, "feed", List.of("events"), "audit", ACT),
                new Moves.Request("billing", ServedBy.POSTGRES, "webhooks", List.of("events"), "billing", ACT))) {
            assertThatThrownBy(() -> moves.note(other))
                    .hasMessageContaining("it was moved to Kafka with feed feed, topics [events] and group billing")
                    .extracting("code")
                    .isEqualTo("subscription.other-way");
        }
        move(ServedBy.POSTGRES);
        assertThat(strings("select partition from postroom.source_offset")).isEmpty();
        assertThat(moves.lastToKafka("billing").orElseThrow().topics()).containsExactly("events");
    }

    /** What its inbox knows nothing of, because it was used later, would take effect once more. */
    @Test
    void whatTookEffectWithoutTheInboxMustBeCarriedFirst() {
        topic.breakDown();
        try (Relay plain = postroom.relay()
                .project(Subscription.named("billing").aggregateTypes("order").build(), projection)
                .build()) {
            publish(Messages.order("a"));
            plain.runOnce();
            relay();
            assertThatThrownBy(() -> note(ServedBy.KAFKA))
                    .hasMessageContaining("serves it since before its projection was put behind this inbox")
                    .hasMessageContaining("of what lies up to position 1");
            publish(Messages.order("b"));
            plain.runOnce();
        }
        publish(Messages.order("c"));
        relay();
        assertThat(applied).hasSize(3);
        assertThatThrownBy(() -> note(ServedBy.KAFKA)).hasMessageContaining("of what lies up to position 2");
        topic.mend();
        database.execute("update postroom.delivery set due_at = now() where subscription = 'feed'");
        relay();
        move(ServedBy.KAFKA);
        assertThat(topic.accepted()).hasSize(3);
    }

    @Test
    void whatARelayAppliedOtherwiseBeforeItDiedMustBeCarriedFirst() {
        topic.answer(message -> message.aggregateId().equals("slow"), Outcome.retry("not now"));
        publish(Messages.order("slow"));
        relay();
        database.execute(
                "insert into postroom.relay (id, name, subscriptions, started_at, leased_until) select gen_random_uuid(), 'r1',"
                        + " '{billing}', consumer_at - interval '1 s', clock_timestamp() from postroom.subscription where name = 'billing'");
        assertThatThrownBy(() -> note(ServedBy.KAFKA))
                .hasMessageContaining("was applied by a relay that died not long ago");
        database.execute("update postroom.relay set leased_until = leased_until - interval '1 h'");
        move(ServedBy.KAFKA);
    }

    @Test
    void whatWasSkippedMustBeCarriedFirst() {
        publish(Messages.order("a"));
        relay();
        topic.answer(message -> message.aggregateId().equals("skipped"), Outcome.retry("not now"));
        publish(Messages.order("skipped"));
        postroom.journal().stampAll();
        subscriptions.skip("billing", Point.now(), ACT, PATIENCE);
        relay();
        assertThatThrownBy(() -> note(ServedBy.KAFKA)).hasMessageContaining("of what lies up to position 2");
        topic.mend();
        database.execute("update postroom.delivery set due_at = now() where subscription = 'feed'");
        relay();
        move(ServedBy.KAFKA);
    }

    @Test
    void aMoveIsNotedAndSwitchedOnceHoweverManyAskForItAtOnce() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(4);
        try {
            for (ServedBy target : List.of(ServedBy.KAFKA, ServedBy.POSTGRES)) {
                publish(Messages.order("a"));
                relay();
                Set<Long> ids = ConcurrentHashMap.newKeySet();
                Callable<Boolean> work = () -> moves.note(request(target), 1, Map.of())
                        .map(move -> {
                            ids.add(move.id());
                            return switchOver(move);
                        })
                        .orElse(true);
                for (Future<Boolean> done : threads.invokeAll(List.of(work, work, work, work))) {
                    assertThat(done.get()).isTrue();
                }
                assertThat(ids).hasSize(1);
                assertThat(moves.outlook("billing", "feed").servedBy()).isEqualTo(target);
            }
        } finally {
            threads.shutdownNow();
        }
        assertThat(database.queryLong("select count(*) from postroom.subscription_move where outcome = 'done'"))
                .isEqualTo(2);
        assertThat(database.queryLong("select count(*) from postroom.audit where action like 'subscription move%'"))
                .isEqualTo(4);
    }

    @Test
    void lanesAreLeftAloneWhileItMovesAndWhileABrokerServesIt() {
        publish(Messages.order("a"), Messages.order("b"));
        relay();
        Move move = note(ServedBy.KAFKA);
        assertLeftAlone("subscription.moving");
        assertThat(moves.cancel("billing", ACT)).isPresent();
        subscriptions.changeLanes("billing", 3, ACT);
        assertThatThrownBy(() -> switchOver(move)).hasMessageContaining("the move was cancelled; nothing was changed");
        relay();
        move(ServedBy.KAFKA);
        assertLeftAlone("subscription.served-elsewhere");
        move(ServedBy.POSTGRES);
        subscriptions.changeLanes("billing", 2, ACT);
        assertThat(database.queryLong("select count(*) from postroom.lane where subscription = 'billing'"))
                .isEqualTo(2);
    }

    private void assertLeftAlone(String code) {
        List<Runnable> acts = List.of(
                () -> subscriptions.changeLanes("billing", 5, ACT),
                () -> subscriptions.skip("billing", Point.now(), ACT, PATIENCE),
                () -> subscriptions.replay(new ReplayRequest("billing", Point.beginning(), null, null), ACT, PATIENCE),
                () -> subscriptions.remove("billing", true, ACT));
        for (Runnable act : acts) {
            assertThatThrownBy(act::run).extracting("code").isEqualTo(code);
        }
    }

    /** It was noted, and nobody went on with it for as long as messages are remembered. */
    @Test
    void aCutThatReachesFurtherBackThanInboxesRememberIsNotSwitched() {
        for (ServedBy target : List.of(ServedBy.KAFKA, ServedBy.POSTGRES)) {
            Move move = note(target);
            database.execute(
                    "update postroom.subscription_move set overlap_since = overlap_since - interval '191 hours 30 minutes'"
                            + " where ended_at is null");
            assertThatThrownBy(() -> switchOver(move)).hasMessageContaining("cancel it and begin anew");
            assertThat(moves.outlook("billing", "feed").servedBy()).isNotEqualTo(target);
            moves.cancel("billing", ACT);
            move(target);
        }
    }

    @Test
    void itWaitsForLanesAndForWhatWasRedriven() throws Exception {
        rejected.add("bad");
        publish(Messages.order("bad"), Messages.order("good"));
        relay();
        publish(Messages.order("late"));
        postroom.journal().stampAll();
        Move move = note(ServedBy.KAFKA);
        assertThat(switchOver(move)).isFalse();
        assertThat(moves.waiting(move)).isEqualTo(new Waiting(1, 0, 0));
        act(RedriveRequest.redrive(DeadLetterFilter.ofOwner("billing")));
        assertThat(moves.waiting(move)).isEqualTo(new Waiting(1, 1, 0));
        relay();
        assertThat(moves.waiting(move).isOver()).isTrue();
        assertThat(switchOver(move)).isTrue();
        assertThat(strings(
                        "select source || ' ' || coalesce(resolution, 'open') from postroom.dead_letter order by id"))
                .as("the open one goes along")
                .containsExactly("subscription redriven", "kafka open");

        act(RedriveRequest.redrive(DeadLetterFilter.ofOwner("billing")));
        Move back = note(ServedBy.POSTGRES);
        assertThat(moves.waiting(back)).isEqualTo(new Waiting(0, 0, 1));
        assertThat(switchOver(back)).isFalse();
        rejected.clear();
        assertThat(reception().redrive()).isTrue();
        assertThat(switchOver(back)).isTrue();
        assertThat(applied).hasSize(3);
    }

    /** Dead letters are found before they are locked; meanwhile their subscription may have been moved. */
    @Test
    void nothingIsRedrivenTowardsThoseWhoServeNoMore() {
        rejected.add("bad");
        publish(Messages.order("bad"));
        relay();
        move(ServedBy.KAFKA);
        database.execute("update postroom.dead_letter set source = 'subscription'");
        assertThat(act(RedriveRequest.redrive(DeadLetterFilter.ofOwner("billing")))
                        .skips())
                .containsOnlyKeys("subscription billing has just been moved to kafka; redrive what is left");
        database.execute("update postroom.dead_letter set source = 'kafka'");
        move(ServedBy.POSTGRES);
        database.execute("update postroom.dead_letter set source = 'kafka'");
        assertThat(act(RedriveRequest.redrive(DeadLetterFilter.ofOwner("billing")))
                        .skips()
                        .keySet())
                .singleElement()
                .asString()
                .startsWith("subscription billing is served by postgres");
        assertThat(database.queryLong("select count(*) from postroom.delivery")).isZero();
        assertThat(database.queryLong("select count(*) from postroom.redriven_letter"))
                .isZero();
    }

    /** The cut lies before them, so relays come to them; but operators have them, or have decided. */
    @Test
    void whatASourceGaveUpBeyondTheCutIsNotAppliedByRelays() throws Exception {
        move(ServedBy.KAFKA);
        rejected.addAll(List.of("open", "discarded", "patched"));
        Move back = note(ServedBy.POSTGRES);
        publish(Messages.order("open"), Messages.order("discarded"), Messages.order("patched"), Messages.order("good"));
        relay();
        receive();
        assertThat(applied).containsExactly("good {\"total\":12.50}");
        act(RedriveRequest.discard(DeadLetterFilter.builder()
                .owner("billing")
                .aggregateId("discarded")
                .build()));
        rejected.clear();
        act(RedriveRequest.redrive(DeadLetterFilter.builder()
                        .owner("billing")
                        .aggregateId("patched")
                        .build())
                .patch(JsonPatch.parse("[{\"op\":\"replace\",\"path\":\"/total\",\"value\":7}]")));
        assertThat(reception().redrive()).isTrue();
        assertThat(switchOver(back)).isTrue();
        relay();
        assertThat(applied).containsExactly("good {\"total\":12.50}", "patched {\"total\":7}");
        assertThat(strings("select aggregate_id from postroom.dead_letter where resolution is null"))
                .containsExactly("open");
        act(RedriveRequest.redrive(DeadLetterFilter.ofOwner("billing")));
        relay();
        assertThat(applied).last().isEqualTo("open {\"total\":12.50}");
    }

    /** It waits in the feed when the cut is noted: what is not with the broker by then is the relays'. */
    @Test
    void whatWaitsInTheFeedIsPutDownAsFarAsItIsWanted() throws Exception {
        move(ServedBy.KAFKA);
        topic.answer(message -> !message.aggregateId().equals("sent"), Outcome.retry("not now"));
        Message basket =
                Message.about("basket", "b").event("Filled").payload("{}").build();
        Message later = Message.about("order", "later")
                .event("OrderConfirmed")
                .payload("{}")
                .availableAt(Instant.now().plus(Duration.ofDays(1)))
                .build();
        publish(Messages.order("sent"), Messages.order("stuck"), basket, later);
        relay();
        receive();
        note(ServedBy.POSTGRES);
        assertThat(
                        strings(
                                "select position || ' ' || state from postroom.delivery where subscription = 'billing' order by position"))
                .containsExactly("2 waiting", "4 scheduled");
        moves.cancel("billing", ACT);
        assertThat(database.queryLong("select count(*) from postroom.delivery where subscription = 'billing'"))
                .isZero();
        move(ServedBy.POSTGRES);
        topic.mend();
        relay();
        assertThat(applied).containsExactly("sent {\"total\":12.50}", "stuck {\"total\":12.50}");
        assertThat(
                        database.queryLong(
                                "select count(*) from postroom.delivery where subscription = 'billing' and state = 'scheduled'"))
                .isOne();
    }

    /** What waited in the feed was brought to the source after all, and given up there. */
    @Test
    void whatWasPutDownAndGivenUpMeanwhileIsNotApplied() throws Exception {
        move(ServedBy.KAFKA);
        topic.answer(message -> true, Outcome.retry("no answer"), 1);
        publish(Messages.order("bad"));
        relay();
        Move back = note(ServedBy.POSTGRES);
        rejected.add("bad");
        database.execute("update postroom.delivery set due_at = now() where subscription = 'feed'");
        relay();
        received = 0;
        receive();
        rejected.clear();
        assertThat(switchOver(back)).isTrue();
        relay();
        assertThat(applied).isEmpty();
        assertThat(strings("select source from postroom.dead_letter where resolution is null"))
                .containsExactly("subscription");
    }

    @Test
    void aSwitchWaitsForTheTransactionOfASourceAndLetsNoneBegin() throws Exception {
        move(ServedBy.KAFKA);
        publish(Messages.order("a"), Messages.order("b"));
        relay();
        CountDownLatch applying = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        Projection plain = projection;
        projection = (tx, batch) -> {
            applying.countDown();
            assertThat(go.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
            plain.apply(tx, batch);
        };
        ExecutorService threads = Executors.newFixedThreadPool(2);
        try {
            Future<?> source = threads.submit(() -> {
                receive();
                return true;
            });
            assertThat(applying.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
            Move back = note(ServedBy.POSTGRES);
            assertThat(moves.switchOver(back, ACT, PATIENCE, Duration.ofMillis(200)))
                    .as("not while it is open")
                    .isFalse();
            assertThat(
                            database.queryLong(
                                    "select count(*) from postroom.subscription_move where ended_at is null and switching_until > now()"))
                    .as("sources go on")
                    .isZero();
            Future<Boolean> switching = threads.submit(() -> switchOver(back));
            awaitSwitching();
            assertThatThrownBy(() -> reception().redrive()).extracting("code").isEqualTo("source.switching");
            go.countDown();
            assertThat(switching.get(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
            source.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        } finally {
            threads.shutdownNow();
        }
        assertThatThrownBy(() -> reception().redrive()).isInstanceOf(NotServedException.class);
        projection = plain;
        relay();
        assertThat(applied).containsExactlyInAnyOrder("a {\"total\":12.50}", "b {\"total\":12.50}");
    }

    private void awaitSwitching() {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (database.queryLong(
                        "select count(*) from postroom.subscription_move where ended_at is null and switching_until > now()")
                == 0) {
            assertThat(System.nanoTime()).isLessThan(deadline);
            Thread.onSpinWait();
        }
    }

    /** Its lease ran out while it was frozen, nobody took the lane, and now it wakes up. */
    @Test
    void aRelayThatWakesUpAfterTheSwitchWritesNothingIntoItsLane() {
        publish(Messages.order("a"));
        relay();
        long before = database.queryLong("select sum(fence) from postroom.lane where subscription = 'billing'");
        move(ServedBy.KAFKA);
        assertThat(database.queryLong("select sum(fence) from postroom.lane where subscription = 'billing'"))
                .isGreaterThan(before);
        publish(Messages.order("b"));
        relay();
        assertThat(applied).containsExactly("a {\"total\":12.50}");
    }

    private Redrive act(RedriveRequest.Builder request) {
        UUID id = postroom.deadLetters()
                .redrives()
                .request(request.actor("ann").reason("test").build())
                .request()
                .id();
        try {
            return postroom.deadLetters().redrives().run(id, now -> {});
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private List<String> strings(String sql) throws SQLException {
        try (Connection connection = database.dataSource().getConnection();
                var statement = connection.createStatement();
                var rows = statement.executeQuery(sql)) {
            List<String> values = new ArrayList<>();
            while (rows.next()) {
                values.add(rows.getString(1));
            }
            return values;
        }
    }
}
