package io.postroom.server.advice;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.server.CommandRun;
import io.postroom.testkit.TestDatabase;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class AdviseCommandTest {
    private static TestDatabase database;

    @BeforeAll
    static void create() {
        database = TestDatabase.create();
    }

    @AfterAll
    static void drop() {
        database.close();
    }

    @Test
    void saysWhichTriggerWasHitAndWhy() {
        CommandRun run = run("advise", "--regions", "2", "--latency", "50ms");
        assertThat(run.err()).isEmpty();
        assertThat(run.exitCode()).isZero();
        assertThat(run.out())
                .contains("act    PR-A002  PostgreSQL or a broker: move readers to Kafka")
                .contains("triggers hit: regions\n")
                .contains("       ! regions: 2; threshold: above 1 (outbox guide: migration triggers)\n")
                .contains("watch  PR-A003")
                .contains("         see: docs/operating/advise.md#pr-a002\n");
    }

    @Test
    void saysTheSameToPrograms() {
        JsonNode whole =
                JsonMapper.shared().readTree(run("advise", "-o", "json").out());
        assertThat(whole.propertyNames()).containsExactly("figures", "advice");
        assertThat(whole.get("advice").get(0).propertyNames())
                .containsExactly("id", "topic", "urgency", "verdict", "reasons", "page");
        assertThat(run("advise", "-o", "jsonl").out().lines())
                .hasSize(whole.get("advice").size());
    }

    @Test
    void refusesWishesThatNobodyCanHave() {
        CommandRun run = run("advise", "--regions", "0");
        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(run.err()).contains("regions is 0, the range is 1 to");
        assertThat(run("advise", "--latency", "soon").exitCode()).isEqualTo(2);
    }

    private static CommandRun run(String... arguments) {
        return CommandRun.of(Map.of("POSTROOM_URL", database.url()), arguments);
    }
}
