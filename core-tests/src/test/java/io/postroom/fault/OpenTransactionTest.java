package io.postroom.fault;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.message.Message;
import io.postroom.relay.Relay;
import io.postroom.relay.Subscription;
import io.postroom.testkit.RecordingSink;
import io.postroom.testkit.TestDatabase;
import io.postroom.testkit.TestPostgres;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Somebody leaves a transaction open: it delays its own messages and nobody else's. */
class OpenTransactionTest {
    private static final Duration SOON = Duration.ofSeconds(5);

    private final RecordingSink sink = new RecordingSink();
    private TestDatabase database;
    private Relay relay;

    @BeforeEach
    void create() {
        database = TestDatabase.create();
        relay = database.postroom()
                .relay()
                .deliver(Subscription.named("all").lanes(4).build(), sink)
                .build();
        relay.start();
    }

    @AfterEach
    void drop() {
        relay.close();
        database.close();
    }

    @Test
    void aTransactionThatPublishedAndStaysOpenDelaysOnlyItself() throws Exception {
        try (Connection open = database.begin()) {
            UUID late = publish(open, "late");
            assertThatOthersAreDelivered(late);
            open.commit();
            awaitLast(late);
        }
    }

    @Test
    void aTransactionThatPublishedInASavepointAndRollsItBackIsNeverDelivered() throws Exception {
        try (Connection open = database.begin()) {
            UUID kept = publish(open, "kept");
            var savepoint = open.setSavepoint();
            UUID undone = publish(open, "undone");
            open.rollback(savepoint);
            assertThatOthersAreDelivered(kept);
            open.commit();
            awaitLast(kept);
            assertThat(ids()).doesNotContain(undone);
        }
    }

    @Test
    void aWritingTransactionInAnotherDatabaseDelaysNobody() throws Exception {
        try (TestDatabase other = TestDatabase.empty(TestPostgres.shared());
                Connection open = other.begin();
                Statement statement = open.createStatement()) {
            statement.execute("create table written (id int)");
            statement.execute("select pg_current_xact_id()");
            assertThatOthersAreDelivered(null);
        }
    }

    @Test
    void anIdleSnapshotDelaysNobody() throws Exception {
        try (Connection open = database.begin();
                Statement statement = open.createStatement()) {
            statement.execute("set transaction isolation level repeatable read");
            statement.execute("select count(*) from postroom.outbox");
            assertThat(database.queryLong("select count(*) from pg_stat_activity where datname = current_database()"
                            + " and state = 'idle in transaction' and backend_xmin is not null"))
                    .isPositive();
            assertThatOthersAreDelivered(null);
        }
    }

    @Test
    void aPreparedTransactionThatNobodyFinishesDelaysOnlyItself() throws Exception {
        String name = "'forgotten-" + UUID.randomUUID() + "'";
        UUID late;
        try (Connection open = database.begin();
                Statement statement = open.createStatement()) {
            late = publish(open, "late");
            statement.execute("prepare transaction " + name);
        }
        assertThat(database.queryLong("select count(*) from pg_prepared_xacts where database = current_database()"))
                .isEqualTo(1);
        assertThatOthersAreDelivered(late);
        database.execute("commit prepared " + name);
        awaitLast(late);
    }

    @Test
    void aPreparedTransactionThatIsRolledBackIsNeverDelivered() throws Exception {
        String name = "'undone-" + UUID.randomUUID() + "'";
        UUID undone;
        try (Connection open = database.begin();
                Statement statement = open.createStatement()) {
            undone = publish(open, "undone");
            statement.execute("prepare transaction " + name);
        }
        assertThatOthersAreDelivered(undone);
        database.execute("rollback prepared " + name);
        assertThatOthersAreDelivered(undone);
    }

    /** Thirty transactions one after the other, more than one stamp can see. */
    private void assertThatOthersAreDelivered(UUID notYet) throws Exception {
        int before = sink.accepted().size();
        for (int i = 0; i < 30; i++) {
            try (Connection tx = database.begin()) {
                publish(tx, "other-" + i);
                tx.commit();
            }
        }
        sink.awaitAccepted(before + 30, SOON);
        assertThat(sink.accepted()).hasSize(before + 30);
        if (notYet != null) {
            assertThat(ids()).doesNotContain(notYet);
        }
    }

    private void awaitLast(UUID late) throws InterruptedException {
        sink.awaitAccepted(sink.accepted().size() + (ids().contains(late) ? 0 : 1), SOON);
        assertThat(ids()).endsWith(late).doesNotHaveDuplicates();
    }

    private List<UUID> ids() {
        return sink.accepted().stream().map(Message::id).toList();
    }

    private UUID publish(Connection tx, String key) throws SQLException {
        return database.postroom()
                .outbox()
                .publish(
                        tx,
                        Message.about("order", key)
                                .event("OrderPlaced")
                                .payload("{}")
                                .build());
    }
}
