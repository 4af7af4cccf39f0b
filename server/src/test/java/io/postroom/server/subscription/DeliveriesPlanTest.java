package io.postroom.server.subscription;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.server.postgres.RowsRead;
import io.postroom.subscription.Subscriptions;
import io.postroom.testkit.TestDatabase;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** That the list of deliveries reads little, however many are parked. */
class DeliveriesPlanTest {
    @Test
    void findsFewAmongManyThatAreParked() throws Exception {
        try (TestDatabase database = TestDatabase.create()) {
            database.execute(
                    "insert into postroom.subscription (name, lanes) values ('billing', 1), ('shipping', 1)",
                    "insert into postroom.delivery (subscription, position, lane, key_hash, seq, outbox_day, bytes, state) select"
                            + " case when n % 2 = 0 then 'billing' else 'shipping' end, n, 0, n % 7, n, current_date, 100, case when n > 19990"
                            + " then 'unreadable' else 'parked' end from generate_series(1, 20000) as n",
                    "vacuum analyze postroom.delivery");
            Map<String, String> unreadable =
                    Map.of("name", "'billing'", "state", "'unreadable'", "after", "0", "limit", "51");
            assertThat(RowsRead.by(database, Subscriptions.class, "find_few_deliveries.sql", unreadable))
                    .isLessThanOrEqualTo(20);
            Map<String, String> all = Map.of("name", "'billing'", "after", "100", "limit", "51", "window", "500");
            assertThat(RowsRead.by(database, Subscriptions.class, "find_deliveries.sql", all))
                    .isLessThanOrEqualTo(500);
        }
    }
}
