package io.postroom.relay;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.deadletter.DeadLetterFilter;
import io.postroom.deadletter.RedriveRequest;
import io.postroom.journal.Journal;
import io.postroom.maintenance.Maintenance;
import io.postroom.message.Envelope;
import io.postroom.message.Message;
import io.postroom.message.Upcasters;
import io.postroom.postgres.Database;
import io.postroom.retry.Reaction;
import io.postroom.retry.RetryPolicy;
import io.postroom.subscription.PutAside;
import io.postroom.telemetry.Telemetry;
import io.postroom.testkit.Messages;
import io.postroom.testkit.RecordingSink;
import io.postroom.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What becomes of messages that do not go through at once. One lane, so that all keys share it. */
class DeliveryTest {
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final RetryPolicy THREE_AT_ONCE =
            RetryPolicy.builder().immediate(3).attemptsMax(3).build();
    private static final RetryPolicy TWO_IN_AN_HOUR = RetryPolicy.builder()
            .linear(Duration.ofHours(1))
            .jitter(0)
            .attemptsMax(2)
            .build();

    private static TestDatabase database;

    private final RecordingSink sink = new RecordingSink();
    private final String name = "delivery-" + UUID.randomUUID();
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
    }

    @Test
    void aMessageOutOfAttemptsIsBuriedWithItsHistoryAndItsKeyGoesOn() throws Exception {
        List<Message> bad = Messages.sequence("bad", 3);
        sink.answer(message -> message.id().equals(bad.get(0).id()), Outcome.retry("no room"));
        publish(bad);
        publish(Messages.ofManyKeys("good", 20));
        runOnce(subscription().retry(THREE_AT_ONCE), sink);
        assertThat(versions("bad")).containsExactly(2L, 3L);
        assertThat(sink.accepted()).hasSize(22);
        assertThat(sink.attempts().stream()
                        .filter(each -> each.message().id().equals(bad.get(0).id()))
                        .map(Envelope::attempt))
                .containsExactly(1, 2, 3);
        assertThat(count("dead_letter where owner = '" + name + "' and cause = 'exhausted' and attempts = 3"
                        + " and message_id = '" + bad.get(0).id() + "' and payload::text = '{\"n\":0}'"
                        + " and error = 'no room' and jsonb_array_length(history) = 3"))
                .isEqualTo(1);
        assertThat(count("delivery where subscription = '" + name + "'")).isZero();
        assertThat(position()).isEqualTo(begin + 23);
    }

    @Test
    void aRejectedMessageIsBuriedAtOnce() throws Exception {
        sink.answer(about("refused"), Outcome.rejected("not a customer"), 1);
        publish(Messages.sequence("refused", 2));
        runOnce(subscription(), sink);
        assertThat(versions("refused")).containsExactly(2L);
        assertThat(sink.attempts()).hasSize(2);
        assertThat(count("dead_letter where owner = '" + name + "' and cause = 'rejected' and attempts = 1"))
                .isEqualTo(1);
    }

    @Test
    void aPolicyOverrulesWhatTheSinkMakesOfAnError() throws Exception {
        RetryPolicy policy = RetryPolicy.builder()
                .immediate(3)
                .attemptsMax(3)
                .on("rejected", Reaction.retry())
                .on("unavailable", Reaction.reject())
                .build();
        sink.answer(about("refused"), Outcome.rejected("not a customer"));
        sink.answer(about("away"), Outcome.unavailable("not for this one"));
        publish(List.of(Messages.order("refused"), Messages.order("away"), Messages.order("good")));
        runOnce(subscription().retry(policy), sink);
        assertThat(sink.accepted()).hasSize(1);
        assertThat(count("dead_letter where owner = '" + name + "' and cause = 'exhausted' and attempts = 3 and"
                        + " error_class = 'rejected'"))
                .isEqualTo(1);
        assertThat(count("dead_letter where owner = '" + name + "' and cause = 'rejected' and attempts = 1 and"
                        + " error_class = 'unavailable'"))
                .isEqualTo(1);
    }

    @Test
    void aHandlerMaySayWhatBecomesOfAMessage() throws Exception {
        publish(Messages.sequence("any", 2));
        List<Long> handled = new ArrayList<>();
        Handler handler = envelope -> {
            if (Long.valueOf(1).equals(envelope.message().aggregateVersion())) {
                throw new OutcomeException(Outcome.rejected("never"));
            }
            handled.add(envelope.message().aggregateVersion());
        };
        runOnce(subscription(), handler.asSink());
        assertThat(handled).containsExactly(2L);
        assertThat(count("dead_letter where owner = '" + name + "' and cause = 'rejected'"))
                .isEqualTo(1);
    }

    @Test
    void aKeyIsHeldAfterABurialIfTheSubscriptionSaysSo() throws Exception {
        sink.answer(about("bad"), Outcome.rejected("never"), 1);
        publish(Messages.sequence("bad", 3));
        publish(Messages.ofManyKeys("good", 5));
        runOnce(subscription().onBurial(OnBurial.HOLD), sink);
        assertThat(sink.accepted()).hasSize(5);
        assertThat(states()).containsExactly("held 1", "parked 2");
        // Another relay holds it too, and what comes later is parked as well.
        publish(Messages.sequence("bad", 1));
        runOnce(subscription().onBurial(OnBurial.HOLD), sink);
        assertThat(sink.accepted()).hasSize(5);
        assertThat(states()).containsExactly("held 1", "parked 3");
        assertThat(position()).isEqualTo(begin + 9);
    }

    @Test
    void aFailingMessageDoesNotHoldUpThePositionAndARestartRepeatsNothing() throws Exception {
        sink.answer(about("bad"), Outcome.retry("not now"));
        publish(Messages.sequence("bad", 3));
        publish(Messages.ofManyKeys("good", 20));
        runOnce(subscription().retry(TWO_IN_AN_HOUR), sink);
        assertThat(position()).isEqualTo(begin + 23);
        assertThat(states()).containsExactly("parked 2", "waiting 1");
        sink.mend();
        runOnce(subscription().retry(TWO_IN_AN_HOUR), sink);
        assertThat(sink.accepted()).as("not due yet").hasSize(20);
        makeDue();
        runOnce(subscription().retry(TWO_IN_AN_HOUR), sink);
        assertThat(versions("bad")).containsExactly(1L, 2L, 3L);
        assertThat(sink.accepted()).hasSize(23);
        assertThat(states()).isEmpty();
    }

    @Test
    void manyParkedMessagesAreReleasedInOrderAndOnce() throws Exception {
        sink.answer(about("long"), Outcome.retry("not now"), 1);
        publish(Messages.sequence("long", 450));
        publish(Messages.ofManyKeys("good", 5));
        runOnce(subscription().retry(TWO_IN_AN_HOUR), sink);
        assertThat(states()).containsExactly("parked 449", "waiting 1");
        publish(LongStream.rangeClosed(451, 460)
                .mapToObj(version -> Message.about("order", "long")
                        .event("OrderChanged")
                        .aggregateVersion(version)
                        .payload("{}")
                        .build())
                .toList());
        makeDue();
        runOnce(subscription().retry(TWO_IN_AN_HOUR), sink);
        assertThat(versions("long"))
                .containsExactlyElementsOf(
                        LongStream.rangeClosed(1, 460).boxed().toList());
        assertThat(states()).isEmpty();
    }

    @Test
    void aMessageThatFailsInTheMiddleOfReleasedOnesParksThoseBehindIt() throws Exception {
        sink.answer(about("long"), Outcome.retry("not now"), 1);
        publish(Messages.sequence("long", 250));
        runOnce(subscription().retry(TWO_IN_AN_HOUR), sink);
        sink.answer(message -> Long.valueOf(120).equals(message.aggregateVersion()), Outcome.retry("nor this"), 1);
        makeDue();
        runOnce(subscription().retry(TWO_IN_AN_HOUR), sink);
        assertThat(versions("long"))
                .containsExactlyElementsOf(
                        LongStream.rangeClosed(1, 119).boxed().toList());
        assertThat(states()).containsExactly("parked 130", "waiting 1");
        assertThat(count("delivery where subscription = '" + name + "' and attempts > 0"))
                .as("those behind were not tried")
                .isEqualTo(1);
        makeDue();
        runOnce(subscription().retry(TWO_IN_AN_HOUR), sink);
        assertThat(versions("long"))
                .containsExactlyElementsOf(
                        LongStream.rangeClosed(1, 250).boxed().toList());
    }

    @Test
    void withoutOrderNothingIsParked() throws Exception {
        sink.answer(about("any"), Outcome.retry("not now"), 1);
        publish(Messages.sequence("any", 5));
        runOnce(subscription().order(Order.NONE).retry(TWO_IN_AN_HOUR), sink);
        assertThat(versions("any")).containsExactly(2L, 3L, 4L, 5L);
        assertThat(states()).containsExactly("waiting 1");
    }

    @Test
    void aScheduledMessageWaitsAmongTheDeliveriesAndARestartRepeatsNothing() throws Exception {
        publish(List.of(Message.about("order", "any")
                .event("Reminder")
                .aggregateVersion(9)
                .payload("{}")
                .availableAt(Instant.now().plus(Duration.ofDays(3)))
                .build()));
        publish(Messages.sequence("any", 2));
        runOnce(subscription(), sink);
        assertThat(states()).containsExactly("scheduled 1");
        assertThat(position()).isEqualTo(begin + 3);
        runOnce(subscription(), sink);
        assertThat(versions("any")).containsExactly(1L, 2L);
        makeDue();
        runOnce(subscription(), sink);
        assertThat(versions("any")).containsExactly(1L, 2L, 9L);
        assertThat(sink.attempts()).allMatch(each -> each.attempt() == 1);
        assertThat(states()).isEmpty();
    }

    @Test
    void aScheduledMessageThatFallsDueBehindAFailingOneOfItsKeyWaitsItsTurn() throws Exception {
        sink.answer(about("any"), Outcome.retry("not now"), 1);
        publish(Messages.sequence("any", 1));
        publish(List.of(Message.about("order", "any")
                .event("Reminder")
                .aggregateVersion(9)
                .payload("{}")
                .availableAt(Instant.now().plus(Duration.ofDays(3)))
                .build()));
        runOnce(subscription().retry(TWO_IN_AN_HOUR), sink);
        database.execute(
                "update postroom.delivery set due_at = '2026-01-02' where state = 'scheduled' and subscription = '"
                        + name + "'");
        runOnce(subscription().retry(TWO_IN_AN_HOUR), sink);
        assertThat(states()).containsExactly("parked 1", "waiting 1");
        assertThat(count("delivery where state = 'parked' and created_at = '2026-01-02' and subscription = '" + name
                        + "'"))
                .as("it waits since it was due, not since it was read")
                .isEqualTo(1);
        makeDue();
        runOnce(subscription().retry(TWO_IN_AN_HOUR), sink);
        assertThat(versions("any")).containsExactly(1L, 9L);
    }

    @Test
    void anOutageBurnsNoAttemptsAndLeavesNoTrace() throws Exception {
        sink.answer(about("late"), Outcome.retry("not now"), 1);
        publish(List.of(Messages.order("late")));
        runOnce(subscription().retry(TWO_IN_AN_HOUR), sink);
        sink.breakDown();
        publish(Messages.ofManyKeys("any", 50));
        makeDue();
        try (Relay relay = database.postroom()
                .relay()
                .probe(Duration.ofMillis(1), Duration.ofMillis(2))
                .deliver(subscription().retry(TWO_IN_AN_HOUR).build(), sink)
                .build()) {
            relay.start();
            sink.awaitAttempts(30, PATIENCE);
            await(() -> count("circuit where subscription = '" + name + "' and failures > 0 and error_class ="
                            + " 'unavailable'")
                    == 1);
            assertThat(count("dead_letter where owner = '" + name + "'")).isZero();
            sink.mend();
            sink.awaitAccepted(51, PATIENCE);
            await(() -> count("circuit where subscription = '" + name + "'") == 0);
        }
        List<Integer> late = sink.attempts().stream()
                .filter(each -> each.message().aggregateId().equals("late"))
                .map(Envelope::attempt)
                .toList();
        assertThat(late.get(0)).isEqualTo(1);
        assertThat(late.subList(1, late.size()))
                .as("however often it was sent meanwhile")
                .isNotEmpty()
                .containsOnly(2);
        assertThat(sink.attempts().stream()
                        .filter(each -> !each.message().aggregateId().equals("late")))
                .hasSizeGreaterThanOrEqualTo(50)
                .allMatch(each -> each.attempt() == 1);
        assertThat(states()).isEmpty();
    }

    @Test
    void aMessageThatIsGivenNoAnswerIsBuriedWhileOthersGoOn() throws Exception {
        sink.hang(about("stuck"));
        publish(Messages.sequence("stuck", 2));
        AtomicInteger more = new AtomicInteger();
        try (Relay relay = database.postroom()
                .relay()
                .lease(Duration.ofMillis(600))
                .probe(Duration.ofMillis(5), Duration.ofMillis(20))
                .deliver(
                        subscription()
                                .retry(THREE_AT_ONCE)
                                .deadline(Duration.ofMillis(60))
                                .build(),
                        sink)
                .build()) {
            relay.start();
            await(() -> {
                publish(List.of(Messages.order("good-" + more.incrementAndGet())));
                return count("dead_letter where owner = '" + name + "' and cause = 'exhausted' and error_class ="
                                + " 'timeout' and error = 'no answer within 0.06 s'")
                        == 2;
            });
            await(() -> sink.accepted().size() == more.get());
        }
    }

    @Test
    void aDestinationThatAnswersNobodyIsAnOutageAndNobodyIsBuried() throws Exception {
        sink.hang(message -> true);
        publish(Messages.ofManyKeys("any", 30));
        try (Relay relay = database.postroom()
                .relay()
                .lease(Duration.ofMillis(600))
                .probe(Duration.ofMillis(5), Duration.ofMillis(20))
                .deliver(
                        subscription()
                                .retry(THREE_AT_ONCE)
                                .deadline(Duration.ofMillis(30))
                                .build(),
                        sink)
                .build()) {
            relay.start();
            sink.awaitAttempts(120, PATIENCE);
            assertThat(count("dead_letter where owner = '" + name + "'")).isZero();
            assertThat(count("delivery where attempts > 0 and state <> 'sending' and subscription = '" + name + "'"))
                    .isZero();
            sink.mend();
            await(() -> sink.accepted().stream().map(Message::id).distinct().count() == 30);
        }
        assertThat(count("dead_letter where owner = '" + name + "'")).isZero();
    }

    @Test
    void aHandlerThatHangsIsLeftAloneAndTheLaneGoesOn() throws Exception {
        CountDownLatch never = new CountDownLatch(1);
        List<String> handled = new CopyOnWriteArrayList<>();
        AtomicInteger hanging = new AtomicInteger();
        Handler handler = envelope -> {
            if (envelope.message().aggregateId().equals("stuck")) {
                hanging.incrementAndGet();
                awaitDeaf(never);
            }
            handled.add(envelope.message().aggregateId());
        };
        publish(Messages.sequence("stuck", 1));
        publish(Messages.ofManyKeys("good", 10));
        try (Relay relay = database.postroom()
                .relay()
                .lease(Duration.ofMillis(600))
                .probe(Duration.ofMillis(5), Duration.ofMillis(20))
                .handle(
                        subscription()
                                .retry(THREE_AT_ONCE)
                                .deadline(Duration.ofMillis(100))
                                .build(),
                        handler)
                .build()) {
            relay.start();
            await(() -> handled.size() == 10);
            await(() -> count("dead_letter where owner = '" + name + "' and error_class = 'timeout'") == 1);
            publish(Messages.ofManyKeys("more", 5));
            await(() -> handled.size() == 15);
            never.countDown();
        }
        assertThat(handled.stream().filter("stuck"::equals))
                .as("what comes back too late may still have an effect, once for each attempt")
                .hasSize(hanging.get());
        assertThat(handled.stream().filter(id -> !id.equals("stuck"))).hasSize(15);
    }

    /** A handler that never returns stands for a process that ends: its relay is left alone, and its lease runs out. */
    @Test
    void aMessageThatEndsTheProcessIsBuriedAndItsNeighboursAreDelivered() throws Exception {
        publish(Messages.sequence("before", 3));
        publish(Messages.sequence("deadly", 2));
        publish(Messages.ofManyKeys("after", 5));
        RetryPolicy four = RetryPolicy.builder().immediate(4).attemptsMax(4).build();
        List<Integer> deadly = new CopyOnWriteArrayList<>();
        List<Message> handled = new CopyOnWriteArrayList<>();
        CountDownLatch end = new CountDownLatch(1);
        int deaths = 0;
        while (count("dead_letter where owner = '" + name + "'") == 0) {
            assertThat(deaths++).isLessThan(10);
            CountDownLatch died = new CountDownLatch(1);
            Handler handler = envelope -> {
                if (envelope.message().aggregateId().equals("deadly")
                        && Long.valueOf(1).equals(envelope.message().aggregateVersion())) {
                    deadly.add(envelope.attempt());
                    died.countDown();
                    awaitDeaf(end);
                    throw new IllegalStateException("too late");
                }
                handled.add(envelope.message());
            };
            Relay relay = database.postroom()
                    .relay()
                    .handle(subscription().retry(four).build(), handler)
                    .build();
            Thread process = new Thread(relay::runOnce, "a process");
            process.setDaemon(true);
            process.start();
            await(() -> died.getCount() == 0 || !process.isAlive());
            database.execute(
                    "update postroom.relay set leased_until = now() - interval '1 second'",
                    "update postroom.lane set leased_until = now() - interval '1 second' where owner is not null");
        }
        assertThat(deadly).as("attempts are counted before they are made").containsExactly(1, 2, 3, 4);
        runOnce(subscription().retry(four), envelope -> {
            handled.add(envelope.message());
            return Outcome.acceptedStage();
        });
        assertThat(count("dead_letter where owner = '" + name + "' and cause = 'crashed' and attempts = 4"
                        + " and error_class = 'crash' and jsonb_array_length(history) = 3"))
                .isEqualTo(1);
        assertThat(handled.stream().map(Message::id).distinct()).hasSize(9);
        assertThat(handled.stream().filter(about("deadly")).map(Message::aggregateVersion))
                .containsExactly(2L);
        assertThat(states()).isEmpty();
        end.countDown();
    }

    @Test
    void maintenanceGoesOnWithARedriveThatSomebodyAskedFor() throws Exception {
        sink.answer(about("bad"), Outcome.rejected("not yet a customer"), 1);
        List<Message> bad = Messages.sequence("bad", 1);
        publish(bad);
        runOnce(subscription(), sink);
        assertThat(sink.accepted()).isEmpty();
        database.postroom()
                .deadLetters()
                .redrives()
                .request(RedriveRequest.redrive(DeadLetterFilter.ofOwner(name))
                        .actor("anna")
                        .reason("is a customer now")
                        .build());
        try (Maintenance maintenance = database.postroom().maintenance()) {
            maintenance.start();
            await(() -> count("dead_letter where resolution = 'redriven' and owner = '" + name + "'") == 1);
        }
        runOnce(subscription(), sink);
        assertThat(sink.accepted())
                .extracting(Message::id)
                .containsExactly(bad.get(0).id());
        assertThat(states()).isEmpty();
    }

    @Test
    void aVersionThatIsTooNewWaitsForARelayThatKnowsItAndItsKeyWithIt() throws Exception {
        publish(List.of(version(1, 1), version(2, 2), version(3, 1)));
        publish(Messages.ofManyKeys("good", 3));
        runOnce(Upcasters.builder().newest("Changed", 1).build());
        assertThat(versions("any")).containsExactly(1L);
        assertThat(sink.accepted()).hasSize(4);
        assertThat(states()).containsExactly("parked 1", "unreadable 1");
        PutAside putAside =
                database.postroom().subscriptions().find(name).orElseThrow().putAside();
        assertThat(putAside.unreadable()).isEqualTo(1);
        assertThat(putAside.parked()).isEqualTo(1);
        assertThat(putAside.oldest()).isPositive();
        assertThat(count(
                        "delivery where state = 'unreadable' and attempts = 0 and error like 'event version is 2, the newest known"
                                + " here is 1%' and subscription = '" + name + "'"))
                .isEqualTo(1);
        runOnce(Upcasters.builder().newest("Changed", 1).build());
        assertThat(states()).as("the same release cannot read it either").containsExactly("parked 1", "unreadable 1");
        runOnce(Upcasters.builder()
                .add("Changed", 1, payload -> "{\"upcast\":true}")
                .build());
        assertThat(versions("any")).containsExactly(1L, 2L, 3L);
        assertThat(sink.accepted("any").get(2).payload()).isEqualTo("{\"upcast\":true}");
        assertThat(sink.accepted("any").get(2).eventVersion()).isEqualTo(2);
        assertThat(count("dead_letter where owner = '" + name + "'")).isZero();
        assertThat(states()).isEmpty();
    }

    private static Message version(long aggregateVersion, int eventVersion) {
        return Message.about("order", "any")
                .event("Changed")
                .eventVersion(eventVersion)
                .aggregateVersion(aggregateVersion)
                .payload("{}")
                .build();
    }

    private void runOnce(Upcasters upcasters) {
        Database own = database.postroom().database();
        try (Relay relay = new Relay.Builder(own, new Journal(own, upcasters, Telemetry.NONE), Telemetry.NONE)
                .deliver(subscription().build(), sink)
                .build()) {
            relay.runOnce();
        }
    }

    private void runOnce(Subscription.Builder subscription, Sink target) {
        try (Relay relay = database.postroom()
                .relay()
                .deliver(subscription.build(), target)
                .build()) {
            relay.runOnce();
        }
    }

    private Subscription.Builder subscription() {
        return Subscription.named(name).lanes(1).start(Start.after(begin));
    }

    private void publish(List<Message> messages) throws SQLException {
        try (Connection tx = database.begin()) {
            database.postroom().outbox().publishAll(tx, messages);
            tx.commit();
        }
    }

    private void makeDue() {
        database.execute("update postroom.delivery set due_at = now() where due_at is not null and subscription = '"
                + name + "'");
    }

    private List<String> states() throws SQLException {
        List<String> states = new ArrayList<>();
        try (Connection tx = database.begin();
                var rows = tx.createStatement()
                        .executeQuery("select state || ' ' || count(*) from postroom.delivery where subscription = '"
                                + name + "' group by state order by state")) {
            while (rows.next()) {
                states.add(rows.getString(1));
            }
        }
        return states;
    }

    private static long count(String from) {
        return database.queryLong("select count(*) from postroom." + from);
    }

    private long position() {
        return database.queryLong("select position from postroom.lane where subscription = '" + name + "'");
    }

    private List<Long> versions(String key) {
        return sink.accepted(key).stream().map(Message::aggregateVersion).toList();
    }

    private static Predicate<Message> about(String key) {
        return message -> message.aggregateId().equals(key);
    }

    /** Waits whatever happens, as code does that swallows interrupts. */
    private static void awaitDeaf(CountDownLatch latch) {
        while (latch.getCount() > 0) {
            try {
                latch.await();
            } catch (InterruptedException e) {
                // Deaf.
            }
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
