package io.postroom.relay;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.message.Message;
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
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Deliveries beyond their lane's position, as a relay leaves them behind that ends in the middle of what it has read. */
class BeyondPositionTest {
    private static final String NAME = "all";
    private static final int SCHEDULED = 5;

    private TestDatabase database;

    @BeforeEach
    void create() {
        database = TestDatabase.create();
    }

    @AfterEach
    void drop() {
        database.close();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void goWhenTheLaneHasComeToThemSoThatACrashRepeatsOnlyWhatWasOnItsWay(boolean died) throws Exception {
        leaveBehind(died);
        Map<Long, List<Long>> unrecorded = new TreeMap<>();
        List<Long> handled = new ArrayList<>();
        run(envelope -> {
            List<Long> before = unrecorded(handled);
            if (!before.isEmpty()) {
                unrecorded.put(envelope.position(), before);
            }
            handled.add(envelope.position());
        });
        assertThat(unrecorded)
                .as("handled before the next one and not recorded")
                .isEmpty();
        assertThat(handled).doesNotHaveDuplicates().hasSize(2 + SCHEDULED + 3);
        assertThat(database.queryLong("select count(*) from postroom.delivery")).isZero();
    }

    @Test
    void ofAReplayedLaneDoNotWaitForItsEnd() throws Exception {
        leaveBehind(false);
        long end = database.postroom().journal().refreshHead().position();
        database.execute(
                "update postroom.subscription set replay_rate = 0.001",
                "update postroom.lane set replay_to = " + end + ", resume_at = " + end);
        List<Long> handled = new ArrayList<>();
        run(envelope -> handled.add(envelope.position()));
        assertThat(handled).as("all but most of the replay").hasSizeGreaterThanOrEqualTo(SCHEDULED + 3);
        assertThat(database.queryLong("select count(*) from postroom.delivery")).isZero();
    }

    /** Two messages to be read, and after the first of them deliveries that are due: scheduled ones, and a key with one that failed. */
    private void leaveBehind(boolean died) throws SQLException {
        List<Message> scheduled = Stream.iterate(0, n -> n + 1)
                .limit(SCHEDULED)
                .map(n -> Message.about("order", "later-" + n)
                        .event("OrderPlaced")
                        .payload("{}")
                        .availableAt(Instant.now().plus(Duration.ofHours(1)))
                        .build())
                .toList();
        publish(List.of(Messages.order("first")));
        publish(scheduled);
        publish(Messages.sequence("failing", 3));
        publish(List.of(Messages.order("last")));
        RecordingSink sink = new RecordingSink();
        sink.answer(message -> message.aggregateId().equals("failing"), Outcome.retry("not now"));
        try (Relay relay = relay(sink)) {
            relay.runOnce();
        }
        assertThat(database.queryLong("select count(*) from postroom.delivery")).isEqualTo(SCHEDULED + 3);
        database.execute(
                "update postroom.delivery set due_at = now() where due_at is not null",
                "update postroom.lane set position = 0");
        if (died) {
            database.execute("update postroom.lane set owner = gen_random_uuid(), leased_until = now()");
        }
    }

    private void run(Handler handler) {
        try (Relay relay = relay(handler.asSink())) {
            relay.runOnce();
        }
    }

    private Relay relay(Sink sink) {
        return database.postroom()
                .relay()
                .settleInterval(Duration.ZERO)
                .deliver(Subscription.named(NAME).lanes(1).build(), sink)
                .build();
    }

    /** Which of them would be delivered again if everything ended now. */
    private List<Long> unrecorded(List<Long> positions) {
        return positions.stream()
                .filter(position ->
                        database.queryLong("select count(*) from postroom.lane where position < " + position)
                                        + database.queryLong(
                                                "select count(*) from postroom.delivery where position = " + position)
                                > 0)
                .toList();
    }

    private void publish(List<Message> messages) throws SQLException {
        try (Connection tx = database.begin()) {
            database.postroom().outbox().publishAll(tx, messages);
            tx.commit();
        }
    }
}
