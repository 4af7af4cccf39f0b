package io.postroom.deadletter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postroom.PostroomException;
import io.postroom.audit.AuditEntry;
import io.postroom.audit.AuditFilter;
import io.postroom.message.Message;
import io.postroom.testkit.Messages;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.postgresql.PGConnection;

class RedriveTest {
    private static final Duration DEADLINE = Duration.ofSeconds(30);

    private static Graveyard yard;

    @BeforeAll
    static void create() {
        yard = new Graveyard();
    }

    @AfterAll
    static void drop() {
        yard.close();
    }

    @BeforeEach
    void subscribe() {
        yard.clear().subscribe("billing", 4);
    }

    private Redrive request(RedriveRequest.Builder request) {
        return yard.redrives.request(request.build());
    }

    private static UUID id(Redrive redrive) {
        return redrive.request().id();
    }

    /** So many dead letters of billing, each of a key of its own. */
    private void bury(int count) {
        yard.publishMany("o", count);
        yard.bury("billing", "true");
    }

    // What a step does

    @Test
    void aRedrivenMessageBecomesADeliveryThatIsDueAtOnce() {
        bury(3);
        Redrive redrive = request(yard.redriveOf("billing"));
        assertThat(redrive.total()).isEqualTo(3);
        assertThat(redrive.state()).isEqualTo(RedriveState.RUNNING);
        Redrive done = yard.stepToEnd(id(redrive));
        assertThat(done.state()).isEqualTo(RedriveState.DONE);
        assertThat(done.done()).isEqualTo(3);
        assertThat(done.skipped()).isZero();
        assertThat(done.endedAt()).isNotNull();
        assertThat(yard.count("dead_letter", "resolution = 'redriven' and resolved_by = 'anna' and patched is null"))
                .isEqualTo(3);
        assertThat(yard.one("""
                select count(*) from postroom.delivery as v
                join postroom.dead_letter as d on d.id = v.dead_letter and d.owner = v.subscription and d.position = v.position
                where v.state = 'waiting' and v.due_at <= clock_timestamp() and v.attempts = 0 and v.key_hash = d.key_hash
                  and v.lane = d.key_hash % 4 and v.bytes = octet_length(d.payload::text)""")).isEqualTo(3);
    }

    @Test
    void aHeldMessageTakesUpWhereItWas() {
        yard.subscribeHolding("holding", 2);
        yard.publish(Messages.sequence("h", 3));
        yard.bury("holding", "o.aggregate_version = 1");
        yard.hold("holding");
        yard.deliver("holding", "parked", "o.aggregate_version > 1");
        Redrive done = yard.stepToEnd(id(request(yard.redriveOf("holding"))));
        assertThat(done.done()).isEqualTo(1);
        assertThat(yard.texts("select state || ' ' || attempts || ' ' || seq from postroom.delivery order by position"))
                .containsExactly("waiting 0 1", "parked 1 2", "parked 1 3");
    }

    @Test
    void aDiscardedMessageLetsItsKeyGoOn() {
        yard.subscribeHolding("holding", 2);
        yard.publish(Messages.sequence("h", 150));
        yard.bury("holding", "o.aggregate_version = 1");
        yard.hold("holding");
        yard.deliver("holding", "parked", "o.aggregate_version > 1");
        Redrive done = yard.stepToEnd(id(request(yard.discardOf("holding"))));
        assertThat(done.done()).isEqualTo(1);
        assertThat(yard.count("dead_letter", "resolution = 'discarded' and resolved_by = 'bert'"))
                .isOne();
        assertThat(yard.count("delivery", "position = 1")).isZero();
        assertThat(yard.count(
                        "delivery", "state = 'waiting' and due_at <= clock_timestamp() and position between 2 and 101"))
                .isEqualTo(100);
        assertThat(yard.count("delivery", "state = 'parked'")).isEqualTo(49);
    }

    @Test
    void aDiscardReleasesNothingBehindAnotherThatWaits() {
        yard.subscribeHolding("holding", 1);
        yard.publish(Messages.sequence("h", 4));
        yard.bury("holding", "o.aggregate_version = 2");
        yard.hold("holding");
        yard.deliver("holding", "waiting", "o.aggregate_version = 1");
        yard.deliver("holding", "parked", "o.aggregate_version > 2");
        yard.stepToEnd(id(request(yard.discardOf("holding"))));
        assertThat(yard.texts("select state from postroom.delivery order by position"))
                .containsExactly("waiting", "parked", "parked");
    }

    @Test
    void aMessageBehindOneThatHasToWaitIsParked() {
        yard.publish(Messages.sequence("h", 3));
        yard.deliver("billing", "waiting", "o.aggregate_version = 1");
        yard.bury("billing", "o.aggregate_version > 1");
        yard.stepToEnd(id(request(yard.redriveOf("billing"))));
        assertThat(yard.texts("select state from postroom.delivery order by position"))
                .containsExactly("waiting", "parked", "parked");
    }

    @Test
    void messagesOfOneKeyAreDueTogetherAndInOrder() {
        yard.publish(Messages.sequence("h", 5));
        yard.bury("billing", "true");
        yard.stepToEnd(id(request(yard.redriveOf("billing"))));
        assertThat(yard.one("select count(distinct due_at) from postroom.delivery where state = 'waiting'"))
                .isOne();
        assertThat(yard.count("delivery", "state = 'waiting'")).isEqualTo(5);
    }

    /** Three messages of one key, the first of which was redriven and is the last that was buried, behind many of others. */
    private void buryTheFirstLast() {
        yard.publish(Messages.sequence("h", 3));
        bury(1_200);
        yard.stepToEnd(id(request(
                RedriveRequest.redrive(DeadLetterFilter.ofIds(1L)).actor("anna").reason("to see"))));
        yard.accept("billing");
        yard.bury("billing", "j.position = 1");
    }

    @Test
    void aMessageThatWasBuriedAgainGoesBeforeTheLaterOnesOfItsKey() {
        buryTheFirstLast();
        Redrive done = yard.stepToEnd(id(request(yard.redriveOf("billing"))));
        assertThat(done.state()).isEqualTo(RedriveState.DONE);
        assertThat(List.of(done.total(), done.done(), done.skipped())).containsExactly(1_203L, 1_203L, 0L);
        assertThat(yard.texts("select position from postroom.delivery where position <= 3 order by due_at, position"))
                .containsExactly("1", "2", "3");
    }

    @Test
    void aMessageThatWasBuriedAgainIsTheFirstOfACanaryAndOfAPatchToo() {
        buryTheFirstLast();
        UUID id = id(request(yard.redriveOf("billing")
                .canary(2)
                .patch(JsonPatch.parse("[{\"op\":\"add\",\"path\":\"/mended\",\"value\":true}]"))));
        assertThat(yard.stepToEnd(id).state()).isEqualTo(RedriveState.CANARY);
        assertThat(yard.texts("select position from postroom.delivery order by due_at, position"))
                .containsExactly("1", "2");
        assertThat(yard.count("dead_letter", "patched is not null")).isEqualTo(2);
        yard.accept("billing");
        yard.redrives.step(id);
        assertThat(yard.stepToEnd(id).done()).isEqualTo(1_203);
    }

    @Test
    void aMessageThatWasBuriedAgainAndIsOnItsWayIsSkippedOnceAndHoldsUpNobody() {
        buryTheFirstLast();
        yard.deliver("billing", "sending", "j.position = 1");
        Redrive done = yard.stepToEnd(id(request(yard.redriveOf("billing"))));
        assertThat(List.of(done.done(), done.skipped())).containsExactly(1_202L, 1L);
    }

    @Test
    void whatCannotGoDoesNotHideWhatMustGoBeforeLaterOnes() {
        yard.publish(Messages.sequence("h", 3));
        yard.bury("billing", "j.position = 3");
        yard.bury("billing", "j.position < 3");
        yard.deliver("billing", "sending", "j.position = 1");
        UUID id = id(request(yard.redriveOf("billing").canary(1)));
        assertThat(yard.stepToEnd(id).state()).isEqualTo(RedriveState.CANARY);
        assertThat(yard.texts("select position from postroom.delivery where dead_letter is not null"))
                .containsExactly("2");
    }

    @Test
    void moreThatCannotGoThanAStepTakesDoNotHideWhatMustGoBeforeLaterOnes() {
        yard.publish(Messages.sequence("h", 1_202));
        yard.bury("billing", "j.position = 1202");
        yard.bury("billing", "j.position < 1202");
        yard.deliver("billing", "sending", "j.position <= 1200");
        Redrive done = yard.stepToEnd(id(request(yard.redriveOf("billing"))));
        assertThat(List.of(done.done(), done.skipped())).containsExactly(2L, 1_200L);
        assertThat(yard.texts("select position from postroom.delivery where dead_letter is not null"
                        + " order by due_at, position"))
                .containsExactly("1201", "1202");
    }

    @Test
    void moreThatAPatchDoesNotFitDoNotHideWhatMustGoBeforeLaterOnes() {
        yard.publish(Messages.sequence("h", 702));
        yard.bury("billing", "j.position = 702");
        yard.bury("billing", "j.position < 702");
        yard.database.execute("update postroom.dead_letter set payload = '[]' where position <= 700");
        UUID id = id(request(yard.redriveOf("billing")
                .patch(JsonPatch.parse("[{\"op\":\"replace\",\"path\":\"/n\",\"value\":7}]"))));
        Redrive done = yard.stepToEnd(id);
        assertThat(List.of(done.done(), done.skipped())).containsExactly(2L, 700L);
        assertThat(yard.texts("select position from postroom.delivery order by due_at, position"))
                .containsExactly("701", "702");
    }

    @Test
    void theOrderOfAKeyIsThatOfWhatIsMeantOnly() {
        buryTheFirstLast();
        Redrive asked = request(RedriveRequest.redrive(DeadLetterFilter.ofIds(2L, 3L))
                .actor("anna")
                .reason("the later ones"));
        assertThat(yard.stepToEnd(id(asked)).done()).isEqualTo(2);
        assertThat(yard.texts("select position from postroom.dead_letter where resolution is null and position <= 3"))
                .containsExactly("1");
    }

    @Test
    void skipsWhatIsOnItsWayAgainAlready() {
        bury(4);
        yard.deliver("billing", "sending", "j.position = 1");
        yard.deliver("billing", "waiting", "j.position = 2");
        Redrive done = yard.stepToEnd(id(request(yard.redriveOf("billing"))));
        assertThat(done.done()).isEqualTo(2);
        assertThat(done.skipped()).isEqualTo(2);
        assertThat(done.skips())
                .containsEntry("its message is on its way again already (sending)", 1L)
                .containsEntry("its message is on its way again already (waiting)", 1L);
        assertThat(yard.count("delivery", "state = 'sending' and attempts = 1")).isOne();
        assertThat(yard.count("dead_letter", "resolution is null and position <= 2"))
                .isEqualTo(2);
    }

    @Test
    void skipsWhatAReplayHasNotSettledYetAndRedrivesItAfterwards() {
        bury(6);
        yard.database.execute("update postroom.lane set position = 2, replay_to = 5, resume_at = 6");
        Redrive during = yard.stepToEnd(id(request(yard.redriveOf("billing"))));
        assertThat(during.skips())
                .containsOnly(Map.entry(
                        "a replay is about to send its message, or has just done so; when it is over, redrive what is left",
                        3L));
        assertThat(yard.texts("select position from postroom.dead_letter where resolution is null order by position"))
                .containsExactly("3", "4", "5");
        assertThat(yard.texts("select position from postroom.delivery order by position"))
                .containsExactly("1", "2", "6");
        yard.database.execute("update postroom.lane set position = 6, replay_to = null, resume_at = null");
        Redrive after = yard.stepToEnd(id(request(yard.redriveOf("billing"))));
        assertThat(after.done()).isEqualTo(3);
        assertThat(after.skips()).isEmpty();
        assertThat(yard.count("delivery", "state = 'waiting'")).isEqualTo(6);
    }

    @Test
    void skipsWhatHasNoSubscriptionAnyMoreButDiscardsIt() {
        bury(3);
        yard.database.execute("delete from postroom.subscription");
        Redrive redriven = yard.stepToEnd(id(request(yard.redriveOf("billing"))));
        assertThat(redriven.state()).isEqualTo(RedriveState.DONE);
        assertThat(redriven.done()).isZero();
        assertThat(redriven.skips()).containsOnly(Map.entry("subscription billing is gone", 3L));
        assertThat(yard.stepToEnd(id(request(yard.discardOf("billing")))).done())
                .isEqualTo(3);
    }

    @Test
    void meansNoDeadLetterThatWasBuriedLater() {
        bury(3);
        Redrive redrive = request(yard.redriveOf("billing"));
        yard.publishMany("late", 3);
        yard.bury("billing", "o.aggregate_id like 'late-%'");
        assertThat(yard.stepToEnd(id(redrive)).done()).isEqualTo(3);
        assertThat(yard.count("dead_letter", "resolution is null")).isEqualTo(3);
    }

    @Test
    void actsOnSingleDeadLetters() {
        bury(5);
        UUID id = id(request(RedriveRequest.discard(DeadLetterFilter.ofIds(2L, 4L))
                .actor("a")
                .reason("b")));
        yard.stepToEnd(id);
        assertThat(yard.texts("select id from postroom.dead_letter where resolution = 'discarded' order by id"))
                .containsExactly("2", "4");
    }

    @Test
    void takesFiveHundredAtATime() {
        bury(1_200);
        UUID id = id(request(yard.redriveOf("billing")));
        assertThat(IntStream.range(0, 3).map(n -> yard.redrives.step(id).letters()))
                .containsExactly(500, 500, 200);
        assertThat(yard.redrives.get(id).state()).isEqualTo(RedriveState.DONE);
    }

    @Test
    void tellsRelaysAfterwards() throws SQLException {
        bury(1);
        try (Connection listening = yard.database.dataSource().getConnection();
                Statement statement = listening.createStatement()) {
            statement.execute("listen \"postroom_journal\"");
            yard.stepToEnd(id(request(yard.redriveOf("billing"))));
            assertThat(listening.unwrap(PGConnection.class).getNotifications((int) DEADLINE.toMillis()))
                    .extracting(notification -> notification.getParameter())
                    .containsExactly("deliveries");
        }
    }

    // Asking

    @Test
    void askingTwiceIsAskingOnce() {
        bury(3);
        UUID id = UUID.randomUUID();
        Redrive first = request(yard.redriveOf("billing").id(id).rate(1000.0));
        yard.stepToEnd(id);
        Redrive second = request(yard.redriveOf("billing").id(id).rate(1000.0).reason("pressed twice"));
        assertThat(second.state()).isEqualTo(RedriveState.DONE);
        assertThat(second.createdAt()).isEqualTo(first.createdAt());
        assertThat(second.request().reason()).isEqualTo("the customer is there now");
        assertThat(yard.redrives.step(id).letters()).isZero();
        assertThat(yard.count("delivery", "true")).isEqualTo(3);
        assertThat(yard.count("audit", "action = 'deadletter redrive'")).isOne();
    }

    @Test
    void whatIsBuriedAfterThePlanIsNotMeant() {
        bury(3);
        RedrivePlan plan = yard.letters.plan(DeadLetterFilter.ofOwner("billing"));
        yard.publishMany("late", 2);
        yard.bury("billing", "o.aggregate_id like 'late%'");
        Redrive asked = yard.redrives.request(yard.redriveOf("billing").build(), plan);
        assertThat(asked.total()).isEqualTo(3);
        assertThat(yard.stepToEnd(id(asked)).done()).isEqualTo(3);
        assertThat(yard.count("dead_letter", "resolution is null and aggregate_id like 'late%'"))
                .isEqualTo(2);
        // What was resolved meanwhile is not counted either.
        plan = yard.letters.plan(DeadLetterFilter.ofOwner("billing"));
        yard.stepToEnd(id(request(
                RedriveRequest.discard(DeadLetterFilter.ofIds(4L)).actor("bert").reason("r"))));
        assertThat(plan.letters()).isEqualTo(2);
        assertThat(yard.redrives
                        .request(yard.redriveOf("billing").build(), plan)
                        .total())
                .isEqualTo(1);
    }

    @Test
    void askingAtOnceFromManyThreadsIsAskingOnce() throws Exception {
        bury(10);
        RedriveRequest request = yard.redriveOf("billing").build();
        all(IntStream.range(0, 8)
                .<Action>mapToObj(n -> () -> yard.redrives.request(request))
                .toList());
        assertThat(yard.count("redrive", "true")).isOne();
        assertThat(yard.count("audit", "true")).isOne();
    }

    @Test
    void askingForSomethingElseWithTheSameIdIsAnErrorThatNamesBoth() {
        bury(3);
        UUID id = UUID.randomUUID();
        request(yard.redriveOf("billing").id(id));
        for (RedriveRequest.Builder other : List.of(
                yard.discardOf("billing").id(id),
                yard.redriveOf("shipping").id(id),
                yard.redriveOf("billing").id(id).rate(5.0),
                yard.redriveOf("billing").id(id).canary(5),
                yard.redriveOf("billing").id(id).patch(JsonPatch.parse("[{\"op\":\"remove\",\"path\":\"/n\"}]")))) {
            assertThatThrownBy(() -> request(other))
                    .hasMessageContaining("could not request redrive " + id)
                    .hasMessageContaining("requested before as "
                            + yard.redriveOf("billing").build().describe() + ", and now as "
                            + other.build().describe())
                    .extracting("code")
                    .isEqualTo("redrive.other");
        }
        assertThat(yard.count("audit", "true")).isOne();
    }

    static Stream<Arguments> badRequests() {
        DeadLetterFilter billing = DeadLetterFilter.ofOwner("billing");
        JsonPatch patch = JsonPatch.parse("[{\"op\":\"remove\",\"path\":\"/n\"}]");
        return Stream.of(
                Arguments.of(RedriveRequest.redrive(billing).actor("a"), "reason is empty, the range is 1 to 1000"),
                Arguments.of(RedriveRequest.redrive(billing).reason("r"), "actor is empty, the range is 1 to 200"),
                Arguments.of(
                        RedriveRequest.redrive(DeadLetterFilter.ALL),
                        "the filter is empty and would mean every dead letter"),
                Arguments.of(
                        RedriveRequest.redrive(billing).rate(0.0),
                        "rate is 0.0 a second, the range is 0.001 to 100000"),
                Arguments.of(RedriveRequest.redrive(billing).rate(Double.NaN), "rate is NaN"),
                Arguments.of(RedriveRequest.redrive(billing).canary(0), "canary is 0, the range is 1 to 10000"),
                Arguments.of(
                        RedriveRequest.discard(billing).canary(1), "a discard delivers nothing; leave out the canary"),
                Arguments.of(RedriveRequest.discard(billing).patch(patch), "leave out the patch"));
    }

    @ParameterizedTest
    @MethodSource("badRequests")
    void refusesWhatCannotBeMeant(RedriveRequest.Builder request, String problem) {
        assertThatThrownBy(request::build).hasMessageContaining(problem);
    }

    @Test
    void knowsNoRedriveThatNobodyAskedFor() {
        UUID id = UUID.randomUUID();
        assertThatThrownBy(() -> yard.redrives.step(id)).hasMessageContaining("could not find redrive " + id);
        assertThatThrownBy(() -> yard.redrives.get(id)).extracting("code").isEqualTo("redrive.unknown");
        assertThatThrownBy(() -> yard.redrives.cancel(id, "a", "b"))
                .extracting("code")
                .isEqualTo("redrive.unknown");
    }

    // Patch

    @Test
    void sendsThePatchedPayloadAndKeepsTheOriginal() {
        bury(3);
        JsonPatch patch = JsonPatch.parse("[{\"op\":\"add\",\"path\":\"/fixed\",\"value\":{\"b\":1.50,\"a\":2}}]");
        yard.stepToEnd(id(request(yard.redriveOf("billing").patch(patch))));
        DeadLetter letter = yard.letters.get(2).orElseThrow();
        assertThat(letter.message().payload()).isEqualTo("{\"n\" : 2}");
        assertThat(letter.resolution()).isNotNull();
        assertThat(letter.resolution().patched()).isEqualTo("{\"n\":2,\"fixed\":{\"b\":1.50,\"a\":2}}");
        assertThat(yard.one("select bytes from postroom.delivery where position = 2"))
                .isEqualTo(letter.resolution().patched().length());
    }

    @Test
    void leavesWhereItIsWhatThePatchDoesNotFit() {
        bury(5);
        JsonPatch patch =
                JsonPatch.parse("[{\"op\":\"test\",\"path\":\"/n\",\"value\":2},{\"op\":\"remove\",\"path\":\"/n\"}]");
        Redrive done = yard.stepToEnd(id(request(yard.redriveOf("billing").patch(patch))));
        assertThat(done.done()).isOne();
        assertThat(done.skips()).containsOnly(Map.entry("the patch does not apply; a dry run of it shows why", 4L));
        assertThat(yard.count("dead_letter", "resolution is null")).isEqualTo(4);
    }

    @Test
    void readsNoMorePayloadsThanFitIntoMemory() {
        yard.database.execute("""
                insert into postroom.outbox (id, aggregate_type, aggregate_id, event_type, payload)
                select gen_random_uuid(), 'order', 'big-' || n, 'Big', json_build_object('text', repeat('x', 1000000))
                from generate_series(1, 40) as n""");
        yard.database.postroom().journal().stampAll();
        yard.bury("billing", "true");
        UUID id = id(request(yard.redriveOf("billing")
                .patch(JsonPatch.parse("[{\"op\":\"replace\",\"path\":\"/text\",\"value\":\"short\"}]"))));
        assertThat(yard.redrives.step(id).letters()).isEqualTo(17);
        assertThat(yard.stepToEnd(id).done()).isEqualTo(40);
        assertThat(yard.count("dead_letter", "patched::text = '{\"text\":\"short\"}'"))
                .isEqualTo(40);
    }

    // Rate

    @Test
    void keepsToItsRateByTheClockOfTheDatabase() {
        bury(300);
        UUID id = id(request(yard.redriveOf("billing").rate(50.0)));
        assertThat(yard.redrives.step(id).letters())
                .as("one second's worth at first")
                .isEqualTo(50);
        RedriveStep step = yard.redrives.step(id);
        assertThat(step.letters()).as("and then as time goes by").isLessThan(50);
        assertThat(step.pause()).isPositive();
        long before = yard.redrives.get(id).done();
        yard.database.execute("update postroom.redrive set paced_to = clock_timestamp() - interval '200 milliseconds'");
        long after = yard.redrives.step(id).redrive().done();
        assertThat(after - before).isBetween(10L, 49L);
    }

    @Test
    void doesNotMakeUpForTheTimeInWhichNobodyWasAtIt() {
        bury(300);
        UUID id = id(request(yard.redriveOf("billing").rate(20.0)));
        yard.redrives.step(id);
        yard.database.execute("update postroom.redrive set paced_to = clock_timestamp() - interval '1 hour'");
        assertThat(yard.redrives.step(id).letters()).isEqualTo(20);
        assertThat(yard.redrives.step(id).letters()).isLessThan(20);
    }

    @Test
    void aRateBelowOneASecondMovesOneAtATime() {
        bury(3);
        UUID id = id(request(yard.redriveOf("billing").rate(0.01)));
        assertThat(yard.redrives.step(id).letters()).isOne();
        assertThat(yard.redrives.step(id).letters()).isZero();
        yard.database.execute("update postroom.redrive set paced_to = paced_to - interval '100 seconds'");
        assertThat(yard.redrives.step(id).letters()).isOne();
    }

    // Canary

    @Test
    void waitsForTheCanaryAndGoesOnWhenAllOfItWasDelivered() {
        bury(30);
        UUID id = id(request(yard.redriveOf("billing").canary(5)));
        assertThat(yard.redrives.step(id).redrive().state()).isEqualTo(RedriveState.CANARY);
        assertThat(yard.count("delivery", "true")).isEqualTo(5);
        assertThat(yard.redrives.step(id).redrive().state()).isEqualTo(RedriveState.CANARY);
        assertThat(yard.redrives.step(id).pause()).isPositive();
        yard.database.execute("delete from postroom.delivery where position < 5");
        assertThat(yard.redrives.step(id).redrive().state()).isEqualTo(RedriveState.CANARY);
        yard.accept("billing");
        assertThat(yard.redrives.step(id).redrive().state()).isEqualTo(RedriveState.RUNNING);
        Redrive done = yard.stepToEnd(id);
        assertThat(done.state()).isEqualTo(RedriveState.DONE);
        assertThat(done.done()).isEqualTo(30);
    }

    @Test
    void stopsWhenOneOfTheCanaryFailsAgain() {
        bury(30);
        UUID id = id(request(yard.redriveOf("billing").canary(5)));
        yard.redrives.step(id);
        yard.accept("billing");
        yard.bury("billing", "j.position in (2, 4)", "http.500", "still broken", "cafe");
        yard.database.execute("update postroom.dead_letter set origin = position where error_class = 'http.500'");
        Redrive stopped = yard.redrives.step(id).redrive();
        assertThat(stopped.state()).isEqualTo(RedriveState.STOPPED);
        assertThat(stopped.note())
                .isEqualTo("2 of the first 5 failed again, first dead letter 31: http.500: still broken");
        assertThat(stopped.done()).isEqualTo(5);
        assertThat(yard.redrives.step(id).letters()).isZero();
        assertThat(yard.count("dead_letter", "resolution is null")).isEqualTo(27);
        assertThat(yard.count("audit", "action = 'deadletter end' and details ->> 'state' = 'stopped'"))
                .isOne();
    }

    @Test
    void aCanaryThatHoldsItsKeyAgainStopsTheRest() {
        yard.subscribeHolding("holding", 1);
        yard.publishMany("h", 10);
        yard.bury("holding", "true");
        yard.hold("holding");
        UUID id = id(request(yard.redriveOf("holding").canary(2)));
        yard.redrives.step(id);
        yard.bury("holding", "j.position = 1", "http.500", "still broken", "cafe");
        yard.database.execute(
                "update postroom.delivery set state = 'held', due_at = null, dead_letter = 11 where position = 1");
        assertThat(yard.redrives.step(id).redrive().state()).isEqualTo(RedriveState.STOPPED);
    }

    @Test
    void aCanaryGreaterThanTheRestIsAllThereIs() {
        bury(3);
        assertThat(yard.stepToEnd(id(request(yard.redriveOf("billing").canary(5))))
                        .state())
                .isEqualTo(RedriveState.DONE);
    }

    // Cancel

    @Test
    void isCancelledBetweenTwoSteps() {
        bury(1_200);
        UUID id = id(request(yard.redriveOf("billing")));
        yard.redrives.step(id);
        Redrive cancelled = yard.redrives.cancel(id, "bert", "wrong filter");
        assertThat(cancelled.state()).isEqualTo(RedriveState.CANCELLED);
        assertThat(cancelled.note()).isEqualTo("cancelled by bert: wrong filter");
        RedriveStep after = yard.redrives.step(id);
        assertThat(after.letters()).isZero();
        assertThat(after.redrive().done()).isEqualTo(500);
        assertThat(yard.count("dead_letter", "resolution is null")).isEqualTo(700);
        assertThat(yard.redrives.cancel(id, "carl", "once more").note()).isEqualTo("cancelled by bert: wrong filter");
        assertThatThrownBy(() -> yard.redrives.cancel(id, "", "x")).hasMessageContaining("actor is empty");
    }

    @Test
    void cannotBeCancelledWhenItIsDone() {
        bury(3);
        UUID id = id(request(yard.redriveOf("billing")));
        yard.stepToEnd(id);
        assertThatThrownBy(() -> yard.redrives.cancel(id, "bert", "too late"))
                .hasMessageContaining("it is done already, with 3 of 3 dead letters done")
                .extracting("code")
                .isEqualTo("redrive.ended");
    }

    @Test
    void isCancelledWhileOthersStepWithoutPause() throws Exception {
        bury(20_000);
        UUID id = id(request(yard.redriveOf("billing")));
        CountDownLatch began = new CountDownLatch(1);
        List<Action> actions = new ArrayList<>();
        for (int n = 0; n < 2; n++) {
            actions.add(() -> yard.redrives.run(id, redrive -> {
                if (redrive.done() > 0) {
                    began.countDown();
                }
            }));
        }
        actions.add(() -> {
            assertThat(began.await(DEADLINE.toSeconds(), TimeUnit.SECONDS)).isTrue();
            long sinceNanos = System.nanoTime();
            yard.redrives.cancel(id, "bert", "stop");
            assertThat(Duration.ofNanos(System.nanoTime() - sinceNanos)).isLessThan(Duration.ofSeconds(5));
        });
        all(actions);
        Redrive cancelled = yard.redrives.get(id);
        assertThat(cancelled.state()).isEqualTo(RedriveState.CANCELLED);
        assertThat(cancelled.done()).isLessThan(20_000);
        assertThat(yard.count("dead_letter", "resolution = 'redriven'")).isEqualTo(cancelled.done());
    }

    // Audit

    @Test
    void everyActIsAuditedWhenItIsAskedForAndWhenItEnds() {
        bury(3);
        UUID id = id(request(yard.redriveOf("billing").rate(100.0).canary(2)));
        yard.redrives.step(id);
        yard.accept("billing");
        yard.stepToEnd(id);
        yard.stepToEnd(id);
        List<AuditEntry> entries =
                yard.database.postroom().audit().list(AuditFilter.ofSubject("redrive " + id), null, 10);
        assertThat(entries).extracting(AuditEntry::action).containsExactly("deadletter end", "deadletter redrive");
        assertThat(entries).extracting(AuditEntry::actor).containsOnly("anna");
        assertThat(entries).extracting(AuditEntry::reason).containsOnly("the customer is there now");
        assertThat(entries.get(1).details())
                .contains("\"owner\": \"billing\"", "\"letters\": 3", "\"rate\": 100.0", "\"canary\": 2");
        assertThat(entries.get(0).details()).contains("\"done\": 3", "\"skipped\": 0", "\"state\": \"done\"");
    }

    @Test
    void asManyAsCanBeNamedAreAuditedByTheirNumberAndTheFirst() {
        DeadLetterFilter named = DeadLetterFilter.builder()
                .ids(LongStream.range(0, DeadLetterFilter.IDS_MAX)
                        .map(n -> 100_000_000_000L + n)
                        .boxed()
                        .toList())
                .build();
        UUID id = id(request(RedriveRequest.discard(named).actor("anna").reason("r")));
        String details = yard.database
                .postroom()
                .audit()
                .list(AuditFilter.ofSubject("redrive " + id), null, 1)
                .get(0)
                .details();
        assertThat(details)
                .contains("\"idsCount\": 10000", "100000000000", "100000000099")
                .doesNotContain("100000000100");
        assertThat(yard.redrives.get(id).request().filter()).isEqualTo(named);
    }

    @Test
    void aCancelIsAuditedOnce() {
        bury(3);
        UUID id = id(request(yard.discardOf("billing")));
        yard.redrives.cancel(id, "carl", "no");
        yard.redrives.cancel(id, "dora", "no, too");
        yard.redrives.step(id);
        assertThat(yard.database.postroom().audit().list(AuditFilter.ofSubject("redrive " + id), null, 10))
                .extracting(entry -> entry.actor() + " " + entry.action())
                .containsExactly("carl deadletter cancel", "bert deadletter discard");
    }

    // Carrying on

    @Test
    void runsToItsEndAndTellsHowFarItIs() throws InterruptedException {
        bury(1_200);
        List<Long> progress = new ArrayList<>();
        Redrive done = yard.redrives.run(id(request(yard.redriveOf("billing"))), now -> progress.add(now.done()));
        assertThat(done.state()).isEqualTo(RedriveState.DONE);
        assertThat(progress).containsExactly(500L, 1000L, 1200L);
    }

    @Test
    void anInterruptLeavesItToBeCarriedOn() throws Exception {
        bury(30);
        UUID id = id(request(yard.redriveOf("billing").rate(10.0)));
        CountDownLatch began = new CountDownLatch(1);
        CompletableFuture<Throwable> ended = new CompletableFuture<>();
        Thread runner = new Thread(() -> {
            try {
                yard.redrives.run(id, now -> began.countDown());
                ended.complete(new AssertionError("it was not interrupted"));
            } catch (Throwable e) {
                ended.complete(e);
            }
        });
        runner.start();
        assertThat(began.await(DEADLINE.toSeconds(), TimeUnit.SECONDS)).isTrue();
        runner.interrupt();
        assertThat(ended.get(DEADLINE.toSeconds(), TimeUnit.SECONDS)).isInstanceOf(InterruptedException.class);
        assertThat(yard.redrives.get(id).state()).isEqualTo(RedriveState.RUNNING);
        yard.database.execute("update postroom.redrive set rate = null");
        assertThat(yard.redrives.run(id, now -> {}).done()).isEqualTo(30);
    }

    @Test
    void whatOthersLeftUnfinishedIsCarriedOn() {
        bury(2_000);
        UUID first = id(request(RedriveRequest.redrive(DeadLetterFilter.builder()
                        .owner("billing")
                        .buriedTo(Instant.parse("2999-01-01T00:00:00Z"))
                        .ids(List.of(1L, 2L))
                        .build())
                .actor("a")
                .reason("b")));
        UUID second = id(request(yard.redriveOf("billing")));
        assertThat(yard.redrives.stepAll()).isEqualTo(2_000);
        assertThat(yard.redrives.get(first).done()).isEqualTo(2);
        assertThat(yard.redrives.get(second).done()).isEqualTo(1_998);
        assertThat(yard.redrives.stepAll()).isZero();
        assertThat(yard.redrives.list(10)).extracting(RedriveTest::id).containsExactly(second, first);
    }

    @Test
    void oneOfANewerVersionDoesNotStopTheOthers() {
        bury(3);
        UUID newer = id(request(yard.discardOf("billing")));
        yard.database.execute("update postroom.redrive set filter = '{\"owner\": \"billing\", \"region\": \"eu\"}'");
        UUID ours = id(request(yard.redriveOf("billing")));
        assertThat(yard.redrives.stepAll()).isEqualTo(3);
        assertThat(yard.redrives.get(ours).state()).isEqualTo(RedriveState.DONE);
        assertThat(yard.count("redrive", "id = '" + newer + "' and state = 'running'"))
                .isOne();
    }

    // Many at once

    /** Something that a thread does. */
    @FunctionalInterface
    interface Action {
        void run() throws Exception;
    }

    /** Runs all of them at the same moment and waits for all. */
    static void all(List<Action> actions) throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        List<CompletableFuture<Void>> ends = new ArrayList<>();
        for (Action action : actions) {
            CompletableFuture<Void> end = new CompletableFuture<>();
            ends.add(end);
            new Thread(() -> {
                        try {
                            go.await();
                            action.run();
                            end.complete(null);
                        } catch (Throwable e) {
                            end.completeExceptionally(e);
                        }
                    })
                    .start();
        }
        go.countDown();
        for (CompletableFuture<Void> end : ends) {
            end.get(2 * DEADLINE.toSeconds(), TimeUnit.SECONDS);
        }
    }

    /** Each dead letter has one end, and is on its way exactly if it was redriven. */
    private void assertConserved() {
        assertThat(yard.one("""
                select count(*) from postroom.dead_letter as d
                full join postroom.delivery as v on v.dead_letter = d.id
                where (coalesce(d.resolution, '') = 'redriven') <> (v.dead_letter is not null)""")).isZero();
        assertThat(yard.one("select count(*) - count(distinct dead_letter) from postroom.delivery"))
                .isZero();
        assertThat(yard.one("""
                select count(*) from postroom.redrive as r
                where r.done <> (select count(*) from postroom.dead_letter as d where d.redrive = r.id)""")).isZero();
    }

    @Test
    void fourWhoStepAtOnceRedriveEachDeadLetterOnce() throws Exception {
        bury(2_000);
        UUID id = id(request(yard.redriveOf("billing")));
        all(IntStream.range(0, 4)
                .<Action>mapToObj(n -> () -> yard.redrives.run(id, now -> {}))
                .toList());
        Redrive done = yard.redrives.get(id);
        assertThat(done.done()).isEqualTo(2_000);
        assertThat(done.skipped()).isZero();
        assertConserved();
        assertThat(yard.count("audit", "action = 'deadletter end'")).isOne();
    }

    @Test
    void redrivesDiscardsAndCancelsAtOnceEndEachDeadLetterInOneWay() throws Exception {
        bury(3_000);
        List<UUID> ids = new ArrayList<>();
        List<Action> actions = new ArrayList<>();
        for (int n = 0; n < 6; n++) {
            UUID id = id(request(n % 2 == 0 ? yard.redriveOf("billing") : yard.discardOf("billing")));
            ids.add(id);
            actions.add(() -> yard.redrives.run(id, now -> {}));
        }
        CountDownLatch moved = new CountDownLatch(1);
        actions.add(() -> yard.redrives.run(ids.get(0), now -> moved.countDown()));
        actions.add(() -> {
            moved.await();
            yard.database.execute("select 1");
            try {
                yard.redrives.cancel(ids.get(1), "dora", "enough");
            } catch (PostroomException e) {
                assertThat(e.code()).isEqualTo("redrive.ended");
            }
        });
        all(actions);
        assertConserved();
        assertThat(yard.count("dead_letter", "resolution is null")).isZero();
        assertThat(yard.count("redrive", "ended_at is null")).isZero();
        assertThat(yard.one("select sum(done) from postroom.redrive")).isEqualTo(3_000);
    }

    @Test
    void aRelayThatRecordsAndARedriveWaitForEachOther() throws Exception {
        bury(10);
        UUID id = id(request(yard.redriveOf("billing")));
        CompletableFuture<RedriveStep> step;
        try (Connection relay = yard.database.begin();
                Statement statement = relay.createStatement()) {
            statement.execute("select 1 from postroom.lane where subscription = 'billing' and lane = 1 for update");
            step = CompletableFuture.supplyAsync(() -> yard.redrives.step(id));
            awaitWaiting(1);
            assertThat(yard.count("dead_letter", "resolution is not null")).isZero();
            relay.commit();
        }
        assertThat(step.get(DEADLINE.toSeconds(), TimeUnit.SECONDS).redrive().done())
                .isEqualTo(10);
    }

    /** One of them first looks after what goes before the others, in the last lane. */
    @Test
    void twoRedrivesThatNeedTheSameLanesWaitForEachOtherInOneOrder() throws Exception {
        for (int n = 0; n < 30; n++) {
            yard.publish(Messages.sequence("k" + n, 2));
        }
        List<String> first = keysOfLane(0);
        List<String> last = keysOfLane(3);
        String late = "o.aggregate_id = '" + last.get(0) + "' and o.aggregate_version = 1";
        yard.bury("billing", "o.aggregate_id = '" + last.get(0) + "' and o.aggregate_version = 2");
        yard.bury("billing", "o.aggregate_id = '" + first.get(0) + "' and o.aggregate_version = 1");
        yard.bury("billing", late);
        yard.deliver("billing", "sending", late);
        yard.bury("billing", "o.aggregate_id in ('" + first.get(1) + "', '" + last.get(1) + "')");
        UUID ahead = id(request(RedriveRequest.redrive(DeadLetterFilter.ofIds(1L, 2L, 3L))
                .canary(2)
                .actor("anna")
                .reason("r")));
        UUID other = id(request(RedriveRequest.redrive(DeadLetterFilter.ofIds(4L, 5L, 6L, 7L))
                .actor("bert")
                .reason("r")));
        CompletableFuture<RedriveStep> aheadStep;
        CompletableFuture<RedriveStep> otherStep;
        try (Connection relay = yard.database.begin();
                Statement statement = relay.createStatement()) {
            statement.execute("select 1 from postroom.lane where subscription = 'billing' and lane = 0 for update");
            otherStep = CompletableFuture.supplyAsync(() -> yard.redrives.step(other));
            awaitWaiting(1);
            aheadStep = CompletableFuture.supplyAsync(() -> yard.redrives.step(ahead));
            awaitWaiting(2);
            relay.commit();
        }
        assertThat(otherStep.get(DEADLINE.toSeconds(), TimeUnit.SECONDS).letters())
                .isEqualTo(4);
        assertThat(aheadStep.get(DEADLINE.toSeconds(), TimeUnit.SECONDS).letters())
                .isEqualTo(2);
        assertThat(List.of(
                        yard.redrives.get(ahead).done(),
                        yard.redrives.get(other).done()))
                .containsExactly(2L, 4L);
    }

    private static List<String> keysOfLane(int lane) {
        return yard.texts("select distinct o.aggregate_id from postroom.journal as j join postroom.outbox as o"
                + " on o.seq = j.seq and o.day = j.outbox_day where j.key_hash % 4 = " + lane + " order by 1");
    }

    @Test
    void followsALaneChangeThatWasMadeWhileItWaited() throws Exception {
        bury(50);
        yard.database.execute(
                "insert into postroom.lane (subscription, lane, position) select 'billing', n, 0 from generate_series(4, 6) n");
        UUID id = id(request(yard.redriveOf("billing")));
        CompletableFuture<RedriveStep> step;
        try (Connection relay = yard.database.begin();
                Statement recording = relay.createStatement()) {
            recording.execute("select 1 from postroom.lane where subscription = 'billing' and lane = 5 for update");
            try (Connection operator = yard.database.begin();
                    Statement change = operator.createStatement()) {
                change.execute("select 1 from postroom.lane where subscription = 'billing' and lane < 4 for update");
                step = CompletableFuture.supplyAsync(() -> yard.redrives.step(id));
                awaitWaiting(1);
                change.execute("update postroom.subscription set lanes = 7 where name = 'billing'");
                operator.commit();
            }
            // Now for the lane that has become one of them.
            assertThat(yard.count("dead_letter", "resolution is not null")).isZero();
            awaitWaiting(1);
            relay.commit();
        }
        assertThat(step.get(DEADLINE.toSeconds(), TimeUnit.SECONDS).redrive().done())
                .isEqualTo(50);
        assertThat(yard.count("delivery", "lane = key_hash % 7")).isEqualTo(50);
    }

    @Test
    void removingTheSubscriptionMeanwhileHarmsNothing() throws Exception {
        bury(1_000);
        UUID id = id(request(yard.redriveOf("billing")));
        all(List.of(
                () -> yard.redrives.run(id, now -> {}),
                () -> yard.database.execute("delete from postroom.subscription where name = 'billing'")));
        Redrive done = yard.redrives.get(id);
        assertThat(done.done() + done.skipped()).isEqualTo(1_000);
        assertThat(yard.count("delivery", "true")).isZero();
        assertThat(yard.count("dead_letter", "resolution is null")).isEqualTo(done.skipped());
    }

    @Test
    void removingTheSubscriptionWaitsForTheStepThatNeedsIt() throws Exception {
        bury(10);
        UUID id = id(request(yard.redriveOf("billing")));
        CompletableFuture<RedriveStep> step;
        CompletableFuture<Void> removal;
        try (Connection relay = yard.database.begin();
                Statement statement = relay.createStatement()) {
            statement.execute("select 1 from postroom.lane where subscription = 'billing' and lane = 3 for update");
            step = CompletableFuture.supplyAsync(() -> yard.redrives.step(id));
            awaitWaiting(1);
            removal = CompletableFuture.runAsync(() -> yard.database.execute("delete from postroom.subscription"));
            awaitWaiting(2);
            relay.commit();
        }
        assertThat(step.get(DEADLINE.toSeconds(), TimeUnit.SECONDS).redrive().done())
                .isEqualTo(10);
        removal.get(DEADLINE.toSeconds(), TimeUnit.SECONDS);
        assertThat(yard.count("delivery", "true")).isZero();
    }

    /** Waits until so many sessions wait for a lock of another. */
    private void awaitWaiting(int sessions) {
        long deadline = System.nanoTime() + DEADLINE.toNanos();
        while (yard.one(
                        "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()")
                < sessions) {
            assertThat(System.nanoTime()).as("nobody waits").isLessThan(deadline);
            Thread.onSpinWait();
        }
    }

    @Test
    void aMessageThatFailsAgainIsANewDeadLetterAndTheOldOneStays() {
        yard.publish(
                List.of(Message.about("order", "o").event("E").payload("{}").build()));
        yard.bury("billing", "true");
        yard.stepToEnd(id(request(yard.redriveOf("billing"))));
        yard.accept("billing");
        yard.bury("billing", "true");
        yard.stepToEnd(id(request(yard.discardOf("billing"))));
        assertThat(yard.texts("select resolution from postroom.dead_letter order by id"))
                .containsExactly("redriven", "discarded");
    }
}
