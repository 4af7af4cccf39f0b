package io.postroom.server.idempotency;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postroom.idempotency.Answer;
import io.postroom.idempotency.Idempotency;
import io.postroom.idempotency.IdempotencyKey;
import io.postroom.idempotency.Outcome;
import io.postroom.idempotency.Request;
import io.postroom.server.CommandRun;
import io.postroom.testkit.TestDatabase;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class IdempotencyCommandTest {
    private static TestDatabase database;
    private static Idempotency idempotency;

    /** Tenant t1 has an answer and a failure; of no tenant are keys whose steps somebody holds for an hour. */
    @BeforeAll
    static void create() {
        database = TestDatabase.create();
        idempotency = database.postroom().idempotency();
        answer("done", 201, "the secret answer");
        answer("refused", 404, "the secret refusal");
        for (String key : List.of("stuck", "stuck-too", "stuck-three")) {
            assertThatThrownBy(() -> idempotency.steps(
                            new Request(IdempotencyKey.of("payment.capture", key), new byte[32], "secret input"),
                            steps -> {
                                steps.step("reserve", tx -> "secret value");
                                throw new IOException("gone");
                            }))
                    .isInstanceOf(IOException.class);
        }
        database.execute(
                "update postroom.idempotency_key set leased_until = now() + interval '1 hour' where state = 'running'");
    }

    @AfterAll
    static void drop() {
        database.close();
    }

    private static Outcome answer(String key, int status, String body) {
        return idempotency.once(
                new Request(new IdempotencyKey("t1", "order.create", key), new byte[32]),
                tx -> Answer.of(status, body));
    }

    private static CommandRun run(String... arguments) {
        return CommandRun.of(
                Map.of("POSTROOM_URL", database.url()),
                Stream.concat(Stream.of("idempotency"), Stream.of(arguments)).toArray(String[]::new));
    }

    private static List<String> keys(String... arguments) {
        CommandRun run = run(Stream.concat(Stream.of("list", "-o", "json"), Stream.of(arguments))
                .toArray(String[]::new));
        assertThat(run.exitCode()).as(run.err()).isZero();
        return JsonMapper.shared().readTree(run.out()).values().stream()
                .map(row -> row.get("key").asString())
                .toList();
    }

    @Test
    void listsWhatRunsUnlessAskedOtherwise() {
        assertThat(keys("--scope", "payment.capture")).contains("stuck-too");
        assertThat(keys("--tenant", "t1")).isEmpty();
        assertThat(keys("--tenant", "t1", "--state", "all")).contains("done", "refused");
        assertThat(keys("--state", "failed")).containsExactly("refused");
        assertThat(keys("--tenant", "t1", "--state", "completed", "--scope", "order.cancel"))
                .isEmpty();
    }

    /** It has no row before it ends: what has it is its session. */
    @Test
    void namesTheSessionOfACommandThatHasNotEnded() {
        Request request = new Request(new IdempotencyKey("holding", "order.create", "held"), new byte[32]);
        idempotency.once(request, tx -> {
            for (CommandRun run : List.of(
                    run("show", "order.create", "held", "--tenant", "holding"),
                    run("release", "order.create", "held", "--tenant", "holding", "--dry-run"))) {
                assertThat(run.exitCode()).isEqualTo(3);
                assertThat(run.err())
                        .contains("its command of one transaction has not ended; session ")
                        .contains("to end it: select pg_terminate_backend(");
            }
            return Answer.of(200, "");
        });
    }

    @Test
    void goesOnWhereAPageEnded() {
        CommandRun first = run("list", "--state", "all", "--tenant", "t1", "--limit", "1", "-o", "jsonl");
        assertThat(first.out().lines()).hasSize(1);
        assertThat(first.err()).contains("there may be more: --after 't1' order.create 'done'");
        assertThat(keys("--state", "all", "--tenant", "t1", "--after", "t1", "order.create", "done"))
                .containsExactly("refused");
    }

    @Test
    void showsEverythingButWhatWasAnswered() {
        CommandRun run = run("show", "order.create", "done", "--tenant", "t1", "-o", "json");
        JsonNode row = JsonMapper.shared().readTree(run.out()).get(0);
        assertThat(row.propertyNames())
                .containsExactly(
                        "tenant",
                        "scope",
                        "key",
                        "state",
                        "status",
                        "requestHash",
                        "createdAt",
                        "completedAt",
                        "expiresAt",
                        "leasedUntil",
                        "leased",
                        "fence",
                        "steps",
                        "step");
        for (CommandRun each : List.of(
                run,
                run("list", "--state", "all", "-o", "json"),
                run("show", "payment.capture", "stuck-too", "-o", "json"),
                run("show", "payment.capture", "stuck-too"),
                run("release", "payment.capture", "stuck-too", "--dry-run"))) {
            assertThat(each.exitCode()).as(each.err()).isZero();
            assertThat(each.out() + each.err()).doesNotContain("secret");
        }
        assertThat(run("show", "payment.capture", "stuck-too").out())
                .containsPattern("somebody is at it +yes")
                .containsPattern("last step +reserve");
    }

    @Test
    void releasesAfterItHasShownWhatThatMeans() {
        CommandRun plan = run("release", "payment.capture", "stuck", "--dry-run");
        assertThat(plan.err())
                .contains(
                        "would release payment.capture stuck: the next request with it goes on after 1 step, the last was"
                                + " reserve; somebody has it until");
        assertThat(database.queryLong("select count(*) from postroom.audit where subject like '%stuck'"))
                .isZero();
        CommandRun run =
                run("release", "payment.capture", "stuck", "--reason", "node 3 hangs", "--actor", "anna", "--yes");
        assertThat(run.exitCode()).as(run.err()).isZero();
        assertThat(run.err()).contains("about to release").contains("released");
        assertThat(database.queryLong("select count(*) from postroom.audit where action = 'idempotency release'"
                        + " and subject = 'idempotency key payment.capture stuck' and actor = 'anna'"))
                .isEqualTo(1);
        assertThat(idempotency.steps(
                        new Request(IdempotencyKey.of("payment.capture", "stuck"), new byte[32]),
                        steps -> Answer.of(200, steps.step("reserve", tx -> "again"))))
                .isEqualTo(new Outcome.Executed(Answer.of(200, "secret value"), true));
    }

    @Test
    void forgetsWhatIsAnsweredOrRunning() {
        answer("forgotten", 409, "before");
        CommandRun refused = run("release", "order.create", "forgotten", "--tenant", "t1", "--reason", "r", "--yes");
        assertThat(refused.exitCode()).isEqualTo(1);
        assertThat(refused.err()).contains("it is failed, nobody has it; --forget lets the next request begin anew");
        CommandRun run = run(
                "release",
                "order.create",
                "forgotten",
                "--tenant",
                "t1",
                "--forget",
                "--reason",
                "sold out by mistake",
                "--yes");
        assertThat(run.exitCode()).as(run.err()).isZero();
        assertThat(run.err()).contains("what it did happens again").contains("forgotten");
        assertThat(answer("forgotten", 201, "after")).isInstanceOf(Outcome.Executed.class);
        CommandRun running = run("release", "payment.capture", "stuck-three", "--forget", "--reason", "r", "--yes");
        assertThat(running.err()).contains("1 step that was done happen again");
        assertThat(keys("--scope", "payment.capture")).doesNotContain("stuck-three");
    }

    @Test
    void whatIsNotThereIsNotFound() {
        CommandRun run = run("show", "order.create", "done");
        assertThat(run.exitCode()).isEqualTo(3);
        assertThat(run.err()).contains("could not find order.create done").contains("--tenant");
        assertThat(run("release", "order.create", "nothing", "--reason", "r", "--yes")
                        .exitCode())
                .isEqualTo(3);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "                                     | a command is missing",
                "lits                                 | did you mean list?",
                "list --state runing                  | did you mean running?",
                "list --limit 0                       | --limit is 0, the range is 1 to 1000",
                "list --after t1 Order k              | scope is 'Order'",
                "show                                 | SCOPE is missing; give SCOPE: what the request asked for",
                "show order.create                    | KEY is missing; give KEY: the client's key",
                "show Order k                         | lower-case letters",
                "release payment.capture stuck-too    | --reason is missing",
                "release payment.capture stuck-too --reason r | there is no terminal to ask on; add --yes",
                "release payment.capture stuck-too --yes --reason= | reason is empty"
            })
    void refusesWhatItCannotRead(String arguments, String sentence) {
        CommandRun run = arguments == null ? run() : run(arguments.split(" +"));
        assertThat(run.err().toLowerCase(java.util.Locale.ROOT)).contains(sentence.toLowerCase(java.util.Locale.ROOT));
        assertThat(run.err()).doesNotContain("Exception");
        assertThat(run.exitCode()).as(run.err()).isEqualTo(2);
    }

    @ParameterizedTest
    @ValueSource(strings = {"list", "show", "release"})
    void explainsEveryCommandWithAnExample(String verb) {
        CommandRun run = run(verb, "--help");
        assertThat(run.exitCode()).isZero();
        assertThat(run.out()).startsWith("Usage: postroom idempotency " + verb).contains("Example");
    }
}
