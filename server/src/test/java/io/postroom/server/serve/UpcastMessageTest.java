package io.postroom.server.serve;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.message.Message;
import io.postroom.message.Upcaster;
import io.postroom.message.Upcasters;
import java.sql.Connection;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** A message of an old version in the console: as its readers get it, and as it is stored. */
class UpcastMessageTest {
    private static final Message OLD = Message.about("order", "o-1")
            .event("OrderPlaced")
            .payload("{\"customer\":77}")
            .build();
    private static final Message TOO_NEW = Message.about("order", "o-2")
            .event("OrderPlaced")
            .eventVersion(9)
            .payload("{\"client\":77}")
            .build();

    private static ConsoleUnderTest console;

    @BeforeAll
    static void start() throws Exception {
        Upcasters upcasters = Upcasters.builder()
                .add("OrderPlaced", 1, Upcaster.json(order -> order.set("customerId", order.remove("customer"))))
                .build();
        console = ConsoleUnderTest.start(upcasters, database -> {
            try (Connection tx = database.begin()) {
                database.postroom().outbox().publish(tx, OLD);
                database.postroom().outbox().publish(tx, TOO_NEW);
                tx.commit();
            }
            database.postroom().journal().stampAll();
        });
    }

    @AfterAll
    static void stop() {
        console.close();
    }

    @Test
    void isShownAsReadersGetItWithALinkToWhatIsStored() throws Exception {
        assertThat(console.get("/messages/" + OLD.id()).body())
                .contains("\"customerId\": 77", "As readers get it: version 2. Stored is version 1", "?as=stored");
        assertThat(console.get("/messages/" + OLD.id() + "?as=stored").body())
                .contains("\"customer\": 77", "As it is stored: version 1. Readers get version 2");
        assertThat(console.get("/messages/" + OLD.id() + "/payload").body()).isEqualTo("{\"customerId\":77}");
        assertThat(console.get("/messages/" + OLD.id() + "/payload?as=stored").body())
                .isEqualTo(OLD.payload());
        assertThat(console.get("/messages/" + OLD.id() + "?as=new").statusCode())
                .isEqualTo(400);
    }

    @Test
    void isAnsweredToACallAsItIsStoredAndAsReadersGetIt() throws Exception {
        assertThat(console.get("/api/v1/messages/" + OLD.id()).body())
                .contains("\"eventVersion\":1", "\"payload\":{\"customer\":77}")
                .contains("\"read\":{\"eventVersion\":2,\"payload\":{\"customerId\":77}}", "\"unreadable\":null");
    }

    @Test
    void thatCannotBeReadIsShownAsItIsStoredWithTheReason() throws Exception {
        assertThat(console.get("/messages/" + TOO_NEW.id()).body())
                .contains("\"client\": 77", "event version is 9, the newest known here is 2");
        assertThat(console.get("/api/v1/messages/" + TOO_NEW.id()).body())
                .contains("\"read\":null", "\"unreadable\":\"event version is 9");
    }
}
