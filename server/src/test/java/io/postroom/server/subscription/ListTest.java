package io.postroom.server.subscription;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.relay.Relay;
import io.postroom.relay.Subscription;
import io.postroom.server.CommandRun;
import io.postroom.testkit.Messages;
import io.postroom.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class ListTest {
    private static TestDatabase database;
    private static Relay relay;

    @BeforeAll
    static void create() throws Exception {
        database = TestDatabase.create();
        relay = database.postroom()
                .relay()
                .name("node-1")
                .handle(
                        Subscription.named("billing")
                                .lanes(2)
                                .eventTypes("A", "B")
                                .build(),
                        envelope -> {})
                .build();
        relay.runOnce();
        try (Connection tx = database.begin()) {
            database.postroom().outbox().publishAll(tx, Messages.ofManyKeys("o", 10));
            tx.commit();
        }
        database.postroom().journal().stampAll();
    }

    @AfterAll
    static void drop() {
        relay.close();
        database.close();
    }

    @Test
    void showsHowFarASubscriptionIsBehind() {
        JsonNode row = rows("subscription", "list", "-o", "json").get(0);
        assertThat(row.get("name").asString()).isEqualTo("billing");
        assertThat(row.get("lagMessages").asLong()).isEqualTo(10);
        assertThat(row.get("lagSeconds").asDouble()).isGreaterThanOrEqualTo(0);
        assertThat(row.get("lanesLeased").asInt()).isEqualTo(2);
        assertThat(row.get("eventTypes").size()).isEqualTo(2);
        assertThat(row.get("tenants").isNull()).isTrue();
    }

    /** Relays give positions: where none lives, nothing but the outbox tells that something waits. */
    @Test
    void isBehindThoughNobodyGivesPositions() throws SQLException {
        try (TestDatabase lonely = TestDatabase.create()) {
            try (Relay gone = lonely.postroom()
                    .relay()
                    .handle(Subscription.named("billing").build(), envelope -> {})
                    .build()) {
                gone.runOnce();
            }
            try (Connection tx = lonely.begin()) {
                lonely.postroom().outbox().publishAll(tx, Messages.ofManyKeys("o", 3));
                tx.commit();
            }
            CommandRun run = CommandRun.of(Map.of("POSTROOM_URL", lonely.url()), "subscription", "list", "-o", "json");
            JsonNode row = JsonMapper.shared().readTree(run.out()).get(0);
            assertThat(row.get("state").asString()).isEqualTo("unserved");
            assertThat(row.get("lagMessages").asLong()).isEqualTo(3);
            assertThat(row.get("lagSeconds").asDouble()).isPositive();
        }
    }

    @Test
    void showsWhoHasALane() {
        JsonNode row =
                rows("lane", "list", "--subscription", "billing", "-o", "json").get(1);
        assertThat(row.get("lane").asInt()).isEqualTo(1);
        assertThat(row.get("ownerName").asString()).isEqualTo("node-1");
        assertThat(row.get("held").asBoolean()).isTrue();
        assertThat(row.get("owner").asString()).isEqualTo(relay.id().toString());
    }

    @Test
    void saysWhichSubscriptionMayBeMeant() {
        CommandRun run = run("lane", "list", "--subscription", "biling");
        assertThat(run.exitCode()).isEqualTo(3);
        assertThat(run.err()).contains("did you mean billing?");
    }

    @Test
    void printsTablesWithoutColours() {
        assertThat(run("subscription", "list").out()).contains("billing").doesNotContain("\u001b");
        assertThat(run("lane", "list").out().lines()).hasSize(3);
    }

    private static List<JsonNode> rows(String... arguments) {
        return JsonMapper.shared().readTree(run(arguments).out()).values().stream()
                .toList();
    }

    private static CommandRun run(String... arguments) {
        return CommandRun.of(Map.of("POSTROOM_URL", database.url()), arguments);
    }
}
