package io.postroom.journal;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.relay.Relay;
import io.postroom.relay.Subscription;
import io.postroom.testkit.TestDatabase;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What maintenance leaves of the ticks, and that nobody misses the others. */
class ThinnedTicksTest {

    @Test
    void leaveOneOfEachOldSecondAndLoseNothing() {
        try (TestDatabase database = TestDatabase.create()) {
            for (int i = 0; i < 20; i++) {
                publishAndStamp(database);
            }
            // Ten ticks in each of two seconds, three hours ago.
            database.execute("update postroom.tick set at = date_trunc('hour', now()) - interval '3 hours'"
                    + " + make_interval(secs => (position - 1) / 10) where position > 0");
            publishAndStamp(database);
            database.postroom().maintenance().runOnce();
            assertThat(database.queryLong("select count(*) from postroom.tick where position > 0"))
                    .isEqualTo(3);
            assertThat(database.queryLong("select count(*) from postroom.tick where position in (10, 20, 21)"))
                    .as("the last of each second, and the last of all")
                    .isEqualTo(3);
            publishAndStamp(database);
            List<Long> seen = new ArrayList<>();
            try (Relay relay = database.postroom()
                    .relay()
                    .handle(Subscription.named("all").lanes(1).build(), envelope -> seen.add(envelope.position()))
                    .build()) {
                relay.runOnce();
            }
            assertThat(seen).hasSize(22).startsWith(1L).endsWith(22L).isSorted();
        }
    }

    private static void publishAndStamp(TestDatabase database) {
        database.execute("select postroom.publish('order', '1', 'Placed', '{}')");
        database.postroom().journal().stampAll();
    }
}
