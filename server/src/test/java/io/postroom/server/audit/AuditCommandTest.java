package io.postroom.server.audit;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.server.CommandRun;
import io.postroom.testkit.TestDatabase;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class AuditCommandTest {
    private static TestDatabase database;

    /** Anna paused billing a day ago; just now she resumed it, and bert paused shipping. */
    @BeforeAll
    static void act() {
        database = TestDatabase.create();
        database.execute("insert into postroom.subscription (name, lanes) values ('billing', 1), ('shipping', 1)");
        subscription("pause", "billing", "--actor", "anna", "--reason", "broker upgrade");
        database.execute("update postroom.audit set at = at - interval '1 day'");
        subscription("resume", "billing", "--actor", "anna", "--reason", "done \u200b");
        subscription("pause", "shipping", "--actor", "bert", "--reason", "me too");
    }

    @AfterAll
    static void drop() {
        database.close();
    }

    private static void subscription(String... arguments) {
        CommandRun run = run(
                Stream.concat(Stream.of("subscription"), Stream.of(arguments)).toArray(String[]::new));
        assertThat(run.exitCode()).as(run.err()).isZero();
    }

    private static CommandRun run(String... arguments) {
        return CommandRun.of(Map.of("POSTROOM_URL", database.url()), arguments);
    }

    private static List<String> reasons(String... arguments) {
        CommandRun run = run(Stream.concat(Stream.of("audit", "list", "-o", "json"), Stream.of(arguments))
                .toArray(String[]::new));
        assertThat(run.exitCode()).as(run.err()).isZero();
        return JsonMapper.shared().readTree(run.out()).values().stream()
                .map(row -> row.get("reason").asString())
                .toList();
    }

    @Test
    void listsWhatOperatorsDidNewestFirst() {
        assertThat(reasons()).containsExactly("me too", "done \u200b", "broker upgrade");
        assertThat(reasons("--subject", "subscription billing")).containsExactly("done \u200b", "broker upgrade");
        assertThat(reasons("--action", "subscription pause")).containsExactly("me too", "broker upgrade");
        assertThat(reasons("--actor", "bert")).containsExactly("me too");
        assertThat(reasons("--since", "2h")).containsExactly("me too", "done \u200b");
        assertThat(reasons("--until", "2h")).containsExactly("broker upgrade");
        assertThat(reasons("--actor", "nobody")).isEmpty();
    }

    @Test
    void goesOnWhereAPageEnded() {
        CommandRun first = run("audit", "list", "--limit", "2", "-o", "jsonl");
        assertThat(first.out().lines()).hasSize(2);
        assertThat(first.err()).contains("there may be more: --before 2");
        assertThat(reasons("--before", "2")).containsExactly("broker upgrade");
    }

    @Test
    void namesEverythingThatIsKept() {
        JsonNode row = JsonMapper.shared()
                .readTree(run("audit", "list", "-o", "json", "--actor", "anna", "--limit", "1")
                        .out())
                .get(0);
        assertThat(row.propertyNames())
                .containsExactly("id", "at", "actor", "role", "action", "subject", "reason", "details");
        assertThat(row.get("details").get("pausedBy").asString()).isEqualTo("anna");
        assertThat(run("audit", "list").out())
                .contains("broker upgrade")
                .contains("\\u200b")
                .doesNotContain("\u200b");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "audit                              | a command is missing",
                "audit lits                         | did you mean list?",
                "audit list --limit 0               | --limit is 0, the range is 1 to 1000",
                "audit list --limit 1001            | --limit is 1001, the range is 1 to 1000",
                "audit list --since soon            | could not read --since",
                "audit list --since 1h --until 2h   | let it begin before it ends",
                "audit list --actor=                | --actor is empty; give --actor NAME: only by this one",
                "audit list --before x              | could not read --before: 'x' is not a whole number; give --before ID: go on after this one"
            })
    void refusesWhatItCannotRead(String arguments, String sentence) {
        CommandRun run = CommandRun.of(arguments.split(" +"));
        assertThat(run.err()).contains(sentence).doesNotContain("Exception");
        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(run.out()).isEmpty();
    }

    @Test
    void explainsItselfWithAnExample() {
        assertThat(CommandRun.of("audit", "list", "--help").out())
                .startsWith("Usage: postroom audit list")
                .contains("Example");
    }
}
