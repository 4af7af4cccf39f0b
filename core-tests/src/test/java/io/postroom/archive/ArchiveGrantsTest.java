package io.postroom.archive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.postroom.Postroom;
import io.postroom.doctor.Check;
import io.postroom.doctor.Unchecked;
import io.postroom.message.Message;
import io.postroom.postgres.Grants;
import io.postroom.postgres.Schema;
import io.postroom.relay.Relay;
import io.postroom.relay.Subscription;
import io.postroom.subscription.Act;
import io.postroom.testkit.Messages;
import io.postroom.testkit.RecordingSink;
import io.postroom.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** With just the rights that the printed grants give. */
class ArchiveGrantsTest {
    private static final Duration WEEK = Duration.ofDays(7);
    private static final Act ACT = new Act("tester", "to see what happens");

    TestDatabase database;
    PastDays days;
    Grants grants;
    List<Message> old;

    @BeforeEach
    void create() {
        database = TestDatabase.create();
        days = new PastDays(database);
        old = Messages.ofManyKeys("old", 20);
        days.publish(10, old);
        days.publish(9, Messages.ofManyKeys("later", 20));
        days.publish(Messages.ofManyKeys("now", 5));
        grants = Grants.of(new Schema(database.name()));
        database.execute(grants.print(Schema.POSTROOM));
    }

    @AfterEach
    void drop() {
        for (String role : grants.roles()) {
            database.execute(
                    "reassign owned by " + role + " to current_user", "drop owned by " + role, "drop role " + role);
        }
        database.close();
    }

    @Test
    void aRelayArchivesDropsAndReadsOn() {
        try (HikariDataSource pool = as(grants.relay())) {
            Postroom relay = Postroom.on(pool);
            relay.maintenance(Retention.USUAL).runOnce();
            assertThat(relay.archive().days(false)).hasSize(2);
            RecordingSink sink = new RecordingSink();
            try (Relay delivering = relay.relay()
                    .deliver(Subscription.named("all").build(), sink)
                    .build()) {
                delivering.runOnce();
            }
            assertThat(sink.accepted()).hasSize(45);
            relay.maintenance(Retention.USUAL.dropAfter(Duration.ofDays(9))).runOnce();
            assertThat(relay.archive().days(false)).hasSize(1);
        }
    }

    @Test
    void anOperatorArchivesExportsAndDropsAndItIsAudited() {
        try (HikariDataSource pool = as(grants.operator())) {
            Postroom operator = Postroom.on(pool);
            assertThat(operator.archive().due(WEEK)).hasSize(2);
            assertThat(operator.archive().run(WEEK, ACT)).hasSize(2);
            assertThat(operator.archive().read(days.day(10), item -> {})).isEqualTo(20);
            operator.archive().drop(days.day(10), ACT);
            assertThat(operator.archive().days(true)).hasSize(2);
        }
        assertThat(database.queryLong("select count(*) from postroom.audit where action like 'archive %'"))
                .as("two days archived, one of them dropped")
                .isEqualTo(3);
    }

    @Test
    void aReaderLooksAndAConsumerReadsOnButNeitherArchivesOrDrops() throws SQLException {
        database.postroom().archive().run(WEEK);
        try (HikariDataSource looking = as(grants.reader());
                HikariDataSource consuming = as(grants.consumer());
                HikariDataSource writing = as(grants.writer())) {
            Postroom reader = Postroom.on(looking);
            assertThat(reader.archive().days(false)).hasSize(2);
            assertThat(reader.archive().read(days.day(10), item -> {})).isEqualTo(20);
            assertThat(reader.diagnosis().why(old.get(3).id()).message()).isNotNull();
            assertThat(reader.doctor().examine().unchecked())
                    .extracting(Unchecked::check)
                    .doesNotContain(Check.ARCHIVE_STUCK);
            assertThatThrownBy(() -> reader.archive().run(WEEK)).hasMessageContaining("permission denied");
            assertThatThrownBy(() -> reader.archive().drop(days.day(10))).hasMessageContaining("permission denied");
            assertThat(count(consuming, "select count(*) from postroom.read(0, 30)"))
                    .isEqualTo(30);
            assertThat(count(consuming, "select count(*) from postroom.archived_message"))
                    .isEqualTo(40);
            assertThatThrownBy(() -> count(consuming, "select count(*) from postroom.outbox_archive"))
                    .hasMessageContaining("permission denied");
            assertThatThrownBy(() -> count(writing, "select count(*) from postroom.archived_message"))
                    .hasMessageContaining("permission denied");
            assertThatThrownBy(() -> count(writing, "select count(*) from postroom.archive_step('7 days')"))
                    .hasMessageContaining("permission denied");
        }
    }

    private static long count(HikariDataSource pool, String sql) throws SQLException {
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getLong(1);
        }
    }

    private HikariDataSource as(String role) {
        String url = database.url();
        return TestDatabase.pool(url + (url.contains("?") ? "&" : "?") + "options=-c%20role=" + role, 4);
    }
}
