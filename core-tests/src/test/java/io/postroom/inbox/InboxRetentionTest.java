package io.postroom.inbox;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What is forgotten, when, and what is never. Days are numbered back from today. */
class InboxRetentionTest {
    TestDatabase database;
    Inbox inbox;
    LocalDate today;

    @BeforeEach
    void create() {
        database = TestDatabase.create();
        inbox = database.postroom().inbox();
        today = LocalDate.now(ZoneOffset.UTC);
        for (int ago : new int[] {40, 35, 31, 30, 29, 28, 27, 25, 20, 9, 8}) {
            database.execute("create table postroom.%s partition of postroom.inbox for values from ('%s') to ('%s')"
                    .formatted(partition(ago), today.minusDays(ago), today.minusDays(ago - 1L)));
        }
    }

    @AfterEach
    void drop() {
        database.close();
    }

    @Test
    void daysWhollyOlderThanWhatIsKeptGoAndOthersStay() throws SQLException {
        for (int ago : new int[] {40, 9, 8, 1}) {
            accepted(idOf(ago), ago);
        }
        database.postroom().maintenance().runOnce();
        assertThat(partitions())
                .as("eight days are kept, and the day in which they end")
                .contains(partition(8), partition(1), partition(-7), "inbox_default", "inbox_undated")
                .doesNotContain(partition(9), partition(20), partition(40));
        assertThat(database.queryLong("select count(*) from postroom.inbox")).isEqualTo(2);
        database.postroom().maintenance().runOnce();
        assertThat(partitions()).contains(partition(8), "inbox_default", "inbox_undated");
    }

    /** Looking through a day that cannot go yet locks nobody out, however long it takes. */
    @Test
    void aDayThatIsOnlyLookedThroughHoldsNobodyUp() throws Exception {
        UUID late = idOf(30);
        accepted(late, 7);
        ExecutorService other = Executors.newSingleThreadExecutor();
        try (Connection tx = database.begin();
                Statement statement = tx.createStatement()) {
            try (ResultSet row = statement.executeQuery(
                    "select outcome from postroom.forget_inbox_day('8 days', '" + today.minusDays(31) + "')")) {
                row.next();
                assertThat(row.getString(1)).isEqualTo("late");
            }
            assertThat(database.queryLong("select count(*) from pg_locks where granted and mode in"
                            + " ('ShareLock', 'AccessExclusiveLock') and relation = 'postroom." + partition(30)
                            + "'::regclass"))
                    .isZero();
            assertThat(other.submit(() -> accept(late)).get(30, TimeUnit.SECONDS))
                    .isEqualTo(Acceptance.DUPLICATE);
            tx.rollback();
        } finally {
            other.shutdownNow();
        }
    }

    /** An old message that came only yesterday may come again today. */
    @Test
    void aMessageThatCameLateIsRememberedAsLongAsAnyOther() throws SQLException {
        UUID late = idOf(30);
        accepted(idOf(30), 30);
        accepted(late, 7);
        accepted(idOf(20), 20);
        database.postroom().maintenance().runOnce();
        assertThat(partitions()).contains(partition(30)).doesNotContain(partition(20));
        assertThat(accept(late)).isEqualTo(Acceptance.DUPLICATE);

        database.execute("update postroom.inbox set accepted_at = accepted_at - interval '2 days' where message_id = '"
                + late + "'");
        database.postroom().maintenance().runOnce();
        assertThat(partitions()).doesNotContain(partition(30));
    }

    @Test
    void aMessageOfADayThatIsGoneIsStillAcceptedOnce() throws SQLException {
        database.postroom().maintenance().runOnce();
        assertThat(partitions()).doesNotContain(partition(30));
        UUID id = idOf(30);
        assertThat(accept(id)).isEqualTo(Acceptance.FIRST);
        assertThat(accept(id)).isEqualTo(Acceptance.DUPLICATE);
        assertThat(database.queryLong("select count(*) from postroom.inbox_default"))
                .isOne();
        database.postroom().maintenance().runOnce();
        assertThat(accept(id)).isEqualTo(Acceptance.DUPLICATE);
    }

    @Test
    void whatHasNoPartitionOfItsOwnIsPurgedRowByRow() throws SQLException {
        UUID forgotten = UUID.randomUUID();
        UUID kept = UUID.randomUUID();
        UUID ahead = idOf(-100);
        UUID aheadForgotten = idOf(-100);
        accepted(forgotten, 9);
        accepted(kept, 7);
        accepted(ahead, 7);
        accepted(aheadForgotten, 9);
        database.execute(
                "insert into postroom.inbox (consumer, message_id, day, payload_hash, accepted_at)"
                        + " select 'bulk', gen_random_uuid(), '-infinity', sha256('a'), now() - interval '20 days' from generate_series(1, 25000)");
        database.postroom().maintenance().runOnce();
        assertThat(database.queryLong("select count(*) from postroom.inbox")).isEqualTo(2);
        assertThat(accept(kept)).isEqualTo(Acceptance.DUPLICATE);
        assertThat(accept(ahead)).isEqualTo(Acceptance.DUPLICATE);
        assertThat(accept(forgotten)).isEqualTo(Acceptance.FIRST);
        assertThat(accept(aheadForgotten)).isEqualTo(Acceptance.FIRST);
    }

    @Test
    void theLongestDeclarationCountsAndNoneShortensWhatOthersNeed() throws SQLException {
        UUID undated = UUID.randomUUID();
        accepted(idOf(25), 25);
        accepted(undated, 25);
        inbox.declare("quick", Retention.keep(Duration.ofHours(1)));
        inbox.declare("slow", Retention.keep(Duration.ofDays(30)).redeliveredWithin(Duration.ofDays(29)));
        database.postroom().maintenance().runOnce();
        assertThat(partitions()).contains(partition(25)).doesNotContain(partition(35));
        assertThat(accept(undated)).isEqualTo(Acceptance.DUPLICATE);

        inbox.declare("slow", Retention.USUAL);
        database.execute("update postroom.inbox set accepted_at = now() - interval '25 days'");
        database.postroom().maintenance().runOnce();
        assertThat(partitions()).doesNotContain(partition(25), partition(9)).contains(partition(8));
        assertThat(accept(undated)).isEqualTo(Acceptance.FIRST);
    }

    /** Its row cannot be seen yet, and must not be lost. */
    @Test
    void aDayThatSomebodyIsAcceptingIntoIsLeftForAnotherTimeAndNobodyWaitsLong() throws Exception {
        UUID id = idOf(30);
        ExecutorService thread = Executors.newSingleThreadExecutor();
        try (Connection tx = database.begin()) {
            accepted(idOf(30), 30);
            inbox.acceptAll(tx, "billing", List.of(Received.of(id, "x")));
            long before = System.nanoTime();
            Future<?> maintenance =
                    thread.submit(() -> database.postroom().maintenance().runOnce());
            for (int i = 0; i < 20; i++) {
                accept(UUID.randomUUID());
            }
            maintenance.get(60, TimeUnit.SECONDS);
            // Of the many days that could be dropped three are tried.
            assertThat(Duration.ofNanos(System.nanoTime() - before)).isLessThan(Duration.ofSeconds(15));
            assertThat(partitions()).contains(partition(30), partition(29));
            tx.commit();
        } finally {
            thread.shutdownNow();
        }
        assertThat(accept(id)).isEqualTo(Acceptance.DUPLICATE);
        database.postroom().maintenance().runOnce();
        assertThat(partitions()).contains(partition(30)).doesNotContain(partition(29));
        assertThat(accept(id)).isEqualTo(Acceptance.DUPLICATE);
    }

    private UUID idOf(int ago) {
        return InboxTest.madeAt(Instant.parse(today.minusDays(ago) + "T12:00:00Z"));
    }

    /** As if it had been accepted so many days ago. */
    private void accepted(UUID id, int ago) throws SQLException {
        assertThat(accept(id)).isEqualTo(Acceptance.FIRST);
        database.execute("update postroom.inbox set accepted_at = now() - interval '" + ago
                + " days' where message_id = '" + id + "'");
    }

    private Acceptance accept(UUID id) throws SQLException {
        try (Connection tx = database.begin()) {
            Acceptance answer =
                    inbox.accept(tx, "billing", id, Received.of(id, "x").payloadHash());
            tx.commit();
            return answer;
        }
    }

    private String partition(int ago) {
        return "inbox_" + today.minusDays(ago).format(DateTimeFormatter.BASIC_ISO_DATE);
    }

    private List<String> partitions() throws SQLException {
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows =
                        statement.executeQuery("select relname from pg_inherits join pg_class on oid = inhrelid"
                                + " where inhparent = 'postroom.inbox'::regclass")) {
            List<String> names = new ArrayList<>();
            while (rows.next()) {
                names.add(rows.getString(1));
            }
            return names;
        }
    }
}
