package io.postroom.externalcall;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.Postroom;
import io.postroom.idempotency.CanonicalHash;
import io.postroom.testkit.FakeProvider;
import io.postroom.testkit.TestDatabase;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The examples of docs/external-calls.md, compiled and run. */
class ExternalCallExampleTest {
    @Test
    void theExamplesCharge() throws InterruptedException {
        try (TestDatabase database = TestDatabase.create();
                FakeProvider provider = FakeProvider.start()) {
            database.execute("create table paid (business_id text, reference text)");
            assertThat(first(database.postroom(), provider.url(), "{\"amount\":\"19.99\"}"))
                    .isEqualTo("ship it, paid by ch_1");
            second(database.postroom(), provider.url(), "{\"amount\":\"5.00\"}");
            assertThat(database.queryLong("select count(*) from paid where reference = 'ch_2'"))
                    .isEqualTo(1);
            assertThat(provider.charges()).isEqualTo(2);
        }
    }

    private static String first(Postroom postroom, String url, String body) throws InterruptedException {
        // docs begin
        ExternalCalls calls = postroom.externalCalls(); // a window of 24 hours, a lease of a minute
        ExternalOperation charge = ExternalOperation.of("charge", "t42", "order-991"); // charge:t42:order-991:r1
        byte[] hash = CanonicalHash.ofJson(body.getBytes(StandardCharsets.UTF_8));

        ExternalCall call = calls.perform(charge, hash, key -> FakeProvider.charge(url, key, body));
        String next = switch (call.state()) {
            case DONE -> "ship it, paid by " + call.reference();
            case DECLINED -> "ask for another card: " + call.reason();
            case CALLING -> "try again later, under the same key";
            case NEEDS_RECONCILIATION -> "wait until somebody has looked at the provider";
        };
        // docs end
        return next;
    }

    private static void second(Postroom postroom, String url, String body) throws InterruptedException {
        ExternalCalls calls = postroom.externalCalls();
        ExternalOperation charge = ExternalOperation.of("charge", "t42", "order-992");
        byte[] hash = CanonicalHash.ofJson(body.getBytes(StandardCharsets.UTF_8));
        // docs begin
        if (calls.begin(charge, hash) instanceof Turn.Yours yours) { // the key is committed now
            String reference = pay(url, yours.key(), body);
            postroom.database().transact(tx -> {
                markPaid(tx, "order-991", reference);
                return calls.done(tx, yours, reference); // refused if somebody else has the turn by now: roll back
            });
        }
        // docs end
    }

    private static String pay(String url, String key, String body) throws InterruptedException {
        return ((ProviderAnswer.Done) FakeProvider.charge(url, key, body)).reference();
    }

    private static void markPaid(Connection tx, String order, String reference) throws SQLException {
        try (PreparedStatement paid = tx.prepareStatement("insert into paid values (?, ?)")) {
            paid.setString(1, order);
            paid.setString(2, reference);
            paid.executeUpdate();
        }
    }

    @Test
    void theExamplesInTheDocsAreTheseWordForWord() throws IOException {
        Path root = Path.of("").toAbsolutePath();
        while (!Files.exists(root.resolve("core-tests"))) {
            root = root.getParent();
        }
        String source = Files.readString(
                root.resolve("core-tests/src/test/java/io/postroom/externalcall/ExternalCallExampleTest.java"));
        String docs = Files.readString(root.resolve("docs/external-calls.md"));
        List<String> examples = Pattern.compile("(?s) {8}// docs begin\n(.*?) {8}// docs end\n")
                .matcher(source)
                .results()
                .map(match -> match.group(1).replaceAll("(?m)^ {8}", ""))
                .toList();
        assertThat(examples).hasSize(2);
        assertThat(examples).allSatisfy(example -> assertThat(docs).contains("```java\n" + example + "```"));
    }
}
