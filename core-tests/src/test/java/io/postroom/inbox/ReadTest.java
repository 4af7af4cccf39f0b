package io.postroom.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.postroom.Postroom;
import io.postroom.message.Message;
import io.postroom.projection.OldDay;
import io.postroom.testkit.Messages;
import io.postroom.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.postgresql.util.PSQLException;

/** Messages by position, as a reader without this library gets them. */
class ReadTest {
    TestDatabase database;
    Postroom postroom;

    @BeforeEach
    void create() {
        database = TestDatabase.create();
        postroom = database.postroom();
    }

    @AfterEach
    void drop() {
        database.close();
    }

    @Test
    void givesTheNextMessagesWholeAndInOrder() throws SQLException {
        Message full = Message.about("order", "42")
                .event("OrderConfirmed")
                .eventVersion(3)
                .aggregateVersion(7)
                .tenantId("acme")
                .payload("{ \"b\":1, \"a\" : 2.50 }")
                .header("traceparent", "x")
                .occurredAt(Instant.parse("2026-01-02T03:04:05.678901Z"))
                .availableAt(Instant.parse("2099-01-01T00:00:00Z"))
                .build();
        publish(List.of(full));
        publish(Messages.sequence("a", 250));
        assertThat(strings(
                        "select position || ' ' || id || ' ' || tenant_id || ' ' || aggregate_type || ' ' || aggregate_id || ' '"
                                + " || aggregate_version || ' ' || event_type || ' ' || event_version || ' ' || payload || ' ' || headers"
                                + " || ' ' || extract(epoch from occurred_at) || ' ' || extract(epoch from available_at)"
                                + " || ' ' || (key_hash >= 0) from postroom.read(0, 1)"))
                .containsExactly("1 " + full.id() + " acme order 42 7 OrderConfirmed 3 { \"b\":1, \"a\" : 2.50 }"
                        + " {\"traceparent\":\"x\"} 1767323045.678901 4070908800.000000 true");
        assertThat(positions(0, 300)).isEqualTo(range(1, 251));
        assertThat(positions(0, 100)).isEqualTo(range(1, 100));
        assertThat(positions(100, 100)).isEqualTo(range(101, 200));
        assertThat(positions(250, 100)).containsExactly("251");
        assertThat(positions(251, 100)).isEmpty();
        assertThat(strings("select position from postroom.read(240)")).isEqualTo(range(241, 251));
        assertThat(strings("select position from postroom.message where position > 240 order by position limit 5"))
                .isEqualTo(range(241, 245));
    }

    @Test
    void showsNothingThatHasNoPositionYet() throws SQLException {
        try (Connection tx = database.begin()) {
            postroom.outbox().publish(tx, Messages.order("uncommitted"));
            postroom.journal().stamp();
            assertThat(positions(0, 10)).isEmpty();
            tx.commit();
        }
        assertThat(positions(0, 10)).isEmpty();
        assertThat(database.queryLong("select count(*) from postroom.message")).isZero();
        postroom.journal().stamp();
        assertThat(positions(0, 10)).containsExactly("1");
    }

    @Test
    void readsNoMoreThanFitsIntoMemoryAndAlwaysOne() throws SQLException {
        String large = "{\"text\":\"" + "x".repeat(1_000_000) + "\"}";
        for (int i = 0; i < 20; i++) {
            publish(List.of(Messages.order("o" + i, large)));
        }
        assertThat(positions(0, 100)).isEqualTo(range(1, 16));
        assertThat(positions(16, 100)).isEqualTo(range(17, 20));
        database.execute("update postroom.journal set bytes = 20000000");
        assertThat(positions(4, 100)).containsExactly("5");
    }

    @ParameterizedTest
    @CsvSource({
        "-1,10,message.read-invalid",
        "null,10,message.read-invalid",
        "0,0,message.read-invalid",
        "0,10001,message.read-invalid",
        "0,null,message.read-invalid",
        "4,10,message.position-ahead",
        "9223372036854775807,10,message.position-ahead"
    })
    void refusesWhatItCannotAnswer(String after, String atMost, String code) throws SQLException {
        publish(Messages.sequence("a", 3));
        assertThat(code("select count(*) from postroom.read(" + after + ", " + atMost + ")"))
                .isEqualTo(code);
    }

    /** A gap is never passed over in silence: positions are dense. */
    @Test
    void saysSoWhenMessagesAreGone() throws SQLException {
        publish(Messages.sequence("a", 10));
        database.execute("delete from postroom.journal where position <= 3");
        assertThat(code("select count(*) from postroom.read(0, 5)")).isEqualTo("message.position-gone");
        assertThat(positions(3, 5)).isEqualTo(range(4, 8));
        database.execute("delete from postroom.outbox where seq = 6");
        assertThat(positions(3, 5)).as("up to the gap").containsExactly("4", "5");
        assertThat(code("select count(*) from postroom.read(5, 5)")).isEqualTo("message.position-gone");
        assertThat(problem("select count(*) from postroom.read(0, 5)"))
                .as("what is missing may be scattered")
                .contains("those at positions 1 to 3 are gone");
        assertThat(positions(6, 5)).isEqualTo(range(7, 10));
        database.execute("delete from postroom.journal");
        assertThat(problem("select count(*) from postroom.read(6, 5)"))
                .contains("those at positions 7 to 10 are gone", "read after 10 to go on");
        assertThat(positions(10, 5)).isEmpty();
    }

    /** The way it happens: a day of the outbox is dropped, the journal keeps all of its entries. */
    @Test
    void namesThePositionAfterWhichReadingGoesOnWhenADayWasDropped() throws SQLException {
        OldDay old = new OldDay(database);
        publish(Messages.sequence("a", 30));
        old.take(20);
        assertThat(positions(0, 30)).isEqualTo(range(1, 30));
        old.drop();
        for (String after : List.of("0", "7", "19")) {
            assertThat(problem("select count(*) from postroom.read(" + after + ", 5)"))
                    .isEqualTo("could not read messages after position " + after + ": those at positions "
                            + (Integer.parseInt(after) + 1)
                            + " to 20 are gone, dropped with their days; read after 20 to go on without them, or get"
                            + " them from where you keep such days");
        }
        assertThat(positions(20, 30)).isEqualTo(range(21, 30));
    }

    private void publish(List<Message> messages) throws SQLException {
        try (Connection tx = database.begin()) {
            postroom.outbox().publishAll(tx, messages);
            tx.commit();
        }
        postroom.journal().stamp();
    }

    private List<String> positions(long after, int atMost) throws SQLException {
        return strings("select position from postroom.read(" + after + ", " + atMost + ")");
    }

    private static List<String> range(int first, int last) {
        return java.util.stream.IntStream.rangeClosed(first, last)
                .mapToObj(String::valueOf)
                .toList();
    }

    private String problem(String sql) {
        return catchThrowableOfType(PSQLException.class, () -> strings(sql))
                .getServerErrorMessage()
                .getMessage();
    }

    private String code(String sql) {
        return catchThrowableOfType(PSQLException.class, () -> strings(sql))
                .getServerErrorMessage()
                .getDetail();
    }

    private List<String> strings(String sql) throws SQLException {
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            List<String> values = new ArrayList<>();
            while (rows.next()) {
                values.add(rows.getString(1));
            }
            return values;
        }
    }
}
