package io.postroom.server.projection;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.message.Envelope;
import io.postroom.projection.Freshness;
import io.postroom.projection.ReadModel;
import io.postroom.relay.Relay;
import io.postroom.server.CommandRun;
import io.postroom.testkit.Messages;
import io.postroom.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class ProjectionCommandTest {
    private TestDatabase database;
    private Relay relay;

    @BeforeEach
    void serve() throws SQLException {
        database = TestDatabase.create();
        try (Connection tx = database.begin()) {
            database.postroom().outbox().publishAll(tx, Messages.ofManyKeys("k", 20));
            tx.commit();
        }
        ReadModel seen = ReadModel.named("seen")
                .tables("create table message (id uuid primary key, key text)")
                .projection(ProjectionCommandTest::apply)
                .freshness(Freshness.MINUTES)
                .messages(messages -> messages.lanes(1))
                .build();
        relay = database.postroom()
                .relay()
                .lease(Duration.ofMillis(1_500))
                .serve(database.postroom().readModels().roster(seen))
                .build();
        relay.start();
        await(() -> database.queryLong("select count(*) from seen.message") == 20);
    }

    @AfterEach
    void stop() {
        relay.close();
        database.close();
    }

    private static void apply(Connection tx, List<Envelope> batch) throws SQLException {
        try (PreparedStatement insert = tx.prepareStatement("insert into message values (?, ?)")) {
            for (Envelope envelope : batch) {
                insert.setObject(1, envelope.message().id());
                insert.setString(2, envelope.message().aggregateId());
                insert.addBatch();
            }
            insert.executeBatch();
        }
    }

    @Test
    void rebuildsComparesSwapsRollsBackAndRetires() {
        assertThat(row(run("list", "-o", "json")).get("fresh").asBoolean()).isTrue();
        assertThat(run("rebuild", "seen", "--dry-run").err())
                .contains("would ask for generation 2, version 1, after position 0");
        CommandRun rebuilt = run("rebuild", "seen", "--reason", "to see");
        assertThat(rebuilt.exitCode()).isZero();
        assertThat(rebuilt.err()).contains("asked for generation 2, version 1, after position 0");
        assertThat(run("rebuild", "seen", "--reason", "to see").err()).contains("generation 2 was asked for before");
        await(() -> rows(run("show", "seen", "-o", "json"))
                        .get(1)
                        .get("lagMessages")
                        .asLong()
                == 0);

        CommandRun same = run("compare", "seen", "-o", "json");
        assertThat(same.exitCode()).as(same.err()).isZero();
        assertThat(row(same).get("candidateRows").asLong()).isEqualTo(20);
        database.execute("delete from seen_g2.message where key = 'k-7'");
        CommandRun differ = run("compare", "seen", "2", "--examples", "1");
        assertThat(differ.exitCode()).isEqualTo(4);
        assertThat(differ.err()).contains("generations 1 (live) and 2 differ at position 20");

        assertThat(run("swap", "seen", "--dry-run").exitCode()).isZero();
        CommandRun swapped = run("swap", "seen", "--reason", "to see");
        assertThat(swapped.exitCode()).as(swapped.err()).isZero();
        assertThat(swapped.err()).contains("generation 2 is live, 1 is kept up to date");
        assertThat(database.queryLong("select count(*) from seen.message")).isEqualTo(19);
        assertThat(run("swap", "seen", "2", "--reason", "to see").err()).contains("is live already");
        assertThat(run("rollback", "seen", "--reason", "one is missing").err()).contains("rolled back read model seen");
        assertThat(run("rollback", "seen", "--reason", "again").err()).contains("is live already");
        assertThat(database.queryLong("select count(*) from seen.message")).isEqualTo(20);

        assertThat(run("retire", "seen", "2", "--dry-run").err()).contains("would drop generation 2");
        assertThat(run("retire", "seen", "2", "--reason", "bad").exitCode())
                .as("nobody to ask")
                .isEqualTo(2);
        CommandRun retired = run("retire", "seen", "2", "--reason", "bad", "--yes");
        assertThat(retired.exitCode()).as(retired.err()).isZero();
        assertThat(retired.err()).contains("dropped generation 2 of read model seen: schema seen_g2 with 1 table");
        assertThat(run("retire", "seen", "2", "--reason", "bad", "--yes").err()).contains("it was gone already");
        assertThat(database.queryLong("select count(*) from postroom.audit where action like 'projection %'"))
                .isEqualTo(4);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "show sean                          | 3 | there is no read model sean; did you mean seen?",
                "rebuild seen                       | 2 | --reason is missing",
                "rebuild seen --from 999 --reason x | 2 | is beyond the journal's end",
                "rebuild seen --from soon --reason x | 2 | could not read --from",
                "compare seen                       | 1 | there is one generation only; rebuild it first",
                "compare seen --examples 1000       | 2 | examples is 1000, the range is 0 to 100",
                "swap seen --reason x               | 1 | no generation is being built; rebuild it first",
                "swap seen 7 --reason x             | 3 | there is no such generation; there are [1 (live)]",
                "rollback seen --reason x           | 1 | there is no generation that 1 has replaced",
                "retire seen 1 --reason x --yes     | 1 | it is the live one; swap to another first"
            })
    void refusesWithAReasonAndAnExitCode(String arguments, int exitCode, String sentence) {
        CommandRun refused = run(arguments.strip().split(" +"));
        assertThat(refused.err()).contains(sentence);
        assertThat(refused.exitCode()).isEqualTo(exitCode);
    }

    @Test
    void showsRefreshesAndForgetsViews() {
        database.execute(
                "create materialized view keys as select key from seen.message", "create unique index on keys (key)");
        assertThat(command("view", "keep", "public.keys", "--every", "1h", "--reason", "to look")
                        .err())
                .contains("view public.keys is refreshed every 1h");
        assertThat(command("view", "keep", "public.keys", "--every", "1ms", "--reason", "to look")
                        .exitCode())
                .isEqualTo(2);
        assertThat(command("view", "keep", "public.locks", "--every", "1h", "--reason", "to look")
                        .err())
                .contains("there is no such materialized view");
        database.postroom().materializedViews().refreshDue();
        JsonNode view = JsonMapper.shared()
                .readTree(command("view", "list", "-o", "json").out())
                .get(0);
        assertThat(view.get("name").asString()).isEqualTo("public.keys");
        assertThat(view.get("every").asDouble()).isEqualTo(3600);
        assertThat(command("view", "refresh", "public.keys", "--reason", "now").err())
                .contains("is due now");
        assertThat(command("view", "forget", "public.keys", "--reason", "enough")
                        .exitCode())
                .isZero();
        assertThat(command("view", "forget", "public.keys", "--reason", "enough")
                        .exitCode())
                .isEqualTo(3);
    }

    private CommandRun run(String... arguments) {
        List<String> all = new ArrayList<>(List.of("projection"));
        all.addAll(List.of(arguments));
        return command(all.toArray(String[]::new));
    }

    private CommandRun command(String... arguments) {
        return CommandRun.of(Map.of("POSTROOM_URL", database.url()), arguments);
    }

    private static JsonNode rows(CommandRun run) {
        return JsonMapper.shared().readTree(run.out());
    }

    private static JsonNode row(CommandRun run) {
        return rows(run).get(0);
    }

    private static void await(BooleanSupplier condition) {
        long deadline = System.nanoTime() + Duration.ofSeconds(20).toNanos();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime() - deadline).as("still not").isNegative();
            LockSupport.parkNanos(20_000_000);
        }
    }
}
