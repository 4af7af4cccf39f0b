package io.postroom.inbox;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.message.Message;
import io.postroom.postgres.Grants;
import io.postroom.postgres.Schema;
import io.postroom.testkit.TestDatabase;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The SQL of docs/consuming.md, run as it stands, by a role that may do nothing else. */
class ConsumingTest {

    @Test
    void theExamplesOfThePageWorkForAConsumerAndCountEachMessageOnce() throws Exception {
        List<String> blocks = blocks();
        assertThat(blocks).hasSize(6);
        String begin = blocks.get(0);
        String round = blocks.get(1);
        String accept = blocks.get(4);
        String retention = blocks.get(5);
        try (TestDatabase database = TestDatabase.create()) {
            Grants grants = Grants.of(new Schema(database.name()));
            database.execute(grants.print(Schema.POSTROOM), "grant create on schema public to " + grants.consumer());
            try (Connection consumer = as(database, grants.consumer())) {
                run(consumer, begin);
                run(consumer, round);
                assertThat(total(database)).as("nothing published").isZero();

                publish(database, 250, "OrderConfirmed");
                publish(database, 10, "OrderCancelled");
                for (int i = 1; i <= 4; i++) {
                    run(consumer, round);
                    assertThat(database.queryLong("select position from postroom.consumer_offset"))
                            .isEqualTo(Math.min(260, i * 100));
                }
                assertThat(total(database)).isEqualTo(250 * 3);

                // A transaction that ends in any other way has not happened.
                publish(database, 5, "OrderConfirmed");
                run(consumer, round.replace("commit;", "rollback;"));
                assertThat(total(database)).isEqualTo(250 * 3);
                run(consumer, round);
                assertThat(total(database)).isEqualTo(255 * 3);

                run(consumer, retention);
                run(consumer, accept);
                run(consumer, accept);
                assertThat(total(database)).isEqualTo(255 * 3 + 20);
                assertThat(database.queryLong("select count(*) from postroom.inbox"))
                        .isEqualTo(2);
            } finally {
                for (String role : grants.roles()) {
                    database.execute(
                            "reassign owned by " + role + " to current_user",
                            "drop owned by " + role,
                            "drop role " + role);
                }
            }
        }
    }

    @Test
    void fourWhoShareTheWorkOfThePageCountEachMessageOnceAndALateOneBeginsWithWhatComes() throws Exception {
        List<String> blocks = blocks();
        try (TestDatabase database = TestDatabase.create()) {
            Grants grants = Grants.of(new Schema(database.name()));
            database.execute(grants.print(Schema.POSTROOM), "grant create on schema public to " + grants.consumer());
            try (Connection consumer = as(database, grants.consumer())) {
                run(consumer, blocks.get(0));
                publish(database, 90, "OrderConfirmed");
                for (int part = 0; part < 4; part++) {
                    String own = "'" + part + "'";
                    run(consumer, blocks.get(2).replace("'3'", own));
                    run(consumer, blocks.get(3).replace("'3'", own).replace("% 4 = 3", "% 4 = " + part));
                    run(consumer, blocks.get(3).replace("'3'", own).replace("% 4 = 3", "% 4 = " + part));
                }
                assertThat(total(database)).isEqualTo(90 * 3);
                assertThat(
                                database.queryLong(
                                        "select count(*) from postroom.consumer_offset where partition_key <> '' and position = 90"))
                        .isEqualTo(4);
                assertThat(database.queryLong("select position from postroom.consumer_offset where partition_key = ''"))
                        .as("a row of its own")
                        .isZero();
                run(
                        consumer,
                        "insert into postroom.consumer_offset (consumer, position) values ('late', postroom.last_position())");
                assertThat(database.queryLong("select position from postroom.consumer_offset where consumer = 'late'"))
                        .isEqualTo(90);
            } finally {
                for (String role : grants.roles()) {
                    database.execute(
                            "reassign owned by " + role + " to current_user",
                            "drop owned by " + role,
                            "drop role " + role);
                }
            }
        }
    }

    private static void publish(TestDatabase database, int count, String event) throws SQLException {
        try (Connection tx = database.begin()) {
            for (int i = 0; i < count; i++) {
                database.postroom()
                        .outbox()
                        .publish(
                                tx,
                                Message.about("customer", "c" + i % 9)
                                        .event(event)
                                        .payload("{\"total\": 3.00}")
                                        .build());
            }
            tx.commit();
        }
        database.postroom().journal().stamp();
    }

    private static long total(TestDatabase database) {
        return database.queryLong("select coalesce(sum(total), 0) from revenue");
    }

    private static Connection as(TestDatabase database, String role) throws SQLException {
        String url = database.url();
        return DriverManager.getConnection(url + (url.contains("?") ? "&" : "?") + "options=-c%20role=" + role);
    }

    private static void run(Connection connection, String script) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(script);
        }
    }

    private static List<String> blocks() throws IOException {
        return Pattern.compile("(?s)```sql\n(.*?)```")
                .matcher(Files.readString(Path.of("../docs/consuming.md")))
                .results()
                .map(match -> match.group(1))
                .toList();
    }
}
