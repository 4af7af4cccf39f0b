package io.postroom.idempotency;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.Postroom;
import io.postroom.testkit.TestDatabase;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The examples of docs/idempotency.md, compiled and run. */
class IdempotencyExampleTest {
    private static final Map<String, String> CHARGED = new ConcurrentHashMap<>();

    @Test
    void theExamplesPlaceAndChargeOnce() throws Exception {
        try (TestDatabase database = TestDatabase.create()) {
            database.execute("create table orders (id text primary key, body text)");
            byte[] body = "{\"item\": 7}".getBytes(java.nio.charset.StandardCharsets.UTF_8);
            assertThat(once(database.postroom(), "t42", "k-1", body)).isEqualTo("201 {\"order\":\"k-1\"}");
            assertThat(once(database.postroom(), "t42", "k-1", body)).isEqualTo("201 {\"order\":\"k-1\"}");
            assertThat(once(database.postroom(), "t42", "k-1", "{}".getBytes(java.nio.charset.StandardCharsets.UTF_8)))
                    .isEqualTo("409 another request has used this key");
            assertThat(steps(database.postroom(), "t42", "k-2", body)).isEqualTo("201 {\"charge\":\"ch-k-2\"}");
            assertThat(steps(database.postroom(), "t42", "k-2", body)).isEqualTo("201 {\"charge\":\"ch-k-2\"}");
            assertThat(database.queryLong("select count(*) from orders")).isEqualTo(2);
            assertThat(CHARGED).hasSize(1);
        }
    }

    private static String once(Postroom postroom, String tenant, String key, byte[] body) throws SQLException {
        // docs begin
        Idempotency idempotency = postroom.idempotency();
        Request request = new Request(new IdempotencyKey(tenant, "order.create", key), CanonicalHash.ofJson(body));

        Outcome outcome = idempotency.once(request, tx -> {
            insertOrder(tx, key, body); // your own tables, and outbox.publish(tx, …) if you like
            return Answer.json(201, "{\"order\":\"" + key + "\"}");
        });

        String response;
        if (outcome instanceof Outcome.Running running) {
            response = "425 try again in " + running.retryAfter().toSeconds() + " s";
        } else if (outcome instanceof Outcome.Mismatch) {
            response = "409 another request has used this key";
        } else { // executed now, or replayed byte for byte
            response = outcome.answer()
                    .map(answer -> answer.status() + " " + answer.text())
                    .orElseThrow();
        }
        // docs end
        return response;
    }

    private static String steps(Postroom postroom, String tenant, String key, byte[] body) throws SQLException {
        Idempotency idempotency = postroom.idempotency();
        Request request =
                new Request(new IdempotencyKey(tenant, "payment.capture", key), CanonicalHash.ofJson(body), key);
        // docs begin
        Outcome outcome = idempotency.steps(request, steps -> {
            String order = steps.step("reserve", tx -> insertOrder(tx, key, body));
            String charge = charge("charge:" + tenant + ":" + order + ":r1"); // a key that stays the same
            steps.step("note", tx -> notePaid(tx, order, charge));
            return Answer.json(201, "{\"charge\":\"" + charge + "\"}");
        });
        // docs end
        return outcome.answer()
                .map(answer -> answer.status() + " " + answer.text())
                .orElseThrow();
    }

    private static String insertOrder(Connection tx, String id, byte[] body) throws SQLException {
        try (PreparedStatement insert = tx.prepareStatement("insert into orders values (?, convert_from(?, 'UTF8'))")) {
            insert.setString(1, id);
            insert.setBytes(2, body);
            insert.executeUpdate();
            return id;
        }
    }

    private static String notePaid(Connection tx, String id, String charge) throws SQLException {
        try (PreparedStatement update = tx.prepareStatement("update orders set body = ? where id = ?")) {
            update.setString(1, charge);
            update.setString(2, id);
            update.executeUpdate();
            return "";
        }
    }

    private static String charge(String key) {
        return CHARGED.computeIfAbsent(key, ignored -> "ch-" + key.split(":")[2]);
    }

    @Test
    void theExamplesInTheDocsAreTheseWordForWord() throws IOException {
        Path root = Path.of("").toAbsolutePath();
        while (!Files.exists(root.resolve("core-tests"))) {
            root = root.getParent();
        }
        String source = Files.readString(
                root.resolve("core-tests/src/test/java/io/postroom/idempotency/IdempotencyExampleTest.java"));
        String docs = Files.readString(root.resolve("docs/idempotency.md"));
        List<String> examples = Pattern.compile("(?s) {8}// docs begin\n(.*?) {8}// docs end\n")
                .matcher(source)
                .results()
                .map(match -> match.group(1).replaceAll("(?m)^ {8}", ""))
                .toList();
        assertThat(examples).hasSize(2);
        assertThat(examples).allSatisfy(example -> assertThat(docs).contains("```java\n" + example + "```"));
    }
}
