package io.postroom.server.schema;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.postgres.Migrations;
import io.postroom.server.CommandRun;
import io.postroom.testkit.TestDatabase;
import io.postroom.testkit.TestPostgres;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.json.JsonMapper;

class SchemaCommandTest {
    private TestDatabase database;

    @BeforeEach
    void create() {
        database = TestDatabase.empty(TestPostgres.shared());
    }

    @AfterEach
    void drop() {
        database.close();
    }

    @Test
    void migratesOnceAndSaysWhatItDid() {
        CommandRun first = run("schema", "migrate", "-o", "json");
        assertThat(first.exitCode()).isZero();
        assertThat(rows(first.out())).hasSize(Migrations.latest()).allMatch(row -> "applied".equals(row.get("state")));
        CommandRun second = run("schema", "migrate", "-o", "json");
        assertThat(second.out()).isEqualTo("[]\n");
        assertThat(second.err()).contains("nothing to do");
    }

    @Test
    void validatesWithExitCodeFour() {
        CommandRun before = run("schema", "validate");
        assertThat(before.exitCode()).isEqualTo(4);
        assertThat(before.err()).contains("run postroom schema migrate").hasLineCount(1);
        run("schema", "migrate");
        assertThat(run("schema", "validate").exitCode()).isZero();
        database.execute("update postroom.migration set checksum = 'other' where version = 2");
        assertThat(run("schema", "validate").exitCode()).isEqualTo(4);
    }

    @Test
    void showsWhatIsPendingInEveryFormat() {
        assertThat(run("schema", "status").out()).startsWith("VERSION").contains("pending");
        assertThat(rows(run("schema", "status", "-o", "json").out()))
                .allMatch(row -> "pending".equals(row.get("state")));
        assertThat(run("schema", "status", "-o", "jsonl").out().lines()).hasSize(Migrations.latest());
    }

    @Test
    void usesAnotherSchema() {
        assertThat(run("schema", "migrate", "--schema", "messaging").exitCode()).isZero();
        assertThat(run("schema", "validate", "--schema", "messaging").exitCode())
                .isZero();
        assertThat(run("schema", "validate").exitCode()).isEqualTo(4);
    }

    @Test
    void refusesToListOrTailWithoutASchema() {
        for (String command : List.of("subscription list", "lane list", "tail --subscription me")) {
            CommandRun run = run(command.split(" "));
            assertThat(run.exitCode()).isEqualTo(1);
            assertThat(run.err()).contains("run postroom schema migrate").hasLineCount(1);
        }
    }

    private CommandRun run(String... arguments) {
        return CommandRun.of(Map.of("POSTROOM_URL", database.url()), arguments);
    }

    private static List<Map<String, Object>> rows(String json) {
        return JsonMapper.shared().readValue(json, new TypeReference<>() {});
    }
}
