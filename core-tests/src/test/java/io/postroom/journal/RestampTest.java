package io.postroom.journal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postroom.message.Message;
import io.postroom.postgres.Database;
import io.postroom.postgres.Schema;
import io.postroom.telemetry.Telemetry;
import io.postroom.testkit.Messages;
import io.postroom.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The function restamp while applications publish: what is open then is stamped when it commits, however much that is. */
class RestampTest {
    private static final int BATCH = 10;
    private static final int MORE_THAN_A_BATCH = 12;

    private TestDatabase database;

    @BeforeEach
    void create() {
        database = TestDatabase.create();
    }

    @AfterEach
    void drop() {
        database.close();
    }

    /** As it is when the restamp has made partitions, and thereby has its xid, before it looks at the sequence. */
    @Test
    void whatWasDrawnAfterItHadItsXidIsStampedWithABulk() throws SQLException {
        publish("before", 3);
        stampAll();
        try (Connection restamping = database.begin();
                Connection open = database.begin()) {
            execute(restamping, "select pg_current_xact_id()");
            publish(open, "open", MORE_THAN_A_BATCH);
            execute(restamping, "select * from postroom.restamp()");
            restamping.commit();
            publish("between", 1);
            stampAll();
            open.commit();
        }
        stampAll();
        assertThat(unstamped()).isZero();
        publish("after", MORE_THAN_A_BATCH);
        stampAll();
        assertThat(unstamped()).isZero();
    }

    /** A logical copy brings ticks with the numbers of its source, and a sequence that begins anew. */
    @Test
    void whatWasDrawnBeforeTheSequenceWasSetIsStampedWithABulk() throws SQLException {
        database.execute("select setval('postroom.outbox_seq_seq', 1000000)");
        for (int i = 0; i < 3; i++) {
            publish("source", 1);
            stampAll();
        }
        database.execute("select setval('postroom.outbox_seq_seq', 1)");
        try (Connection open = database.begin()) {
            publish(open, "open", MORE_THAN_A_BATCH);
            database.execute("select * from postroom.restamp()");
            open.commit();
        }
        stampAll();
        assertThat(unstamped()).isZero();
        assertThat(database.queryLong("select last_value from postroom.outbox_seq_seq"))
                .isEqualTo(1_000_003);
    }

    /** Others draw from it at the same time: whoever sets it to what it was a moment ago gives their numbers out again. */
    @Test
    void aSequenceThatIsNotBehindIsNotSet() throws SQLException {
        publish("a", 3);
        // How many numbers are written ahead is forgotten by setval.
        String ahead = "select log_cnt from postroom.outbox_seq_seq";
        long before = database.queryLong(ahead);
        assertThat(before).isPositive();
        database.execute("select * from postroom.restamp()");
        assertThat(database.queryLong(ahead)).isEqualTo(before);
        assertThat(unstamped()).isZero();
    }

    /** See docs/debezium.md: the update of the outbox is the only one there is. */
    @Test
    void aPublicationOfInsertsDoesNotHinderItAndOneOfUpdatesDoes() throws SQLException {
        publish("a", 3);
        database.execute(
                "create publication inserts for table postroom.outbox with (publish = 'insert', publish_via_partition_root = true)",
                "select * from postroom.restamp()",
                "create publication everything for table postroom.outbox");
        assertThat(unstamped()).isZero();
        assertThatThrownBy(() -> database.execute("select * from postroom.restamp()"))
                .hasStackTraceContaining("because it does not have a replica identity and publishes updates");
    }

    @Test
    void twoMessagesWithOneNumberOnTwoDaysAreBothRead() throws SQLException {
        publish("today", 3);
        // As a logical copy has it, whose sequence began anew the next day.
        database.execute("""
                insert into postroom.outbox (seq, day, id, aggregate_type, aggregate_id, event_type, payload)
                overriding system value
                select o.seq, o.day + 1, gen_random_uuid(), o.aggregate_type, 'tomorrow', o.event_type, o.payload
                from postroom.outbox as o""", "select * from postroom.restamp()");
        Journal journal = new Journal(new Database(database.dataSource(), Schema.POSTROOM), Telemetry.NONE);
        journal.refreshHead();
        Batch batch = journal.read(new Journal.Lane(0, 1, Filter.ALL), journal.locate(0), 100, Long.MAX_VALUE);
        assertThat(batch.items()).hasSize(6).allSatisfy(item -> {
            Message message = item.message();
            assertThat(database.queryLong("select count(*) from postroom.outbox where id = '" + message.id()
                            + "' and seq = " + item.place().seq() + " and day = '"
                            + item.place().day() + "'"))
                    .isOne();
        });
        assertThat(batch.items()).extracting(item -> item.message().id()).doesNotHaveDuplicates();
        assertThat(journal.fetch(batch.items().stream().map(Batch.Item::place).toList()))
                .hasSize(6);
    }

    private long unstamped() {
        return database.queryLong("""
                select count(*) from postroom.outbox as o
                where not exists (select from postroom.journal as j where j.seq = o.seq and j.outbox_day = o.day)""");
    }

    /** In steps so small that more than one of them is a bulk. */
    @Test
    void aNodeThatFreezesBeforeItsCommitLosesItsSession() throws SQLException {
        try (Connection tx = database.begin()) {
            new JournalTable(Schema.POSTROOM).restamp(tx);
            try (Statement statement = tx.createStatement();
                    ResultSet row = statement.executeQuery("show idle_in_transaction_session_timeout")) {
                row.next();
                assertThat(row.getString(1)).isEqualTo("10s");
            }
        }
    }

    private void stampAll() throws SQLException {
        JournalTable table = new JournalTable(Schema.POSTROOM);
        Stamp stamp;
        do {
            try (Connection connection = database.dataSource().getConnection()) {
                stamp = table.stamp(connection, BATCH, "");
            }
        } while (stamp.state() == Stamp.State.MORE);
    }

    private void publish(String key, int count) throws SQLException {
        try (Connection tx = database.begin()) {
            publish(tx, key, count);
            tx.commit();
        }
    }

    private void publish(Connection tx, String key, int count) {
        database.postroom().outbox().publishAll(tx, Messages.sequence(key, count));
    }

    private static void execute(Connection tx, String sql) throws SQLException {
        try (Statement statement = tx.createStatement()) {
            statement.execute(sql);
        }
    }
}
