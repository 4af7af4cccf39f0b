package io.postroom.server.message;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.message.Message;
import io.postroom.server.CommandRun;
import io.postroom.testkit.TestDatabase;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class MessageCommandTest {
    private static TestDatabase database;

    @TempDir
    Path folder;

    @BeforeAll
    static void create() throws Exception {
        database = TestDatabase.create();
        try (Connection tx = database.begin()) {
            database.postroom()
                    .outbox()
                    .publishAll(
                            tx,
                            List.of(
                                    message("order.placed", 1),
                                    message("order.placed", 2),
                                    message("order.placed", 4),
                                    message("order.placed", 4),
                                    message("order.shipped", 5)));
            tx.commit();
        }
    }

    @AfterAll
    static void drop() {
        database.close();
    }

    @Test
    void listsShowsAndPrintsMessages() throws Exception {
        database.postroom().journal().stampAll();
        CommandRun list = run("message", "list", "--type", "order.shipped", "--from", "1h", "-o", "json");
        assertThat(list.exitCode()).as(list.err()).isZero();
        JsonNode rows = JsonMapper.shared().readTree(list.out());
        assertThat(rows.size()).isEqualTo(1);
        String id = rows.get(0).get("id").stringValue();
        assertThat(run("message", "list", "-o", "jsonl", "--limit", "2").out().lines())
                .hasSize(2);
        assertThat(run("message", "list", "--until", "now-2h", "-o", "json")
                        .out()
                        .strip())
                .isEqualTo("[]");
        assertThat(run("message", "list", "--data", "x").exitCode()).isEqualTo(2);
        assertThat(run("message", "list", "--limit", "0").exitCode()).isEqualTo(2);
        JsonNode shown = JsonMapper.shared()
                .readTree(run("message", "show", id, "-o", "json").out());
        assertThat(shown.get(0).get("eventType").stringValue()).isEqualTo("order.shipped");
        assertThat(shown.get(0).get("transaction").stringValue()).matches("\\d+");
        assertThat(run("message", "show", id).out()).contains("eventType       order.shipped");
        assertThat(JsonMapper.shared()
                        .readTree(run("message", "payload", id).out())
                        .isObject())
                .isTrue();
        assertThat(run("message", "show", "00000000-0000-4000-8000-000000000001")
                        .exitCode())
                .isEqualTo(3);
        assertThat(run("message", "show", "x").exitCode()).isEqualTo(2);
    }

    @Test
    void showsWhatTheDatabaseHolds() {
        assertThat(run("database", "tables").out()).contains("outbox");
        assertThat(run("database", "partitions", "-o", "json").out()).contains("\"daysAhead\"");
        assertThat(run("database", "holders", "-o", "json").exitCode()).isZero();
    }

    @Test
    void listsWhatIsStoredAndFailsIfSomeOfItCannotBeRead() throws IOException {
        CommandRun run =
                run("message", "versions", "-o", "json", "--plugins", orders(3).toString());
        assertThat(run.exitCode()).isEqualTo(4);
        assertThat(run.err())
                .isEqualTo("postroom: order.placed version 4: newer than 3, the newest known here; 2 messages\n");
        JsonNode rows = JsonMapper.shared().readTree(run.out());
        assertThat(rows.size()).isEqualTo(4);
        assertThat(rows.get(0).propertyNames())
                .containsExactly(
                        "eventType",
                        "eventVersion",
                        "messages",
                        "deadLetters",
                        "oldestDay",
                        "newestDay",
                        "readAs",
                        "registered",
                        "covered",
                        "problem");
        assertThat(rows.get(0).get("readAs").intValue()).isEqualTo(3);
        assertThat(rows.get(0).get("covered").booleanValue()).isTrue();
        assertThat(rows.get(0).get("problem").isNull()).isTrue();
        assertThat(rows.get(2).get("eventVersion").intValue()).isEqualTo(4);
        assertThat(rows.get(2).get("messages").longValue()).isEqualTo(2);
        assertThat(rows.get(2).get("readAs").isNull()).isTrue();
        assertThat(rows.get(2).get("covered").booleanValue()).isFalse();
        assertThat(rows.get(2).get("problem").stringValue()).isEqualTo("newer than 3, the newest known here");
        assertThat(rows.get(3).get("registered").booleanValue()).isFalse();
        assertThat(rows.get(3).get("readAs").intValue()).isEqualTo(5);
    }

    @Test
    void succeedsIfEverythingCanBeRead() throws IOException {
        CommandRun run = run("message", "versions", "--plugins", orders(4) + "," + library());
        assertThat(run.exitCode()).isZero();
        assertThat(run.err()).isEmpty();
        assertThat(run.out().lines()).hasSize(5);
        assertThat(run.out()).startsWith("EVENT TYPE").contains("order.placed").doesNotContain("\u001b");
    }

    @Test
    void saysThatItFoundNoUpcastersSoThatNobodyTrustsTheAnswer() {
        CommandRun run = run("message", "versions", "-o", "jsonl");
        assertThat(run.exitCode()).isZero();
        assertThat(run.err()).contains("no upcasters were found, so every version is read as it is");
        assertThat(run.out().lines()).hasSize(4).allMatch(line -> line.contains("\"registered\":false"));
    }

    @Test
    void refusesPluginsThatItCannotUseBeforeItConnects() {
        CommandRun run = CommandRun.of(
                "message", "versions", "--plugins", folder.resolve("no.jar").toString());
        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(run.err()).contains("no.jar does not exist");
        assertThat(run.out()).isEmpty();
    }

    @Test
    void explainsItselfWithExamples() {
        CommandRun run = CommandRun.of("message", "versions", "--help");
        assertThat(run.exitCode()).isZero();
        assertThat(run.out())
                .startsWith("Usage: postroom message versions")
                .contains("Examples")
                .contains("--plugins");
        assertThat(CommandRun.of("message").err())
                .contains("a command is missing; one of list, payload, show, versions");
    }

    @Test
    void showsNothingThatATerminalObeys() throws IOException {
        try (TestDatabase hostile = TestDatabase.create()) {
            hostile.execute(
                    "insert into postroom.outbox (id, aggregate_type, aggregate_id, event_type, event_version, payload)"
                            + " values (gen_random_uuid(), 'order', 'o', E'red\\x1b[31m', 1, '{}')");
            CommandRun run = CommandRun.of(Map.of("POSTROOM_URL", hostile.url()), "message", "versions");
            assertThat(run.out()).contains("red\\u001b[31m").doesNotContain("\u001b");
        }
    }

    /** Upcasters of orders up to a version. */
    private Path orders(int newest) throws IOException {
        return PluginJar.of(
                folder,
                "OrdersTo" + newest,
                "for (int version = 1; version < " + newest
                        + "; version++) upcasters.add(\"order.placed\", version, Upcaster.unchanged());");
    }

    private Path library() throws IOException {
        return PluginJar.naming(folder.resolve("library.jar"), "");
    }

    private static CommandRun run(String... arguments) {
        return CommandRun.of(Map.of("POSTROOM_URL", database.url()), arguments);
    }

    private static Message message(String eventType, int version) {
        return Message.about("order", "o1")
                .event(eventType)
                .eventVersion(version)
                .payload("{}")
                .build();
    }
}
