package io.postroom.relay;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.message.Message;
import io.postroom.retry.RetryPolicy;
import io.postroom.testkit.Messages;
import io.postroom.testkit.RecordingSink;
import io.postroom.testkit.TestDatabase;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The order of a key while its destination is away and one message at a time goes as a probe. */
class ProbeOrderTest {
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    /** Several messages of a key are due; the first of them goes as a probe, is not taken and is handed back. */
    @Test
    void aProbeThatIsNotTakenIsNotOvertakenByItsKey() throws Exception {
        RecordingSink sink = new RecordingSink();
        RetryPolicy hour =
                RetryPolicy.builder().linear(Duration.ofHours(1)).attemptsMax(5).build();
        Subscription subscription =
                Subscription.named("probe").lanes(1).retry(hour).build();
        try (TestDatabase database = TestDatabase.create()) {
            try (Connection tx = database.begin()) {
                database.postroom().outbox().publishAll(tx, List.of(Messages.order("other")));
                database.postroom().outbox().publishAll(tx, Messages.sequence("key", 4));
                tx.commit();
            }
            sink.answer(message -> true, Outcome.retry("not now"), 2);
            try (Relay relay =
                    database.postroom().relay().deliver(subscription, sink).build()) {
                relay.runOnce();
            }
            // As when the first of the key went through, and its relay stopped before the next ones were claimed.
            database.execute(
                    "delete from postroom.delivery where position = 2",
                    "update postroom.delivery set state = 'waiting', due_at = now()");
            // First the other one finds out, then it goes as the probe, then one of the key.
            sink.answer(message -> true, Outcome.unavailable("away"), 3);
            try (Relay relay = database.postroom()
                    .relay()
                    .probe(Duration.ofMillis(5), Duration.ofMillis(20))
                    .deliver(subscription, sink)
                    .build()) {
                relay.start();
                sink.awaitAccepted(4, PATIENCE);
            }
            assertThat(sink.accepted("key"))
                    .extracting(Message::aggregateVersion)
                    .containsExactly(2L, 3L, 4L);
            assertThat(database.queryLong("select count(*) from postroom.delivery"))
                    .isZero();
        }
    }
}
