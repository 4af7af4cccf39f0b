package io.postroom.deadletter;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.message.Message;
import io.postroom.relay.OnBurial;
import io.postroom.relay.Outcome;
import io.postroom.relay.Relay;
import io.postroom.relay.Subscription;
import io.postroom.subscription.Act;
import io.postroom.testkit.Messages;
import io.postroom.testkit.RecordingSink;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** From the burial by a relay to the delivery by a relay. */
class RedrivenDeliveryTest {
    private static final Duration DEADLINE = Duration.ofSeconds(30);

    private static Graveyard yard;
    private final RecordingSink sink = new RecordingSink();

    @BeforeAll
    static void create() {
        yard = new Graveyard();
    }

    @AfterAll
    static void drop() {
        yard.close();
    }

    @BeforeEach
    void clear() {
        yard.clear();
    }

    private Relay relay(OnBurial onBurial) {
        return yard.database
                .postroom()
                .relay()
                .deliver(
                        Subscription.named("billing")
                                .lanes(2)
                                .onBurial(onBurial)
                                .build(),
                        sink)
                .lease(Duration.ofSeconds(1))
                .settleInterval(Duration.ofMillis(10))
                .build();
    }

    private static void publish(List<Message> messages) {
        yard.database
                .postroom()
                .database()
                .transact(tx -> yard.database.postroom().outbox().publishAll(tx, messages));
    }

    private static void awaitCount(String table, String where, long expected) {
        long deadline = System.nanoTime() + DEADLINE.toNanos();
        while (yard.count(table, where) != expected) {
            assertThat(System.nanoTime())
                    .as(table + " where " + where + " is not " + expected)
                    .isLessThan(deadline);
            Thread.onSpinWait();
        }
    }

    private static UUID redrive(RedriveRequest.Builder request) throws InterruptedException {
        UUID id = yard.redrives.request(request.build()).request().id();
        yard.redrives.run(id, now -> {});
        return id;
    }

    @Test
    void aRedrivenMessageIsDeliveredAsItWasOrAsItWasMended() throws Exception {
        sink.answer(message -> true, Outcome.rejected("not a customer"));
        try (Relay relay = relay(OnBurial.CONTINUE)) {
            relay.start();
            List<Message> messages = Messages.sequence("o", 4);
            publish(messages);
            awaitCount("dead_letter", "resolution is null", 4);
            sink.mend();
            redrive(RedriveRequest.redrive(DeadLetterFilter.ofIds(1L, 2L))
                    .actor("a")
                    .reason("r"));
            sink.awaitAccepted(2, DEADLINE);
            redrive(yard.redriveOf("billing")
                    .patch(JsonPatch.parse("[{\"op\":\"add\",\"path\":\"/mended\",\"value\":true}]")));
            sink.awaitAccepted(4, DEADLINE);
            assertThat(sink.accepted())
                    .extracting(Message::payload)
                    .containsExactly(
                            "{\"n\":0}", "{\"n\":1}", "{\"n\":2,\"mended\":true}", "{\"n\":3,\"mended\":true}");
            assertThat(sink.accepted())
                    .extracting(Message::id)
                    .isEqualTo(messages.stream().map(Message::id).toList());
            awaitCount("delivery", "true", 0);
        }
    }

    @Test
    void aHeldKeyGoesOnInItsOrder() throws Exception {
        sink.answer(message -> true, Outcome.rejected("not a customer"));
        try (Relay relay = relay(OnBurial.HOLD)) {
            relay.start();
            publish(Messages.sequence("redriven", 5));
            publish(Messages.sequence("discarded", 5));
            awaitCount("delivery", "state = 'parked'", 8);
            sink.mend();
            redrive(RedriveRequest.redrive(
                            DeadLetterFilter.builder().aggregateId("redriven").build())
                    .actor("a")
                    .reason("r"));
            redrive(RedriveRequest.discard(
                            DeadLetterFilter.builder().aggregateId("discarded").build())
                    .actor("a")
                    .reason("r"));
            sink.awaitAccepted(9, DEADLINE);
            assertThat(sink.accepted("redriven"))
                    .extracting(Message::aggregateVersion)
                    .containsExactly(1L, 2L, 3L, 4L, 5L);
            assertThat(sink.accepted("discarded"))
                    .extracting(Message::aggregateVersion)
                    .containsExactly(2L, 3L, 4L, 5L);
            awaitCount("delivery", "true", 0);
        }
    }

    @Test
    void whatFailsAgainIsANewDeadLetterAndStopsTheCanary() throws Exception {
        sink.answer(message -> true, Outcome.rejected("not a customer"));
        try (Relay relay = relay(OnBurial.CONTINUE)) {
            relay.start();
            publish(Messages.ofManyKeys("o", 10));
            awaitCount("dead_letter", "resolution is null", 10);
            UUID id = redrive(yard.redriveOf("billing").canary(3));
            Redrive stopped = yard.redrives.get(id);
            assertThat(stopped.state()).isEqualTo(RedriveState.STOPPED);
            assertThat(stopped.note()).contains("of the first 3 failed again").contains("not a customer");
            assertThat(yard.count("dead_letter", "origin is not null")).isBetween(1L, 3L);
            sink.mend();
            awaitCount("delivery", "true", 0);
            UUID second = redrive(yard.redriveOf("billing").canary(3));
            assertThat(yard.redrives.get(second).done()).isEqualTo(10);
            sink.awaitAccepted(10, DEADLINE);
        }
    }

    @Test
    void aCanaryThatFailedAgainStopsTheRestWhateverBecameOfItSince() {
        sink.answer(message -> true, Outcome.rejected("not a customer"));
        publish(Messages.ofManyKeys("o", 10));
        deliver();
        assertThat(yard.count("dead_letter", "resolution is null")).isEqualTo(10);
        UUID id = request(yard.redriveOf("billing").canary(2));
        assertThat(yard.redrives.step(id).redrive().state()).isEqualTo(RedriveState.CANARY);
        deliver();
        // Before anybody looks at the canary, one is discarded and the other redriven, and delivered this time.
        yard.stepToEnd(request(
                RedriveRequest.discard(DeadLetterFilter.ofIds(11L)).actor("a").reason("r")));
        yard.stepToEnd(request(
                RedriveRequest.redrive(DeadLetterFilter.ofIds(12L)).actor("a").reason("r")));
        sink.mend();
        deliver();
        assertThat(yard.count("delivery", "true")).isZero();
        Redrive stopped = yard.redrives.step(id).redrive();
        assertThat(stopped.state()).isEqualTo(RedriveState.STOPPED);
        assertThat(stopped.note()).startsWith("2 of the first 2 failed again, first dead letter 11: ");
        assertThat(yard.count("dead_letter", "resolution is null")).isEqualTo(8);
    }

    @Test
    void aCanaryThatFailsWhereAReplayHasBuriedItMeanwhileStopsTheRest() {
        sink.answer(message -> true, Outcome.rejected("not a customer"));
        publish(Messages.ofManyKeys("o", 10));
        deliver();
        UUID id = request(yard.redriveOf("billing").canary(1));
        yard.redrives.step(id);
        yard.bury("billing", "j.position = (select position from postroom.delivery)");
        deliver();
        assertThat(yard.count("dead_letter", "id = 11 and origin = 1 and error like '%not a customer%'"))
                .isOne();
        yard.stepToEnd(request(
                RedriveRequest.discard(DeadLetterFilter.ofIds(11L)).actor("a").reason("r")));
        assertThat(yard.redrives.step(id).redrive().state()).isEqualTo(RedriveState.STOPPED);
    }

    @Test
    void aCanaryThatWasSkippedStopsTheRest() {
        sink.answer(message -> true, Outcome.rejected("not a customer"));
        publish(Messages.ofManyKeys("o", 10));
        deliver();
        UUID id = request(yard.redriveOf("billing").canary(1));
        yard.redrives.step(id);
        yard.database
                .postroom()
                .subscriptions()
                .skipMessage("billing", yard.one("select position from postroom.delivery"), new Act("bert", "enough"));
        Redrive stopped = yard.redrives.step(id).redrive();
        assertThat(stopped.state()).isEqualTo(RedriveState.STOPPED);
        assertThat(stopped.note()).contains("skipped by bert: enough");
    }

    /** One relay that does what is due and goes. */
    private void deliver() {
        try (Relay relay = relay(OnBurial.CONTINUE)) {
            relay.runOnce();
        }
    }

    private static UUID request(RedriveRequest.Builder request) {
        return yard.redrives.request(request.build()).request().id();
    }
}
