package io.postroom.subscription;

import static io.postroom.subscription.Office.ACT;
import static io.postroom.subscription.Office.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postroom.Postroom;
import io.postroom.PostroomException;
import io.postroom.deadletter.DeadLetterFilter;
import io.postroom.deadletter.RedriveRequest;
import io.postroom.deadletter.Redrives;
import io.postroom.message.Envelope;
import io.postroom.message.Message;
import io.postroom.relay.OnBurial;
import io.postroom.relay.Outcome;
import io.postroom.relay.Relay;
import io.postroom.relay.Subscription;
import io.postroom.retry.RetryPolicy;
import io.postroom.testkit.Messages;
import io.postroom.testkit.RecordingSink;
import io.postroom.testkit.TestDatabase;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Messages are delivered once more, to the same subscription or to a copy of it. */
class ReplayTest {
    private static TestDatabase database;

    private final RecordingSink sink = new RecordingSink();
    private Office office;
    private Subscriptions subscriptions;

    @BeforeAll
    static void create() {
        database = TestDatabase.create();
    }

    @AfterAll
    static void drop() {
        database.close();
    }

    @BeforeEach
    void open() {
        office = new Office(database);
        subscriptions = office.subscriptions;
    }

    @Test
    void repeatsAStretchWithAHeaderAndGoesOnWhereItWas() {
        office.publish(Messages.ofManyKeys("any", 30));
        office.deliver(billing(), sink);
        office.publish(Messages.ofManyKeys("new", 5));
        Set<?> ids = sink.accepted().stream().map(Message::id).collect(Collectors.toSet());
        sink.forget();
        ReplayPlan plan = subscriptions.planReplay(request(Point.at(11), Point.at(20)));
        assertThat(plan.after()).isEqualTo(10);
        assertThat(plan.upTo()).isEqualTo(20);
        assertThat(plan.moves().stream().mapToLong(LaneMove::messages).sum()).isEqualTo(10);
        subscriptions.replay(request(Point.at(11), Point.at(20)), ACT, PATIENCE);
        assertThat(subscriptions.find("billing").orElseThrow().lanesReplaying()).isEqualTo(2);
        office.deliver(billing(), sink);
        assertThat(positions(sink.attempts())).isEqualTo(span(11, 20, 31, 35));
        assertThat(sink.attempts()).hasSize(15).allSatisfy(envelope -> {
            boolean replayed = envelope.position() <= 20;
            assertThat(envelope.message().headers().get("postroom-replay")).isEqualTo(replayed ? "20" : null);
            assertThat(ids.contains(envelope.message().id())).isEqualTo(replayed);
        });
        assertThat(office.count("lane where position = 35 and replay_to is null"))
                .isEqualTo(2);
        assertThat(office.count("audit where action = 'subscription replay' and details ->> 'after' = '10'"))
                .isEqualTo(1);
    }

    @Test
    void aLiveRelayRepeatsNothingElseAndCountsNoCrash() throws Exception {
        office.publish(Messages.ofManyKeys("any", 40));
        sink.answer(message -> message.aggregateId().equals("any-7"), Outcome.retry("not now"), 2);
        RetryPolicy soon = RetryPolicy.builder()
                .linear(Duration.ofMillis(300))
                .attemptsMax(9)
                .build();
        Subscription subscription =
                Subscription.named("billing").lanes(2).retry(soon).build();
        try (Relay first = office.relay("first", subscription, sink);
                Relay second = office.relay("second", subscription, sink)) {
            first.start();
            second.start();
            sink.awaitAccepted(39, PATIENCE);
            office.await("all is settled", () -> office.count("lane where position = 40") == 2);
            subscriptions.replay(request(Point.at(21), null), ACT, PATIENCE);
            office.publish(Messages.ofManyKeys("new", 10));
            office.await(
                    "all is delivered",
                    () -> positions(sink.attempts()).size() == 50
                            && office.count("lane where position = 50 and replay_to is null") == 2
                            && office.count("delivery") == 0);
        }
        List<Long> accepted = sink.accepted().stream()
                .map(message -> sink.attempts().stream()
                        .filter(each -> each.message().id().equals(message.id()))
                        .findFirst()
                        .orElseThrow()
                        .position())
                .toList();
        assertThat(accepted).hasSize(70);
        assertThat(accepted.stream().filter(position -> position > 20 && position <= 40))
                .hasSize(40);
        assertThat(office.count("attempt where outcome = 'crashed'")).isZero();
    }

    @Test
    void leavesLanesAloneThatHaveNotComeSoFar() {
        office.publish(Messages.ofManyKeys("any", 20));
        office.deliver(billing(), sink);
        office.database.execute("update postroom.lane set position = 5 where lane = 1");
        ReplayPlan plan = subscriptions.replay(request(Point.at(11), null), ACT, PATIENCE);
        assertThat(plan.leftAlone()).containsExactly(1);
        assertThat(plan.moves()).extracting(LaneMove::lane).containsExactly(0);
        assertThat(office.count("lane where lane = 1 and position = 5 and replay_to is null"))
                .isEqualTo(1);
    }

    @Test
    void whatFailsMeanwhileKeepsItsOrderAndIsToldToBeAReplayEachTime() {
        office.publish(Messages.sequence("key", 3));
        office.deliver(billing(), sink);
        sink.forget();
        sink.answer(message -> Long.valueOf(1).equals(message.aggregateVersion()), Outcome.retry("not now"), 1);
        RetryPolicy soon = RetryPolicy.builder().immediate(3).attemptsMax(3).build();
        Subscription patient =
                Subscription.named("billing").lanes(2).retry(soon).build();
        subscriptions.replay(request(Point.beginning(), null), ACT, PATIENCE);
        office.publish(List.of(Messages.order("new")));
        office.deliver(patient, sink);
        office.deliver(patient, sink);
        assertThat(sink.accepted("key")).extracting(Message::aggregateVersion).containsExactly(1L, 2L, 3L);
        assertThat(sink.attempts())
                .hasSize(5)
                .allSatisfy(envelope -> assertThat(envelope.message().headers().get("postroom-replay"))
                        .isEqualTo(envelope.position() <= 3 ? "3" : null));
        assertThat(office.count("delivery")).isZero();
    }

    @ParameterizedTest
    @EnumSource(OnBurial.class)
    void whatIsBuriedMeanwhileAndRedrivenAfterwardsIsToldToBeAReplay(OnBurial onBurial) throws Exception {
        Subscription billing =
                Subscription.named("billing").lanes(2).onBurial(onBurial).build();
        office.publish(Messages.ofManyKeys("o", 4));
        office.deliver(billing, sink);
        sink.answer(message -> true, Outcome.rejected("never"));
        office.publish(List.of(Messages.order("new")));
        office.deliver(billing, sink);
        subscriptions.replay(request(Point.beginning(), Point.at(4)), ACT, PATIENCE);
        office.deliver(billing, sink);
        office.deliver(billing, sink);
        // Buried again, and redriven again.
        redriveAll();
        office.deliver(billing, sink);
        sink.mend();
        sink.forget();
        redriveAll();
        office.deliver(billing, sink);
        assertThat(sink.attempts())
                .hasSize(5)
                .allSatisfy(envelope -> assertThat(envelope.message().headers().get("postroom-replay"))
                        .isEqualTo(envelope.position() <= 4 ? "4" : null));
    }

    private void redriveAll() throws InterruptedException {
        Redrives redrives = Postroom.on(database.dataSource()).deadLetters().redrives();
        RedriveRequest all = RedriveRequest.redrive(DeadLetterFilter.ofOwner("billing"))
                .actor("tester")
                .reason("to see what happens")
                .build();
        redrives.request(all);
        redrives.run(all.id(), now -> {});
    }

    @Test
    void whatWaitsAmongTheDeliveriesIsNotSentTwice() {
        sink.answer(message -> Long.valueOf(2).equals(message.aggregateVersion()), Outcome.retry("not now"), 1);
        RetryPolicy later =
                RetryPolicy.builder().linear(Duration.ofHours(1)).attemptsMax(3).build();
        Subscription patient =
                Subscription.named("billing").lanes(2).retry(later).build();
        office.publish(Messages.sequence("key", 3));
        office.deliver(patient, sink);
        assertThat(sink.accepted()).hasSize(1);
        subscriptions.replay(request(Point.beginning(), null), ACT, PATIENCE);
        office.deliver(patient, sink);
        office.database.execute("update postroom.delivery set due_at = now() where state = 'waiting'");
        office.deliver(patient, sink);
        office.deliver(patient, sink);
        assertThat(sink.accepted()).extracting(Message::aggregateVersion).containsExactly(1L, 1L, 2L, 3L);
        assertThat(sink.accepted())
                .extracting(message -> message.headers().containsKey("postroom-replay"))
                .containsExactly(false, true, false, false);
    }

    @Test
    void touchesNoOther() {
        Subscription other = Subscription.named("other").lanes(2).build();
        RecordingSink otherSink = new RecordingSink();
        office.publish(Messages.ofManyKeys("any", 20));
        office.deliver(billing(), sink);
        office.deliver(other, otherSink);
        subscriptions.replay(request(Point.beginning(), null), ACT, PATIENCE);
        office.deliver(billing(), sink);
        office.deliver(other, otherSink);
        assertThat(sink.attempts()).hasSize(40);
        assertThat(otherSink.attempts()).hasSize(20);
    }

    @Test
    void fromATime() {
        office.publish(Messages.ofManyKeys("old", 10));
        office.deliver(billing(), sink);
        office.database.execute("update postroom.tick set at = at - interval '1 hour'");
        office.publish(Messages.ofManyKeys("new", 5));
        office.deliver(billing(), sink);
        sink.forget();
        subscriptions.replay(request(Point.since(Instant.now().minusSeconds(1800)), null), ACT, PATIENCE);
        office.deliver(billing(), sink);
        assertThat(positions(sink.attempts())).isEqualTo(span(11, 15));
    }

    @Test
    void atARate() {
        office.publish(Messages.ofManyKeys("any", 40));
        office.deliver(billing(), sink);
        sink.forget();
        subscriptions.replay(new ReplayRequest("billing", Point.beginning(), null, 20.0), ACT, PATIENCE);
        long began = System.nanoTime();
        try (Relay relay = office.relay("node-1", billing(), sink)) {
            relay.start();
            office.await("all is replayed", () -> sink.attempts().size() == 40);
        }
        assertThat(Duration.ofNanos(System.nanoTime() - began)).isGreaterThan(Duration.ofMillis(1_200));
        assertThatThrownBy(() -> new ReplayRequest("billing", Point.beginning(), null, 0.0))
                .hasMessageContaining("rate is 0.0 messages a second, it must be more than 0");
    }

    @Test
    void ofARunningOneIsRefusedUntilItIsOverOrSkipped() {
        office.publish(Messages.ofManyKeys("any", 20));
        office.deliver(billing(), sink);
        subscriptions.replay(request(Point.at(6), Point.at(15)), ACT, PATIENCE);
        assertRefused(
                () -> subscriptions.replay(request(Point.beginning(), null), ACT, PATIENCE),
                "subscription.replaying",
                "it replays already, lane 0 is at position 5 and ends at 15; wait, or skip the rest");
        assertRefused(
                () -> subscriptions.changeLanes("billing", 4, ACT),
                "subscription.replaying",
                "ends at 15; wait, or skip the rest");
        SkipPlan some = subscriptions.skip("billing", Point.at(11), ACT, PATIENCE);
        assertThat(some.positions()).isEqualTo(5);
        assertThat(office.count("lane where position = 10 and replay_to = 15 and resume_at = 20"))
                .isEqualTo(2);
        subscriptions.skip("billing", Point.now(), ACT, PATIENCE);
        assertThat(office.count("lane where position = 20 and replay_to is null"))
                .isEqualTo(2);
        sink.forget();
        office.deliver(billing(), sink);
        assertThat(sink.attempts()).isEmpty();
        subscriptions.replay(request(Point.beginning(), null), ACT, PATIENCE);
    }

    @Test
    void refusesWhatIsNoStretch() {
        office.publish(Messages.ofManyKeys("any", 20));
        office.deliver(billing(), sink);
        assertRefused(
                () -> subscriptions.planReplay(request(Point.at(10), Point.at(5))),
                "subscription.replay-empty",
                "from position 10 to position 5 there is nothing");
        assertRefused(
                () -> subscriptions.planReplay(request(Point.at(99), null)),
                "subscription.beyond-end",
                "position 99 is beyond the journal's end, which is 20");
        assertRefused(
                () -> subscriptions.planReplay(request(Point.at(5), Point.at(21))),
                "subscription.beyond-end",
                "position 21 is beyond");
        assertRefused(
                () -> subscriptions.planReplay(request(Point.since(Instant.now().plusSeconds(600)), null)),
                "subscription.time-in-future",
                "is in the future");
        assertRefused(
                () -> subscriptions.replay(request(Point.now(), null), ACT, PATIENCE),
                "subscription.nothing-to-replay",
                "no lane has come beyond position 20");
        assertRefused(
                () -> subscriptions.planReplay(new ReplayRequest("bilings", Point.beginning(), null, null)),
                "subscription.unknown",
                "did you mean billing?");
        assertThat(office.count("audit")).isZero();
    }

    @Test
    void aCopyIsServedBesideItsOriginalAndEndsByItself() throws Exception {
        office.publish(Messages.ofManyKeys("any", 30));
        try (Relay first = office.relay("first", billing(), sink);
                Relay second = office.relay("second", billing(), sink)) {
            first.start();
            second.start();
            sink.awaitAccepted(30, PATIENCE);
            ReplayPlan plan = subscriptions.replayCopy(request(Point.at(11), null), "billing-again", ACT);
            assertThat(plan.name()).isEqualTo("billing-again");
            assertThat(plan.upTo()).isEqualTo(30);
            office.publish(Messages.ofManyKeys("new", 10));
            sink.awaitAccepted(60, PATIENCE);
            office.await("the copy is done", () -> copy().isDone() && copy().lanesLeased() == 0);
            office.publish(Messages.ofManyKeys("newer", 10));
            sink.awaitAccepted(70, PATIENCE);
            assertThat(copy().lagMessages()).isZero();
            assertThat(copy().copyOf()).isEqualTo("billing");
            assertThat(office.count("lane where subscription = 'billing-again' and position = 30"))
                    .isEqualTo(2);
            assertThat(subscriptions.show("billing").copies()).containsExactly("billing-again");
            assertRefused(() -> subscriptions.remove("billing", false, ACT), "subscription.served", "is with relay");
            subscriptions.remove("billing-again", false, ACT);
        }
        assertThat(sink.attempts()).hasSize(70);
        assertThat(positions(sink.attempts().stream()
                        .filter(each -> each.message().headers().containsKey("postroom-replay"))
                        .toList()))
                .isEqualTo(span(11, 30));
    }

    @Test
    void aCopyMadeWhileRelaysRunIsSharedAmongThem() throws Exception {
        office.publish(Messages.ofManyKeys("any", 20));
        try (Relay first = office.relay("first", billing(), sink);
                Relay second = office.relay("second", billing(), sink)) {
            first.start();
            second.start();
            sink.awaitAccepted(20, PATIENCE);
            office.await(
                    "both have a lane of the original",
                    () -> office.count("relay r where exists (select from postroom.lane l where l.owner = r.id)") == 2);
            // So slowly that it is not over before they have shared it.
            subscriptions.replayCopy(new ReplayRequest("billing", Point.beginning(), null, 1.0), "billing-again", ACT);
            office.await(
                    "both have a lane of the copy, and say so",
                    () -> office.count("relay r where 'billing-again' = any (r.subscriptions) and (select count(*) from"
                                    + " postroom.lane l where l.owner = r.id and l.subscription = 'billing-again') = 1")
                            == 2);
        }
    }

    @Test
    void aCopyIsDoneWhenItsLastDeliveryIs() {
        office.publish(Messages.sequence("bad", 3));
        office.publish(Messages.ofManyKeys("any", 7));
        office.deliver(billing(), sink);
        RetryPolicy soon = RetryPolicy.builder()
                .linear(Duration.ofMillis(200))
                .attemptsMax(50)
                .build();
        Subscription patient =
                Subscription.named("billing").lanes(2).retry(soon).build();
        sink.answer(message -> message.aggregateId().equals("bad"), Outcome.retry("not now"), 5);
        sink.forget();
        subscriptions.replayCopy(request(Point.beginning(), null), "copy", ACT);
        try (Relay relay = office.relay("node-1", patient, sink)) {
            relay.start();
            office.await(
                    "the rest of the copy is through",
                    () -> office.count("lane where subscription = 'copy' and replay_to is null") == 2);
            assertThat(subscriptions.find("copy").orElseThrow().isDone()).isFalse();
            // Not the copy's: it must not be parked behind its failing key.
            office.publish(Messages.sequence("bad", 2));
            office.await(
                    "the copy is done",
                    () -> subscriptions.find("copy").orElseThrow().isDone());
            office.await(
                    "new ones are delivered",
                    () -> office.count("lane where position = 12") == 2
                            && sink.accepted("bad").size() == 5);
        }
        assertThat(sink.accepted("bad")).hasSize(5);
        assertThat(sink.accepted()).hasSize(12);
    }

    @Test
    void aCopyIsRefusedUnderABadNameOrOfACopy() {
        office.publish(Messages.ofManyKeys("any", 5));
        office.deliver(billing(), sink);
        subscriptions.replayCopy(request(Point.beginning(), null), "copy", ACT);
        assertRefused(
                () -> subscriptions.replayCopy(request(Point.beginning(), null), "copy", ACT),
                "subscription.name-taken",
                "there is a subscription copy already; choose another name, or remove it");
        assertRefused(
                () -> subscriptions.planReplayCopy(request(Point.beginning(), null), "billing"),
                "subscription.name-taken",
                "there is a subscription billing already");
        assertRefused(
                () -> subscriptions.replayCopy(request(Point.beginning(), null), "Copy!", ACT),
                "subscription.invalid",
                "name is 'Copy!', it must be 1 to 100 lower-case letters");
        ReplayRequest ofCopy = new ReplayRequest("copy", Point.beginning(), null, null);
        assertRefused(
                () -> subscriptions.replayCopy(ofCopy, "copy-2", ACT), "subscription.is-copy", "is a copy of billing");
        assertRefused(
                () -> subscriptions.replay(ofCopy, ACT, PATIENCE), "subscription.is-copy", "is a copy of billing");
        assertRefused(() -> subscriptions.changeLanes("copy", 5, ACT), "subscription.is-copy", "ends by itself");
        assertRefused(
                () -> subscriptions.remove("billing", false, ACT),
                "subscription.has-copies",
                "it has a copy, copy; remove that first");
        assertRefused(
                () -> subscriptions.replayCopy(request(Point.now(), null), "none", ACT),
                "subscription.replay-empty",
                "from now to now there is nothing");
        subscriptions.skip("copy", Point.now(), ACT, PATIENCE);
        assertThat(subscriptions.find("copy").orElseThrow().isDone()).isTrue();
        subscriptions.remove("copy", false, ACT);
    }

    private SubscriptionState copy() {
        return subscriptions.find("billing-again").orElseThrow();
    }

    private static ReplayRequest request(Point from, @Nullable Point to) {
        return new ReplayRequest("billing", from, to, null);
    }

    private static Subscription billing() {
        return Subscription.named("billing").lanes(2).build();
    }

    private static Set<Long> positions(List<Envelope> envelopes) {
        return envelopes.stream().map(Envelope::position).collect(Collectors.toCollection(TreeSet::new));
    }

    /** All numbers from one to another, and perhaps from a third to a fourth. */
    private static Set<Long> span(long... ends) {
        Set<Long> span = new TreeSet<>();
        for (int i = 0; i < ends.length; i += 2) {
            LongStream.rangeClosed(ends[i], ends[i + 1]).forEach(span::add);
        }
        return span;
    }

    private static void assertRefused(ThrowingCallable act, String code, String sentence) {
        assertThatThrownBy(act)
                .isInstanceOf(PostroomException.class)
                .hasMessageContaining(sentence)
                .extracting("code")
                .isEqualTo(code);
    }
}
