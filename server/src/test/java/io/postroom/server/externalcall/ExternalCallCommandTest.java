package io.postroom.server.externalcall;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.externalcall.ExternalCalls;
import io.postroom.externalcall.ExternalOperation;
import io.postroom.externalcall.ProviderAnswer;
import io.postroom.server.CommandRun;
import io.postroom.testkit.TestDatabase;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class ExternalCallCommandTest {
    private static final byte[] HASH = new byte[32];

    private static TestDatabase database;

    /** Order 1 is charged, of orders 2 and 3 nobody knows, order 4 is being charged. */
    @BeforeAll
    static void call() {
        database = TestDatabase.create();
        ExternalCalls calls = database.postroom().externalCalls();
        calls.perform(order(1), HASH, key -> ProviderAnswer.done("ch_1"));
        calls.perform(order(2), HASH, key -> ProviderAnswer.unclear("500 again \u001b[31m"));
        calls.perform(order(3), HASH, key -> ProviderAnswer.unclear("500 again"));
        calls.begin(order(4), HASH);
    }

    @AfterAll
    static void drop() {
        database.close();
    }

    private static ExternalOperation order(int number) {
        return ExternalOperation.of("charge", "t42", "order-" + number);
    }

    private static CommandRun run(String... arguments) {
        return CommandRun.of(Map.of("POSTROOM_URL", database.url()), arguments);
    }

    private static JsonNode json(String... arguments) {
        CommandRun run = run(arguments);
        assertThat(run.exitCode()).as(run.err()).isZero();
        return JsonMapper.shared().readTree(run.out());
    }

    @Test
    void listsThoseThatFit() {
        JsonNode calling = json("externalcall", "list", "--state", "calling", "--name", "charge", "-o", "json");
        assertThat(calling).hasSize(1);
        assertThat(calling.get(0).get("key").stringValue()).isEqualTo("charge:t42:order-4:r1");
        assertThat(json("externalcall", "list", "--tenant", "nobody", "-o", "json"))
                .isEmpty();
        CommandRun table = run("externalcall", "list", "--limit", "2");
        assertThat(table.out()).contains("KEY", "charge:t42:order-4:r1", "charge:t42:order-3:r1");
        assertThat(table.err()).contains("there may be more: --before 3");
        assertThat(run("externalcall", "list").out()).doesNotContain("\u001b");
    }

    @Test
    void showsOneWhole() {
        JsonNode shown = json("externalcall", "show", "charge:t42:order-1:r1", "-o", "json")
                .get(0);
        assertThat(shown.get("state").stringValue()).isEqualTo("done");
        assertThat(shown.get("reference").stringValue()).isEqualTo("ch_1");
        assertThat(shown.get("revision").asInt()).isEqualTo(1);
        assertThat(shown.get("requestHash").stringValue()).isEqualTo("0".repeat(64));
        assertThat(run("externalcall", "show", "charge:t42:order-1:r1").out()).contains("windowUntil");
    }

    @Test
    void reconcilesOnceAndSaysSoInTheAudit() {
        String[] command = {
            "externalcall",
            "reconcile",
            "charge:t42:order-2:r1",
            "--outcome",
            "declined",
            "--reason",
            "not there",
            "--actor",
            "anna",
            "-o",
            "json"
        };
        assertThat(json(command).get(0).get("state").stringValue()).isEqualTo("declined");
        assertThat(json(command).get(0).get("state").stringValue()).as("again").isEqualTo("declined");
        JsonNode entries = json("audit", "list", "--subject", "externalcall charge:t42:order-2:r1", "-o", "json");
        assertThat(entries).hasSize(1);
        assertThat(entries.get(0).get("actor").stringValue()).isEqualTo("anna");
        CommandRun other =
                run("externalcall", "reconcile", "charge:t42:order-2:r1", "--outcome", "done", "--reason", "oh, it is");
        assertThat(other.exitCode()).isEqualTo(1);
        assertThat(other.err()).contains("it is declined since");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "show charge:t42:nobody:r1 | 3 | could not find external call charge:t42:nobody:r1",
                "reconcile charge:t42:nobody:r1 --outcome done --reason r | 3 | there is none with this key",
                "reconcile charge:t42:order-4:r1 --outcome done --reason r | 1 | attempt 1 may call until",
                "reconcile charge:t42:order-3:r1 --outcome maybe --reason r | 2 | 'maybe' is none of [done, declined]",
                "reconcile charge:t42:order-3:r1 --outcome declined --reference x --reason r | 2 | has no reference",
                "reconcile charge:t42:order-3:r1 --outcome done | 2 | --reason",
                "list --state parked | 2 | 'parked' is none of",
                "list --state needs-reconciliation | 2 | did you mean needs_reconciliation?",
                "list --limit 0 | 2 | --limit is 0, the range is 1 to 1000"
            })
    void saysWhatIsWrong(String arguments, int exitCode, String problem) {
        CommandRun run = run(("externalcall " + arguments).split(" "));
        assertThat(run.exitCode()).as(run.err()).isEqualTo(exitCode);
        assertThat(run.err()).contains(problem);
        assertThat(run.out()).isEmpty();
    }
}
