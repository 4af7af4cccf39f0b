package io.postroom;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.message.Message;
import io.postroom.relay.Relay;
import io.postroom.relay.Subscription;
import io.postroom.testkit.TestDatabase;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;

/** The example of the README, compiled and run. */
class ReadmeTest {

    @Test
    void theExampleDeliversWhatItsTransactionCommitted() throws Exception {
        try (TestDatabase database = TestDatabase.create()) {
            database.execute(
                    "create table orders (id text primary key, status text not null)",
                    "insert into orders values ('42', 'open')");
            BlockingQueue<String> warehouse = new LinkedBlockingQueue<>();
            example(database.dataSource(), warehouse);
            assertThat(warehouse).containsExactly("{\"orderId\": \"42\"}");
        }
    }

    private static void example(DataSource dataSource, BlockingQueue<String> warehouse) throws Exception {
        // README begins
        Postroom postroom = Postroom.on(dataSource);
        postroom.migrations().migrate();

        try (Connection tx = dataSource.getConnection()) {
            tx.setAutoCommit(false);
            try (PreparedStatement confirm =
                    tx.prepareStatement("update orders set status = 'confirmed' where id = ?")) {
                confirm.setString(1, "42");
                confirm.executeUpdate();
            }
            Message message = Message.about("order", "42")
                    .event("OrderConfirmed")
                    .payload("{\"orderId\": \"42\"}")
                    .build();
            postroom.outbox().publish(tx, message);
            tx.commit(); // the order is confirmed and the message is published, or neither
        }

        Subscription subscription =
                Subscription.named("warehouse").eventTypes("OrderConfirmed").build();
        try (Relay relay = postroom.relay()
                .handle(
                        subscription,
                        envelope -> warehouse.add(envelope.message().payload()))
                .build()) {
            relay.start();
            String first = warehouse.poll(10, TimeUnit.SECONDS);
            // README ends
            warehouse.add(String.valueOf(first));
        }
    }

    @Test
    void theReadmeShowsTheExampleAsItIsCompiledHere() throws IOException {
        String source = Files.readString(Path.of("src/test/java/io/postroom/ReadmeTest.java"));
        String example = source.substring(
                        source.indexOf("// README begins\n") + 17, source.indexOf("            // README ends"))
                .lines()
                .map(line -> line.isBlank() ? "" : line.substring(8))
                .collect(Collectors.joining("\n"));
        assertThat(Files.readString(Path.of("../README.md"))).contains(example);
    }
}
