package io.postroom.fault;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.message.Message;
import io.postroom.relay.Handler;
import io.postroom.relay.Outcome;
import io.postroom.relay.Relay;
import io.postroom.relay.Subscription;
import io.postroom.retry.RetryPolicy;
import io.postroom.testkit.Messages;
import io.postroom.testkit.RecordingSink;
import io.postroom.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What is kept of failures that really happened, from the handler that threw to the operator who reads it. */
class FailureRecordTest {
    private static final String SECRET = "hunter2";

    private TestDatabase database;

    @BeforeEach
    void create() {
        database = TestDatabase.create();
    }

    @AfterEach
    void drop() {
        database.close();
    }

    @Test
    void aDeadLetterTellsOfEachAttemptWhenWhereHowLongAndWhy() throws Exception {
        Message message = Messages.order("a");
        publish(List.of(message));
        Instant begin = now();
        deliver("node-a", billing(3), FailureRecordTest::fail);
        makeDue();
        deliver("node-b", billing(3), FailureRecordTest::fail);
        makeDue();
        deliver("node-b", billing(3), FailureRecordTest::fail);
        Instant end = now();

        JsonNode history = JsonMapper.shared()
                .readTree(string("select history from postroom.dead_letter where message_id = '" + message.id() + "'"));
        assertThat(history.size()).isEqualTo(3);
        String fingerprint = string("select fingerprint from postroom.dead_letter");
        assertThat(fingerprint).isNotBlank();
        Instant last = begin;
        for (int n = 0; n < 3; n++) {
            JsonNode attempt = history.get(n);
            assertThat(attempt.propertyNames())
                    .containsExactlyInAnyOrder(
                            "attempt", "at", "seconds", "node", "outcome", "errorClass", "error", "fingerprint");
            assertThat(attempt.get("attempt").asInt()).isEqualTo(n + 1);
            Instant at = OffsetDateTime.parse(attempt.get("at").asString()).toInstant();
            assertThat(at).isBetween(last, end);
            last = at;
            assertThat(attempt.get("seconds").asDouble())
                    .isBetween(0.0, Duration.between(begin, end).toMillis() / 1_000.0);
            assertThat(attempt.get("node").asString()).isEqualTo(n == 0 ? "node-a" : "node-b");
            assertThat(attempt.get("outcome").asString()).isEqualTo("retry");
            assertThat(attempt.get("errorClass").asString()).isEqualTo("java.lang.IllegalStateException");
            assertThat(attempt.get("error").asString())
                    .contains("no room for the order", "password=***")
                    .doesNotContain(SECRET);
            assertThat(attempt.get("fingerprint").asString()).isEqualTo(fingerprint);
        }
        assertThat(string("select concat_ws('|', cause, attempts, error_class, buried_by) from postroom.dead_letter"))
                .isEqualTo("exhausted|3|java.lang.IllegalStateException|node-b");
    }

    @Test
    void noSecretThatAnErrorNamesReachesATableTheLogOrAnAnswer() throws Exception {
        Message buried = Messages.order("buried");
        Message waiting = Messages.order("waiting");
        publish(List.of(buried, waiting));
        String log;
        try (CapturedLog captured = new CapturedLog()) {
            deliver("a", billing(1), FailureRecordTest::fail);
            deliver("a", named("waiting", 9), FailureRecordTest::fail);
            RecordingSink down = new RecordingSink()
                    .answer(message -> true, Outcome.unavailable("refused, token=" + SECRET + " is not known"));
            try (Relay relay = relay("a").deliver(named("down", 9), down).build()) {
                relay.runOnce();
                // The beat shows what the last one found.
                relay.runOnce();
                assertThat(contain("circuit", "token=***")).isTrue();
                assertThat(contain("circuit", SECRET)).isFalse();
            }
            log = captured.text();
        }
        for (String table : List.of("attempt", "dead_letter", "delivery")) {
            assertThat(contain(table, "password=***")).as(table).isTrue();
            assertThat(contain(table, SECRET)).as(table).isFalse();
        }
        assertThat(log).contains("password=***", "token=***").doesNotContain(SECRET);
        String why = database.postroom().diagnosis().why(buried.id())
                + database.postroom().diagnosis().why(waiting.id()).toString();
        assertThat(why).contains("password=***").doesNotContain(SECRET);
    }

    private static void fail(Object envelope) {
        throw new IllegalStateException(
                "no room for the order", new IllegalArgumentException("login failed: password=" + SECRET));
    }

    private static Subscription billing(int attempts) {
        return named("billing", attempts);
    }

    private static Subscription named(String name, int attempts) {
        return Subscription.named(name)
                .lanes(1)
                .retry(RetryPolicy.builder()
                        .linear(Duration.ofHours(1))
                        .attemptsMax(attempts)
                        .build())
                .build();
    }

    private Relay.Builder relay(String node) {
        return database.postroom().relay().name(node);
    }

    private void deliver(String node, Subscription subscription, Handler handler) {
        try (Relay relay = relay(node).handle(subscription, handler).build()) {
            relay.runOnce();
        }
    }

    private void makeDue() {
        database.execute("update postroom.delivery set due_at = now() where state = 'waiting'");
    }

    private void publish(List<Message> messages) throws Exception {
        try (Connection tx = database.begin()) {
            database.postroom().outbox().publishAll(tx, messages);
            tx.commit();
        }
    }

    private boolean contain(String table, String text) {
        return database.queryLong(
                        "select count(*) from postroom." + table + " as t where t::text like '%" + text + "%'")
                > 0;
    }

    private Instant now() throws Exception {
        return OffsetDateTime.parse(string("select to_json(clock_timestamp()) #>> '{}'"))
                .toInstant();
    }

    private String string(String sql) throws Exception {
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            assertThat(row.next()).isTrue();
            return row.getString(1);
        }
    }
}
