package io.postroom.subscription;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.archive.ManyDays;
import io.postroom.postgres.Schema;
import io.postroom.testkit.TestDatabase;
import java.sql.Connection;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class CountLocksTest {
    /** All days of an archive together have more partitions than a server has locks. */
    @Test
    void whatAMoveMeansIsCountedInTheDaysThatItIsAbout() throws Exception {
        int days = 40;
        try (TestDatabase database = TestDatabase.create()) {
            ManyDays archived = new ManyDays(database, days, 20);
            archived.fill();
            LaneTable table = new LaneTable(Schema.POSTROOM);
            try (Connection tx = database.begin()) {
                for (int n = 0; n < 12; n++) {
                    Map<Integer, Long> counts = table.countEntries(
                            tx, 1, List.of(LaneMove.skip(0, archived.within(20), archived.within(22))));
                    assertThat(counts).isEqualTo(Map.of(0, 40L));
                }
                assertThat(ManyDays.locked(tx)).as("of three days").isLessThanOrEqualTo(6);
            }
            try (Connection tx = database.begin()) {
                long end = archived.within(days) + 1_000;
                assertThat(table.countEntries(tx, 1, List.of(LaneMove.skip(0, end, end + 100))))
                        .isEmpty();
                assertThat(ManyDays.locked(tx)).as("of none").isZero();
            }
        }
    }
}
