package io.postroom.journal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.postroom.Postroom;
import io.postroom.PostroomException;
import io.postroom.message.Message;
import io.postroom.message.StoredVersion;
import io.postroom.testkit.TestDatabase;
import java.sql.Connection;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class StoredVersionsTest {
    private TestDatabase database;

    @BeforeEach
    void create() {
        database = TestDatabase.create();
    }

    @AfterEach
    void drop() {
        database.close();
    }

    @Test
    void countsEveryVersionOfEveryEventTypeInAllPartitions() throws Exception {
        LocalDate before = LocalDate.now(ZoneOffset.UTC);
        try (Connection tx = database.begin()) {
            database.postroom()
                    .outbox()
                    .publishAll(tx, List.of(message("placed", 2), message("placed", 2), message("Paid", 1)));
            tx.commit();
        }
        try (Connection tx = database.begin()) {
            database.postroom().outbox().publish(tx, message("placed", 9));
            tx.rollback();
        }
        LocalDate old = LocalDate.of(2020, 2, 29);
        database.execute(row("placed", 1, old), row("placed", 2, old));
        LocalDate after = LocalDate.now(ZoneOffset.UTC);

        List<StoredVersion> rows = StoredVersions.list(database.postroom().database());
        assertThat(rows).extracting(StoredVersion::eventType).containsExactly("Paid", "placed", "placed");
        assertThat(rows).extracting(StoredVersion::eventVersion).containsExactly(1, 1, 2);
        assertThat(rows).extracting(StoredVersion::messages).containsExactly(1L, 1L, 3L);
        assertThat(rows.get(1).newestDay()).isEqualTo(old);
        assertThat(rows.get(2).oldestDay()).isEqualTo(old);
        assertThat(rows.get(2).newestDay()).isBetween(before, after);
    }

    @Test
    void countsOpenDeadLettersWhoseMessagesAreGoneFromTheOutbox() {
        LocalDate buried = LocalDate.of(2021, 5, 1);
        database.execute(
                row("placed", 1, buried.plusDays(7)),
                deadLetter("placed", 1, buried, 1),
                deadLetter("paid", 3, buried, 2),
                deadLetter("paid", 3, buried.plusDays(1), 3),
                deadLetter("paid", 4, buried, 4),
                "update postroom.dead_letter set resolution = 'discarded', resolved_at = now(), resolved_by = 'me'"
                        + " where event_version = 4");
        assertThat(StoredVersions.list(database.postroom().database()))
                .containsExactly(
                        new StoredVersion("paid", 3, 0, 2, buried, buried.plusDays(1)),
                        new StoredVersion("placed", 1, 1, 1, buried, buried.plusDays(7)));
    }

    @Test
    void onlyReads() {
        database.execute(row("placed", 1, LocalDate.of(2021, 5, 1)));
        String url = database.url() + (database.url().contains("?") ? "&" : "?")
                + "options=-c%20default_transaction_read_only=on";
        try (HikariDataSource standby = TestDatabase.pool(url, 1)) {
            assertThat(StoredVersions.list(Postroom.on(standby).database())).hasSize(1);
        }
    }

    @Test
    void hasNothingToSayOfAnEmptyOutbox() {
        assertThat(StoredVersions.list(database.postroom().database())).isEmpty();
    }

    @Test
    void refusesToListEventTypesWithoutEnd() {
        database.execute("insert into postroom.outbox (id, aggregate_type, aggregate_id, event_type, payload)"
                + " select gen_random_uuid(), 'order', 'o', 'order-' || n, '{}' from generate_series(1, 100001) as n");
        assertThatThrownBy(() -> StoredVersions.list(database.postroom().database()))
                .isInstanceOf(PostroomException.class)
                .hasMessageContaining("more than 100000 pairs of event type and version");
    }

    private static String row(String eventType, int version, LocalDate day) {
        return "insert into postroom.outbox (day, id, aggregate_type, aggregate_id, event_type, event_version, payload) values ('"
                + day + "', gen_random_uuid(), 'order', 'o', '" + eventType + "', " + version + ", '{}')";
    }

    private static String deadLetter(String eventType, int version, LocalDate day, int position) {
        return "insert into postroom.dead_letter (source, owner, position, key_hash, message_id, aggregate_type, aggregate_id,"
                + " event_type, event_version, payload, occurred_at, cause, attempts, error_class, error, fingerprint,"
                + " buried_at, buried_by) values ('subscription', 'billing', " + position
                + ", 0, gen_random_uuid(), 'order', 'o', '" + eventType + "', " + version
                + ", '{}', now(), 'rejected', 1, 'e', 'e', 'f', '" + day + " 23:59:59Z', 'relay')";
    }

    private static Message message(String eventType, int version) {
        return Message.about("order", "o")
                .event(eventType)
                .eventVersion(version)
                .payload("{}")
                .build();
    }
}
