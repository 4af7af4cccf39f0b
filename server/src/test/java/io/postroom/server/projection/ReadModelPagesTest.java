package io.postroom.server.projection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postroom.projection.Freshness;
import io.postroom.projection.ReadModel;
import io.postroom.relay.Relay;
import io.postroom.server.CommandRun;
import io.postroom.server.serve.ConsoleUnderTest;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class ReadModelPagesTest {
    private ConsoleUnderTest console;

    @BeforeEach
    void start() throws Exception {
        console = ConsoleUnderTest.start();
    }

    @AfterEach
    void stop() {
        console.close();
    }

    private static ReadModel sales(String tables) {
        return ReadModel.named("sales")
                .tables(tables)
                .projection((tx, batch) -> {})
                .freshness(Freshness.SECONDS)
                .build();
    }

    private void serve(ReadModel model) {
        try (Relay relay = console.database()
                .postroom()
                .relay()
                .serve(console.database().postroom().readModels().roster(model))
                .build()) {
            relay.start();
        }
    }

    private CommandRun run(String... arguments) {
        return CommandRun.of(Map.of("POSTROOM_URL", console.database().url()), arguments);
    }

    @Test
    void aReadModelThatCouldNotBeMadeIsThereWithWhyAndWhatToDo() throws Exception {
        assertThat(console.get("/read-models").body()).contains("None yet");
        assertThatThrownBy(() -> serve(sales("create table total (n nonsense)")))
                .hasMessageContaining("could not make generation 1 of read model sales");

        assertThat(console.get("/read-models").body())
                .doesNotContain("None yet")
                .contains("sales <span class=\"badge bad\">not made</span>")
                .contains("could not make generation 1 of read model sales: PostgreSQL said about its tables: ")
                .contains("type \"nonsense\" does not exist")
                .contains("Mend that, then start the relay again that serves it")
                .contains("postroom projection retire sales 1 --reason");
        JsonNode generation = JsonMapper.shared()
                .readTree(console.get("/api/v1/read-models").body())
                .get("items")
                .get(0);
        assertThat(generation.get("state").asString()).isEqualTo("asked");
        assertThat(generation.get("isFresh").asBoolean()).isFalse();
        assertThat(generation.get("ageSeconds").isNull()).isTrue();
        assertThat(generation.get("error").asString()).contains("nonsense");
        assertThat(run("projection", "list", "-o", "json").out()).contains("\"fresh\":false,\"live\":null");
        CommandRun shown = run("projection", "show", "sales");
        assertThat(shown.out()).contains("nonsense");
        assertThat(shown.err())
                .contains("read model sales was never made, and nothing can be read from it; mend what its error says");
        assertThat(run("projection", "rebuild", "sales", "--reason", "hurry").err())
                .contains("generation 1 was asked for before")
                .contains("it is made when a relay that serves read model sales starts")
                .doesNotContain("at its next beat");

        serve(sales("create table total (n bigint)"));
        assertThat(console.get("/read-models").body())
                .contains("sales <span class=\"badge good\">fresh</span>")
                .doesNotContain("not made")
                .doesNotContain("nonsense");
    }

    @Test
    void oneThatNobodyWantsAnyMoreIsTakenOffTheList() throws Exception {
        assertThatThrownBy(() -> serve(sales("create table total (n nonsense)")))
                .hasMessageContaining("nonsense");
        CommandRun retired = run("projection", "retire", "sales", "1", "--reason", "a mistake", "--yes");
        assertThat(retired.exitCode()).as(retired.err()).isZero();
        assertThat(console.get("/read-models").body()).contains("None yet");
        assertThat(run("projection", "show", "sales").err())
                .contains(
                        "read model sales was never made, and nothing can be read from it; it is made when a relay that"
                                + " serves it starts")
                .doesNotContain("error");
        serve(sales("create table total (n bigint)"));
        assertThat(console.get("/read-models").body())
                .as("a relay that serves it wants it again")
                .contains("sales <span class=\"badge good\">fresh</span>");
    }
}
