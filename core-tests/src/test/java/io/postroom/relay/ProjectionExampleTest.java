package io.postroom.relay;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.Postroom;
import io.postroom.inbox.Acceptance;
import io.postroom.message.Envelope;
import io.postroom.message.Message;
import io.postroom.testkit.TestDatabase;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;

/** What docs/projections.md shows, compiled and run. */
class ProjectionExampleTest {
    @Test
    void theExampleWorks() throws SQLException {
        try (TestDatabase database = TestDatabase.create()) {
            database.execute("create table balance (account text primary key, amount numeric not null)");
            Postroom postroom = database.postroom();
            try (Connection tx = database.begin()) {
                for (int i = 1; i <= 100; i++) {
                    postroom.outbox().publish(tx, payment("a" + i % 3, i));
                }
                tx.commit();
            }
            Projection balances = projected(database, postroom);
            assertThat(sum(database)).isEqualTo(5_050);
            behind(postroom, balances);
            UUID id = UUID.randomUUID();
            for (int times = 0; times < 3; times++) {
                receive(database.dataSource(), postroom, id, new byte[32], "a1", BigDecimal.TEN);
            }
            assertThat(sum(database)).isEqualTo(5_060);
        }
    }

    private static Projection projected(TestDatabase database, Postroom postroom) {
        Projection balances = (tx, batch) -> {
            try (PreparedStatement add = tx.prepareStatement("""
                    insert into balance as b (account, amount) values (?, ?)
                    on conflict (account) do update set amount = b.amount + excluded.amount""")) {
                for (Envelope envelope : batch) {
                    add.setString(1, envelope.message().aggregateId());
                    add.setBigDecimal(2, amount(envelope.message()));
                    add.addBatch();
                }
                add.executeBatch();
            }
        };
        try (Relay relay = postroom.relay()
                .project(
                        Subscription.named("balances")
                                .aggregateTypes("payment")
                                .lanes(4)
                                .build(),
                        balances)
                .build()) {
            relay.start();
            long deadline = System.nanoTime() + 60_000_000_000L;
            while (sum(database) < 5_050 && System.nanoTime() < deadline) {
                LockSupport.parkNanos(5_000_000);
            }
        }
        return balances;
    }

    /** What was applied without an inbox is not known to it. */
    private static void behind(Postroom postroom, Projection balances) {
        Projection guarded = balances.behind(postroom.inbox(), "balances");
        assertThat(guarded.isBehindInbox()).isTrue();
    }

    private static void receive(
            DataSource dataSource, Postroom postroom, UUID id, byte[] hash, String account, BigDecimal amount)
            throws SQLException {
        try (Connection tx = dataSource.getConnection()) {
            tx.setAutoCommit(false);
            if (postroom.inbox().accept(tx, "balances", id, hash) == Acceptance.FIRST) {
                addToBalance(tx, account, amount);
            }
            tx.commit();
        }
    }

    private static void addToBalance(Connection tx, String account, BigDecimal amount) throws SQLException {
        try (PreparedStatement add = tx.prepareStatement("update balance set amount = amount + ? where account = ?")) {
            add.setBigDecimal(1, amount);
            add.setString(2, account);
            add.executeUpdate();
        }
    }

    private static Message payment(String account, int amount) {
        return Message.about("payment", account)
                .event("PaymentReceived")
                .payload("{\"amount\":" + amount + "}")
                .build();
    }

    private static BigDecimal amount(Message message) {
        return new BigDecimal(message.payload().replaceAll("[^0-9]", ""));
    }

    private static long sum(TestDatabase database) {
        return database.queryLong("select coalesce(sum(amount), 0)::bigint from balance");
    }

    @Test
    void theDocumentShowsWhatIsCompiledHere() throws IOException {
        String source = plain(Files.readString(Path.of("src/test/java/io/postroom/relay/ProjectionExampleTest.java")));
        var blocks = Pattern.compile("(?s)```java\n(.*?)```")
                .matcher(Files.readString(Path.of("../docs/projections.md")))
                .results()
                .map(match -> plain(match.group(1)))
                .toList();
        assertThat(blocks).hasSize(3).allSatisfy(block -> assertThat(source).contains(block));
    }

    /** Without what differs by where it stands, and by how it is formatted. */
    private static String plain(String text) {
        return text.replaceAll("\\s+", "");
    }
}
