package io.postroom.message;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postroom.Postroom;
import io.postroom.journal.StoredVersions;
import io.postroom.testkit.TestDatabase;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.util.List;
import java.util.stream.Collectors;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The examples of docs/upcasters.md, compiled and run. */
class UpcastExampleTest {

    // source begins
    public static final class ShopUpcasters implements UpcasterSource {
        @Override
        public void register(Upcasters.Builder upcasters) {
            upcasters
                    // Version 2 has customerId where version 1 had customer.
                    .add("OrderPlaced", 1, Upcaster.json(order -> order.set("customerId", order.remove("customer"))))
                    // Version 3 has a currency; everything before was in euros.
                    .add("OrderPlaced", 2, Upcaster.json(order -> order.put("currency", "EUR")))
                    // Version 2 has an optional comment.
                    .add("OrderPaid", 1, Upcaster.unchanged());
        }
    }
    // source ends

    @Test
    void theExampleReadsOldOrdersAsNewOnes() {
        Message old = order(1, "{\"customer\":\"c7\",\"total\":12.50}");
        assertThat(show(upcasters(), old)).isEqualTo("3 {\"total\":12.50,\"customerId\":\"c7\",\"currency\":\"EUR\"}");
        assertThat(show(upcasters(), order(4, "{}"))).startsWith("event version is 4, the newest known here is 3");
    }

    private static String show(Upcasters upcasters, Message message) {
        // reading begins
        Reading reading = upcasters.read(message);
        if (reading instanceof Reading.Read read) {
            return read.message().eventVersion() + " " + read.message().payload();
        }
        return ((Reading.Unreadable) reading).reason();
        // reading ends
    }

    @Test
    void theCheckOfADeploymentFailsForAVersionThatNobodyReads() throws Exception {
        try (TestDatabase database = TestDatabase.create();
                Connection tx = database.begin()) {
            database.postroom().outbox().publishAll(tx, List.of(order(1, "{}"), order(3, "{}")));
            tx.commit();
            check(database.dataSource());
            database.postroom().outbox().publish(tx, order(4, "{}"));
            tx.commit();
            assertThatThrownBy(() -> check(database.dataSource()))
                    .isInstanceOf(AssertionError.class)
                    .hasMessageContaining("OrderPlaced version 4: newer than 3, the newest known here; 1 message");
        }
    }

    private static void check(DataSource production) {
        // check begins
        Upcasters.Builder builder = Upcasters.builder();
        new ShopUpcasters().register(builder);
        List<StoredVersion> stored = StoredVersions.list(Postroom.on(production).database());
        assertThat(builder.build().uncovered(stored))
                .extracting(UpcastCheck::line)
                .isEmpty();
        // check ends
    }

    @ParameterizedTest
    @ValueSource(strings = {"source", "reading", "check"})
    void theDocumentShowsTheExamplesAsTheyAreCompiledHere(String name) throws IOException {
        String source = Files.readString(Path.of("src/test/java/io/postroom/message/UpcastExampleTest.java"));
        String example = source.substring(
                        source.indexOf("// " + name + " begins\n"), source.indexOf("// " + name + " ends"))
                .lines()
                .skip(1)
                .filter(line -> !line.isBlank())
                .collect(Collectors.joining("\n"))
                .stripIndent()
                .replace("public static final", "public final");
        assertThat(Files.readString(Path.of("../docs/upcasters.md"))).contains("```java\n" + example + "\n```");
    }

    private static Upcasters upcasters() {
        Upcasters.Builder builder = Upcasters.builder();
        new ShopUpcasters().register(builder);
        return builder.build();
    }

    private static Message order(int version, String payload) {
        return Message.about("order", "o1")
                .event("OrderPlaced")
                .eventVersion(version)
                .payload(payload)
                .build();
    }
}
