package io.postroom.relay;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.Postroom;
import io.postroom.message.Message;
import io.postroom.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class RelayTest {
    static TestDatabase database;
    static Postroom postroom;

    @BeforeAll
    static void create() {
        database = TestDatabase.create();
        postroom = database.postroom();
    }

    @AfterAll
    static void drop() {
        database.close();
    }

    @Test
    void deliversWhatATransactionCommitted() throws SQLException {
        try (Connection tx = database.begin()) {
            for (int i = 0; i < 10; i++) {
                postroom.outbox()
                        .publish(
                                tx,
                                Message.about("order", "o" + i)
                                        .event("OrderPlaced")
                                        .payload("{\"n\":" + i + "}")
                                        .build());
            }
            tx.commit();
        }
        List<String> seen = new ArrayList<>();
        try (Relay relay = postroom.relay()
                .handle(
                        Subscription.named("first").lanes(2).build(),
                        envelope -> seen.add(envelope.message().payload()))
                .build()) {
            assertThat(relay.runOnce()).isEqualTo(10);
        }
        assertThat(seen).hasSize(10);
    }
}
