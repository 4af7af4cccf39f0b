package io.postroom.source;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.archive.ManyDays;
import io.postroom.message.Message;
import io.postroom.postgres.Schema;
import io.postroom.retry.Fault;
import io.postroom.testkit.TestDatabase;
import java.sql.Connection;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class BuryLocksTest {
    /** All days of an archive together have more partitions than a server has locks. */
    @Test
    void aPositionIsLookedUpInItsOwnDay() throws Exception {
        int days = 40;
        try (TestDatabase database = TestDatabase.create()) {
            ManyDays archived = new ManyDays(database, days, 20);
            archived.fill();
            ReceptionTable table = new ReceptionTable(Schema.POSTROOM);
            UUID ours = UUID.fromString("01900000-0000-7000-8000-000000000000");
            try (Connection tx = database.begin()) {
                for (int n = 0; n < 12; n++) {
                    long position = archived.within(20) - n / 2;
                    long letter = table.bury(tx, grave(position, ours));
                    assertThat(position(tx, letter)).isEqualTo(position);
                }
                assertThat(ManyDays.locked(tx)).as("of one day").isLessThanOrEqualTo(4);
                tx.rollback();
            }
            try (Connection tx = database.begin()) {
                UUID other = UUID.randomUUID();
                long letter = table.bury(tx, grave(archived.within(20), other));
                assertThat(position(tx, letter)).as("not ours").isEqualTo(Arrival.beyond(other));
                letter = table.bury(tx, grave(archived.within(days) + 1_000, ours));
                assertThat(position(tx, letter)).as("nobody's").isEqualTo(Arrival.beyond(ours));
                assertThat(ManyDays.locked(tx)).as("of one day").isLessThanOrEqualTo(4);
            }
        }
    }

    private static long position(Connection tx, long letter) throws Exception {
        try (var statement = tx.createStatement();
                var row = statement.executeQuery("select position from postroom.dead_letter where id = " + letter)) {
            row.next();
            return row.getLong(1);
        }
    }

    private static ReceptionTable.Grave grave(long position, UUID id) {
        Message message = Message.about("order", "o")
                .id(id)
                .event("OrderPlaced")
                .payload("{}")
                .build();
        return new ReceptionTable.Grave(
                Reception.KAFKA,
                "billing",
                position,
                "t/0@1",
                message,
                "rejected",
                1,
                Fault.of("e", "e"),
                "[]",
                "node",
                null);
    }
}
