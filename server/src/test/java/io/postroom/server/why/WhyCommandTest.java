package io.postroom.server.why;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.message.Message;
import io.postroom.relay.Outcome;
import io.postroom.relay.Relay;
import io.postroom.relay.Subscription;
import io.postroom.server.CommandRun;
import io.postroom.testkit.Messages;
import io.postroom.testkit.RecordingSink;
import io.postroom.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class WhyCommandTest {
    private static TestDatabase database;
    private static final Message DELIVERED = Messages.order("good");
    private static final Message REFUSED = Messages.order("bad");

    @BeforeAll
    static void create() throws SQLException {
        database = TestDatabase.create();
        publish(DELIVERED);
        publish(REFUSED);
        RecordingSink sink = new RecordingSink();
        sink.answer(message -> message.id().equals(REFUSED.id()), Outcome.rejected("not a \u001b[31mcustomer"));
        try (Relay relay = database.postroom()
                .relay()
                .deliver(Subscription.named("billing").lanes(1).build(), sink)
                .deliver(Subscription.named("archive").lanes(1).build(), new RecordingSink())
                .build()) {
            relay.runOnce();
        }
    }

    @AfterAll
    static void drop() {
        database.close();
    }

    @Test
    void tellsThatEverybodyHasAMessage() {
        CommandRun run = run("why", DELIVERED.id().toString());
        assertThat(run.exitCode()).isZero();
        assertThat(run.err()).isEmpty();
        assertThat(run.out())
                .startsWith("message " + DELIVERED.id()
                        + ", OrderConfirmed version 1 of order good, position 1, stamped 20")
                .contains("\narchive: done: was delivered by relay relay, no later than 20")
                .contains(": lane 0 is at position 2, past it\n    reason           why.delivered\n")
                .contains("\nbilling: done: ");
    }

    @Test
    void putsWhatIsStuckFirstWithWhatToDoNext() {
        CommandRun run = run("why", REFUSED.id().toString());
        assertThat(run.exitCode()).isEqualTo(4);
        assertThat(run.out()).doesNotContain("\u001b");
        assertThat(run.out().indexOf("billing: stuck: was given up (rejected) after 1 attempt: dead letter 1"))
                .isPositive()
                .isLessThan(run.out().indexOf("archive: done: "));
        assertThat(run.out()).contains("\n    next: postroom deadletter show 1\n");
    }

    @Test
    void writesOneObjectOrALineForEachAnswer() {
        CommandRun whole = run("why", REFUSED.id().toString(), "-o", "json");
        JsonNode why = JsonMapper.shared().readTree(whole.out());
        assertThat(whole.exitCode()).isEqualTo(4);
        assertThat(why.propertyNames()).containsExactly("messageId", "verdict", "message", "answers");
        assertThat(why.get("message").propertyNames())
                .containsExactly(
                        "tenantId",
                        "aggregateType",
                        "aggregateId",
                        "eventType",
                        "eventVersion",
                        "occurredAt",
                        "availableAt",
                        "day",
                        "position",
                        "stampedAt",
                        "copies");
        JsonNode answer = why.get("answers").get(0);
        assertThat(answer.propertyNames()).containsExactly("subscription", "verdict", "reasons");
        JsonNode reason = answer.get("reasons").get(0);
        assertThat(reason.propertyNames()).containsExactly("code", "sentence", "evidence", "next");
        assertThat(reason.get("code").stringValue()).isEqualTo("why.dead-letter");
        assertThat(reason.get("evidence").get("deadLetter").longValue()).isOne();
        CommandRun lines = run("why", REFUSED.id().toString(), "-o", "jsonl");
        assertThat(lines.out().lines())
                .hasSize(2)
                .allMatch(line -> line.startsWith("{\"messageId\":\"" + REFUSED.id()));
    }

    @Test
    void tellsOfOneSubscription() {
        CommandRun run = run("why", REFUSED.id().toString(), "--subscription", "archive");
        assertThat(run.exitCode()).isZero();
        assertThat(run.out()).contains("archive: done").doesNotContain("billing");
        CommandRun unknown = run("why", REFUSED.id().toString(), "--subscription", "archiv");
        assertThat(unknown.exitCode()).isEqualTo(3);
        assertThat(unknown.err()).contains("there is no subscription 'archiv'; there are archive, billing");
    }

    @Test
    void tellsThatAMessageIsNotThere() {
        UUID nobody = Messages.sample().id();
        CommandRun run = run("why", nobody.toString());
        assertThat(run.exitCode()).isEqualTo(3);
        assertThat(run.out()).contains("not found: no committed message and no dead letter has this id");
    }

    @Test
    void tellsThatAMessageIsOnItsWay() throws SQLException {
        try (TestDatabase fresh = TestDatabase.create();
                Connection tx = fresh.begin()) {
            fresh.postroom().outbox().publish(tx, DELIVERED);
            tx.commit();
            fresh.execute(
                    "insert into postroom.subscription (name, lanes) values ('billing', 1)",
                    "insert into postroom.lane (subscription, lane, position) values ('billing', 0, 0)",
                    "insert into postroom.relay (id, name, subscriptions, leased_until)"
                            + " values (gen_random_uuid(), 'node', '{billing}', now() + interval '1 minute')");
            CommandRun run = CommandRun.of(
                    Map.of("POSTROOM_URL", fresh.url()), "why", DELIVERED.id().toString());
            assertThat(run.exitCode()).isEqualTo(5);
            assertThat(run.out()).contains("billing: on its way: is committed and has no position yet");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"42", "1-1-1-1-1", "019a8f6e-3c1d-7b42-9d7e-0c5b7a1f2e3g", "' or true"})
    void refusesWhatIsNoId(String id) {
        CommandRun run = run("why", id);
        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(run.err()).contains("could not look for message '" + id + "': a message id is a UUID");
    }

    @Test
    void needsAnId() {
        assertThat(run("why").exitCode()).isEqualTo(2);
        assertThat(run("why").err()).contains("ID is missing; give ID: the message's id, a UUID");
        assertThat(CommandRun.of("why", "--help").out())
                .startsWith("Usage: postroom why")
                .contains("Examples");
    }

    private static CommandRun run(String... arguments) {
        return CommandRun.of(Map.of("POSTROOM_URL", database.url()), arguments);
    }

    private static void publish(Message message) throws SQLException {
        try (Connection tx = database.begin()) {
            database.postroom().outbox().publish(tx, message);
            tx.commit();
        }
    }
}
