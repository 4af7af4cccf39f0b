package io.postroom.server.message;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.message.Message;
import io.postroom.server.CommandRun;
import io.postroom.testkit.TestDatabase;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.json.JsonMapper;

class RevealOptionsTest {
    private static TestDatabase database;

    @TempDir
    private Path folder;

    @BeforeAll
    static void create() {
        database = TestDatabase.create();
    }

    @AfterAll
    static void drop() {
        database.close();
    }

    private static CommandRun run(String... arguments) {
        return CommandRun.of(Map.of("POSTROOM_URL", database.url()), arguments);
    }

    @Test
    void masksPayloadsAsTheConsoleDoesAndRevealsThemWithAReasonThatIsAudited() throws Exception {
        try (Connection tx = database.begin()) {
            database.postroom()
                    .outbox()
                    .publish(
                            tx,
                            Message.about("person", "p-1")
                                    .event("person.born")
                                    .payload("{\"name\":\"Ada\",\"born\":{\"year\":1815}}")
                                    .build());
            tx.commit();
        }
        database.postroom().journal().stampAll();
        String id = JsonMapper.shared()
                .readTree(run("message", "list", "--type", "person.born", "-o", "json")
                        .out())
                .get(0)
                .get("id")
                .stringValue();
        CommandRun masked = run("message", "payload", id);
        assertThat(masked.out().strip()).isEqualTo("{\"name\":\"•••\",\"born\":{\"year\":\"•••\"}}");
        assertThat(masked.err()).contains("values are masked; --reveal");
        assertThat(run("message", "list", "--data", "name=Ada").err()).contains("payloads are masked");
        assertThat(run("message", "payload", id, "--reveal").err()).contains("--reason is missing");
        assertThat(audited(id)).isZero();

        assertThat(run("message", "payload", id, "--reveal", "--reason", "ticket 1", "--actor", "bert")
                        .out()
                        .strip())
                .isEqualTo("{\"name\":\"Ada\",\"born\":{\"year\":1815}}");
        assertThat(audited(id)).isEqualTo(1);
        CommandRun searched = run(
                "message",
                "list",
                "--data",
                "name=Ada",
                "--reveal",
                "--reason",
                "ticket 1",
                "--actor",
                "bert",
                "-o",
                "json");
        assertThat(searched.out()).contains(id);
        assertThat(database.queryLong(
                        "select count(*) from postroom.audit where action = 'payload reveal' and actor = 'bert'"
                                + " and subject = 'messages by name' and reason = 'ticket 1'"))
                .isEqualTo(1);

        Path hidden = Files.writeString(folder.resolve("hidden.yaml"), "console: {payloads: hidden}\n");
        assertThat(run("message", "payload", id, "-c", hidden.toString(), "--reveal", "--reason", "x")
                        .err())
                .contains("console.payloads is hidden");
        Path shown = Files.writeString(folder.resolve("shown.yaml"), "console: {payloads: shown}\n");
        assertThat(run("message", "payload", id, "-c", shown.toString()).out()).contains("Ada");
        assertThat(audited(id)).as("what was never masked is not revealed").isEqualTo(1);
    }

    private static long audited(String id) {
        return database.queryLong(
                "select count(*) from postroom.audit where action = 'payload reveal' and subject = 'message " + id
                        + "'");
    }
}
