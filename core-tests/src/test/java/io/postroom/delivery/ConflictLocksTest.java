package io.postroom.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.archive.ManyDays;
import io.postroom.deadletter.DeadLetterFilter;
import io.postroom.postgres.Schema;
import io.postroom.testkit.TestDatabase;
import java.sql.Connection;
import org.junit.jupiter.api.Test;

class ConflictLocksTest {
    private static final int DAYS = 40;

    /** All days of an archive together have more partitions than a server has locks. */
    @Test
    void thePreviewOfARedriveOpensNoDayBeforeItsFirstDeadLetter() throws Exception {
        try (TestDatabase database = TestDatabase.create()) {
            ManyDays archived = new ManyDays(database, DAYS, 20);
            archived.fill();
            database.execute(
                    "update postroom.tick set day = day - 100",
                    "insert into postroom.subscription (name, lanes) values ('billing', 1), ('shipping', 1)",
                    "insert into postroom.lane (subscription, lane, position) values ('billing', 0, 1000000), ('shipping', 0, 1000000)");
            bury(database, "billing", archived.within(DAYS - 2));
            bury(database, "shipping", archived.within(DAYS) + 1_000);
            DeliveryRedriver redriver = new DeliveryRedriver(Schema.POSTROOM);
            try (Connection tx = database.begin()) {
                assertThat(redriver.conflicts(tx, DeadLetterFilter.ofOwner("shipping"), 1_000_000)
                                .keys())
                        .isZero();
                assertThat(ManyDays.locked(tx)).as("of none").isZero();
            }
            try (Connection tx = database.begin()) {
                for (int n = 0; n < 12; n++) {
                    assertThat(redriver.conflicts(tx, DeadLetterFilter.ofOwner("billing"), 1_000_000)
                                    .keys())
                            .as("a later message of its key")
                            .isEqualTo(1);
                }
                assertThat(redriver.conflicts(tx, DeadLetterFilter.ALL, 1_000_000)
                                .keys())
                        .isEqualTo(1);
                assertThat(ManyDays.locked(tx)).as("of two and three days").isLessThanOrEqualTo(10);
            }
        }
    }

    /** Of the key of the message that lies there, and of one in the next day. */
    private static void bury(TestDatabase database, String owner, long position) {
        database.execute(
                "update postroom.journal_archive set key_hash = 7 where position in (%1$d, %1$d + 20)"
                        .formatted(position),
                "update postroom.outbox_archive set aggregate_id = 'same' where seq in (%1$d, %1$d + 20)"
                        .formatted(position),
                "insert into postroom.dead_letter (source, owner, position, key_hash, message_id, aggregate_type, aggregate_id,"
                        + " event_type, event_version, payload, occurred_at, cause, attempts, error_class, error, fingerprint, buried_by)"
                        + " values ('subscription', '" + owner + "', " + position
                        + ", 7, gen_random_uuid(), 'order', 'same',"
                        + " 'OrderPlaced', 1, '{}', now(), 'exhausted', 5, 'e', 'e', 'f', 'relay')");
    }
}
