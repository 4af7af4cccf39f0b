package io.postroom.server.deadletter;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.message.Message;
import io.postroom.server.CommandRun;
import io.postroom.server.CommandTree;
import io.postroom.server.Interruption;
import io.postroom.server.Program;
import io.postroom.server.terminal.Terminal;
import io.postroom.testkit.TestDatabase;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class DeadLetterCommandTest {
    private static TestDatabase database;

    @TempDir
    Path folder;

    @BeforeAll
    static void create() {
        database = TestDatabase.create();
    }

    @AfterAll
    static void drop() {
        database.close();
    }

    /** Ten messages of five orders; the first of each is buried in billing, which has delivered those of o-0 and o-1 since. */
    @BeforeEach
    void bury() {
        database.execute(
                """
                truncate postroom.outbox, postroom.journal, postroom.generation, postroom.subscription, postroom.settlement, postroom.lane, postroom.delivery,
                    postroom.circuit, postroom.dead_letter, postroom.redrive, postroom.audit restart identity cascade""",
                "delete from postroom.tick where position > 0",
                "insert into postroom.subscription (name, lanes) values ('billing', 1)",
                "insert into postroom.lane (subscription, lane, position) values ('billing', 0, 7)");
        List<Message> messages = IntStream.range(0, 10)
                .mapToObj(n -> Message.about("order", "o-" + n % 5)
                        .tenantId("acme")
                        .event(n < 5 ? "OrderPlaced" : "OrderPaid")
                        .payload("{\"n\":" + n + ",\n\"secret\":\"s3cr3t \\u001b[31m\u009b\"}")
                        .build())
                .toList();
        database.postroom()
                .database()
                .transact(tx -> database.postroom().outbox().publishAll(tx, messages));
        database.postroom().journal().stampAll();
        database.execute("""
                insert into postroom.dead_letter (source, owner, position, key_hash, message_id, tenant_id, aggregate_type,
                    aggregate_id, event_type, event_version, payload, occurred_at, cause, attempts, error_class, error, fingerprint,
                    history, buried_by)
                select 'subscription', 'billing', j.position, j.key_hash, o.id, o.tenant_id, o.aggregate_type, o.aggregate_id,
                    o.event_type, o.event_version, o.payload, o.occurred_at, 'exhausted', 5, 'http.503', 'busy', 'beef',
                    '[{"attempt": 5}]', 'node-1'
                from postroom.journal as j join postroom.outbox as o on o.seq = j.seq and o.day = j.outbox_day
                where o.event_type = 'OrderPlaced' order by j.position""");
    }

    /** With payloads as they are; how they are masked is told by RevealOptionsTest. */
    private CommandRun shown(String... arguments) throws IOException {
        Path settings = Files.writeString(folder.resolve("serve.yaml"), "console: {payloads: shown}\n");
        return run(Stream.concat(Stream.of(arguments), Stream.of("-c", settings.toString()))
                .toArray(String[]::new));
    }

    private static CommandRun run(String... arguments) {
        String[] all = new String[arguments.length + 1];
        all[0] = "deadletter";
        System.arraycopy(arguments, 0, all, 1, arguments.length);
        return CommandRun.of(Map.of("POSTROOM_URL", database.url()), all);
    }

    private static List<JsonNode> rows(CommandRun run) {
        return JsonMapper.shared().readTree(run.out()).values().stream().toList();
    }

    private static long count(String table, String where) {
        return database.queryLong("select count(*) from postroom." + table + " where " + where);
    }

    // Command lines that cannot be read

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "deadletter                                        | a command is missing",
                "deadletter redrve                                 | did you mean redrive?",
                "deadletter list --limit 0                         | --limit is 0, the range is 1 to 1000",
                "deadletter list --group-by eror                   | none of [error, type, subscription, tenant, key, cause]; did you mean error?",
                "deadletter list --group-by error --before 7       | --before goes on with a list, groups have no next page",
                "deadletter list --group-by error --resolved       | --group-by counts open dead letters only",
                "deadletter list --resolution gone                 | 'gone' is none of [redriven, discarded]",
                "deadletter list --fingerprint 9f2c                | '9f2c' is not a fingerprint, which has 16 hexadecimal digits",
                "deadletter redrives --limit 1001                  | --limit is 1001, the range is 1 to 1000",
                "deadletter export                                 | no dead letter is named; give --all, or at least one of --subscription",
                "deadletter list --subscription s --queue q        | no dead letter has both; give one",
                "deadletter export --all --subscription s          | leave one of the two out",
                "deadletter list --cause exausted                  | did you mean exhausted?",
                "deadletter list --since sometime                  | could not read --since",
                "deadletter list --since 1h --until 2h             | let it begin before it ends",
                "deadletter show x                                 | could not read ID: 'x' is not a whole number; give ID: its number",
                "deadletter show                                   | ID is missing; give ID: its number, such as 42",
                "deadletter redrive --reason r                     | no dead letter is named; give their numbers, or at least one of --subscription",
                "deadletter discard --reason r --yes               | no dead letter is named",
                "deadletter redrive --subscription s               | --reason is missing",
                "deadletter redrive x --reason r                   | 'x' is not the number of a dead letter",
                "deadletter redrive 1 --reason r --rate 5          | '5' is not a rate; write a number and a unit: 50/s, 10/m or 100/h",
                "deadletter redrive 1 --reason r --rate 0/s        | the range is 0.001 to 100000",
                "deadletter redrive 1 --reason r --canary 0        | canary is 0, the range is 1 to 10000",
                "deadletter redrive 1 --reason r --patch /none     | could not read --patch /none: there is no such file",
                "deadletter redrive 1 --reason r --request 7       | make a new one, as uuidgen does",
                "deadletter discard 1 --reason r --canary 3        | --canary is not an option of postroom deadletter discard",
                "deadletter cancel 1 --reason r                    | postroom deadletter redrives lists them",
                "deadletter cancel 8e03978e-40d5-43e8-bc93-6894a57f9324 | --reason is missing; say why",
                "deadletter resume                                 | REDRIVE is missing; give REDRIVE: its UUID",
            })
    void refusesWhatItCannotRead(String arguments, String sentence) {
        CommandRun run = CommandRun.of(arguments.split(" "));
        assertThat(run.err()).contains(sentence).doesNotContain("Exception");
        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(run.out()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"list", "show", "export", "redrive", "discard", "redrives", "cancel", "resume"})
    void explainsEveryCommandWithAnExample(String verb) {
        CommandRun run = CommandRun.of("deadletter", verb, "--help");
        assertThat(run.exitCode()).isZero();
        assertThat(run.out()).startsWith("Usage: postroom deadletter " + verb).contains("Example");
    }

    // Looking

    @Test
    void listsThemNewestFirstWithoutPayloads() {
        CommandRun run = run("list", "-o", "json", "--limit", "2");
        List<JsonNode> rows = rows(run);
        assertThat(rows).extracting(row -> row.get("id").asLong()).containsExactly(5L, 4L);
        assertThat(rows.get(0).propertyNames())
                .containsExactly(
                        "id",
                        "subscription",
                        "position",
                        "messageId",
                        "tenantId",
                        "aggregateType",
                        "aggregateId",
                        "eventType",
                        "cause",
                        "attempts",
                        "errorClass",
                        "error",
                        "fingerprint",
                        "buriedAt",
                        "buriedBy");
        assertThat(run.err()).contains("--before 4");
        assertThat(rows(run("list", "-o", "json", "--before", "4")))
                .extracting(row -> row.get("id").asLong())
                .containsExactly(3L, 2L, 1L);
        assertThat(run("list").out()).contains("OrderPlaced").contains("busy").doesNotContain("s3cr3t");
        assertThat(run("list", "--subscription", "none", "-o", "json").out()).isEqualTo("[]\n");
        assertThat(run("list", "--queue", "billing", "-o", "json").out())
                .as("no jobs")
                .isEqualTo("[]\n");
        database.execute("update postroom.dead_letter set source = 'job' where position = 1");
        assertThat(rows(run("list", "--queue", "billing", "-o", "json"))).hasSize(1);
        assertThat(rows(run("list", "--subscription", "billing", "-o", "json"))).hasSize(4);
    }

    @Test
    void listsWhatWasResolvedAndByWhom() {
        run("redrive", "1", "--reason", "fixed", "--actor", "anna", "--yes");
        run("redrive", "2", "--reason", "fixed", "--actor", "anna", "--yes");
        run("discard", "3", "--reason", "unwanted", "--actor", "bert", "--yes");
        List<JsonNode> rows = rows(run("list", "--resolved", "-o", "json"));
        assertThat(rows)
                .extracting(row ->
                        row.get("id").asLong() + " " + row.get("resolution").asString() + " "
                                + row.get("resolvedBy").asString())
                .containsExactly("3 discarded bert", "2 redriven anna", "1 redriven anna");
        assertThat(rows.get(0).propertyNames())
                .startsWith("id", "subscription", "position")
                .endsWith("resolution", "resolvedAt", "resolvedBy", "redrive", "patched");
        assertThat(rows(run("list", "--resolution", "redriven", "-o", "json"))).hasSize(2);
        assertThat(rows(run("list", "--resolved", "--subscription", "none", "-o", "json")))
                .isEmpty();
        CommandRun page = run("list", "--resolved", "--limit", "2");
        assertThat(page.err()).contains("there may be more: --before 2");
        assertThat(page.out()).contains("RESOLVED BY").contains("bert").doesNotContain("s3cr3t");
        assertThat(rows(run("list", "--resolved", "--before", "2", "-o", "json")))
                .hasSize(1);
        assertThat(rows(run("list", "-o", "json"))).hasSize(2);
    }

    @Test
    void showsAsManyRedrivesAsAreAskedFor() {
        run("discard", "1", "--reason", "r", "--yes");
        run("discard", "2", "--reason", "r", "--yes");
        CommandRun run = run("redrives", "--limit", "1", "-o", "json");
        assertThat(rows(run)).hasSize(1);
        assertThat(run.err()).contains("a greater --limit shows them");
    }

    @Test
    void countsThemByWhatTheyHaveInCommon() {
        JsonNode group =
                rows(run("list", "--group-by", "error,type", "-o", "json")).get(0);
        assertThat(group.propertyNames())
                .containsExactly(
                        "errorClass",
                        "fingerprint",
                        "eventType",
                        "letters",
                        "keys",
                        "tenants",
                        "firstBuriedAt",
                        "lastBuriedAt",
                        "sampleId",
                        "sampleError");
        assertThat(group.get("letters").asLong()).isEqualTo(5);
        assertThat(group.get("keys").asLong()).isEqualTo(5);
        assertThat(group.get("fingerprint").asString()).isEqualTo("beef");
        assertThat(rows(run("list", "--group-by", "tenant", "--group-by", "key", "-o", "json")))
                .hasSize(5);
        assertThat(rows(run("list", "--group-by", "subscription", "-o", "json"))
                        .get(0)
                        .get("subscription")
                        .asString())
                .isEqualTo("billing");
    }

    @Test
    void showsOneWhole() throws IOException {
        JsonNode letter =
                JsonMapper.shared().readTree(shown("show", "2", "-o", "json").out());
        assertThat(letter.get("payload").get("n").asInt()).isOne();
        assertThat(letter.get("history").get(0).get("attempt").asInt()).isEqualTo(5);
        assertThat(letter.get("resolution").isNull()).isTrue();
        database.execute("update postroom.dead_letter set headers = '{\"traceparent\":\"00-1\"}',"
                + " available_at = '2026-01-02T03:04:05Z' where id = 2");
        assertThat(shown("show", "2").out())
                .containsPattern("(?m)^source +subscription$")
                .containsPattern("(?m)^availableAt +2026-01-02T03:04:05Z$")
                .containsPattern("(?m)^header traceparent +00-1$")
                .contains("HISTORY")
                .contains("PAYLOAD\n{\"n\":1")
                .contains("s3cr3t");
        CommandRun missing = run("show", "99");
        assertThat(missing.exitCode()).isEqualTo(3);
        assertThat(missing.err()).contains("could not find dead letter 99");
    }

    @Test
    void exportsThemAsLines() throws IOException {
        List<String> lines =
                shown("export", "--subscription", "billing").out().lines().toList();
        assertThat(lines).hasSize(5);
        assertThat(lines)
                .extracting(line -> JsonMapper.shared().readTree(line).get("id").asLong())
                .containsExactly(1L, 2L, 3L, 4L, 5L);
        assertThat(lines.get(0)).contains("\"payload\":{\"n\":0, \"secret\":");
    }

    @Test
    void showsAPersonNothingThatATerminalObeys() throws IOException {
        Path settings = Files.writeString(folder.resolve("serve.yaml"), "console: {payloads: shown}\n");
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        Terminal terminal = new Terminal(
                out,
                new PrintStream(new ByteArrayOutputStream(), true, StandardCharsets.UTF_8),
                Map.of("POSTROOM_URL", database.url()),
                true);
        for (String[] command : new String[][] {{"export", "--all"}, {"show", "1"}, {"show", "1", "-o", "json"}}) {
            String[] all = Stream.of(new String[] {"deadletter"}, command, new String[] {"-c", settings.toString()})
                    .flatMap(Stream::of)
                    .toArray(String[]::new);
            assertThat(CommandTree.run(terminal, all)).isZero();
        }
        assertThat(out.toString(StandardCharsets.UTF_8))
                .doesNotContain("\u009b")
                .contains("\\u009b");
        JsonMapper.shared()
                .readTree(
                        out.toString(StandardCharsets.UTF_8).lines().findFirst().orElseThrow());
    }

    // Planning

    @Test
    void saysBeforehandWhichKeysHaveSeenNewerMessages() {
        CommandRun run = run("redrive", "--subscription", "billing", "--rate", "2/s", "--dry-run", "-o", "json");
        JsonNode plan = rows(run).get(0);
        assertThat(plan.get("letters").asLong()).isEqualTo(5);
        assertThat(plan.get("keys").asLong()).isEqualTo(5);
        assertThat(plan.get("tenants").asLong()).isOne();
        assertThat(plan.get("orderConflicts").asLong()).isEqualTo(2);
        assertThat(plan.get("orderConflictsExact").asBoolean()).isTrue();
        assertThat(plan.get("estimatedSeconds").asDouble()).isEqualTo(2.5);
        assertThat(run.err())
                .contains(
                        "5 dead letters of 5 keys and 1 tenant; 2 keys have since seen newer messages, such as order o-")
                .contains("takes about 2.5s")
                .contains("nothing was done");
        assertThat(run.exitCode()).isZero();
        assertThat(count("redrive", "true") + count("audit", "true")).isZero();
    }

    @Test
    void showsWhatAPatchWouldChange() throws IOException {
        Path patch = Files.writeString(
                folder.resolve("fix.json"),
                "[{\"op\":\"test\",\"path\":\"/n\",\"value\":0},{\"op\":\"replace\",\"path\":\"/n\",\"value\":100}]");
        CommandRun table = shown("redrive", "--subscription", "billing", "--patch", patch.toString(), "--dry-run");
        assertThat(table.out())
                .contains("dead letter 1\n  {\n-   \"n\" : 0,\n+   \"n\" : 100,")
                .contains("dead letter 2 is skipped: operation 1 (test /n): the value there is another");
        JsonNode plan = rows(shown("redrive", "1", "--patch", patch.toString(), "--dry-run", "-o", "json"))
                .get(0);
        assertThat(plan.get("samples").get(0).get("diff").get(2).asString()).isEqualTo("+   \"n\" : 100,");
        Path bad = Files.writeString(folder.resolve("bad.json"), "[{\"op\":\"spam\",\"path\":\"/n\"}]");
        CommandRun refused = run("redrive", "1", "--patch", bad.toString(), "--dry-run");
        assertThat(refused.exitCode()).isEqualTo(2);
        assertThat(refused.err())
                .contains("operation 1 has an op that is none of")
                .contains("bad.json");
    }

    // Acting

    @Test
    void redrivesAndSaysSo() {
        CommandRun run = run(
                "redrive", "--subscription", "billing", "--reason", "fixed", "--actor", "anna", "--yes", "-o", "json");
        assertThat(run.exitCode()).isZero();
        JsonNode redrive = rows(run).get(0);
        assertThat(redrive.get("state").asString()).isEqualTo("done");
        assertThat(redrive.get("done").asLong()).isEqualTo(5);
        assertThat(redrive.get("reason").asString()).isEqualTo("fixed");
        assertThat(count("delivery", "state = 'waiting'")).isEqualTo(5);
        assertThat(count("audit", "actor = 'anna' and reason = 'fixed'")).isEqualTo(2);
        assertThat(run.out() + run.err()).doesNotContain("s3cr3t");
    }

    @Test
    void discardsSingleOnes() {
        assertThat(run("discard", "2", "3", "--reason", "unwanted", "--yes").exitCode())
                .isZero();
        assertThat(count("dead_letter", "resolution = 'discarded' and id in (2, 3)"))
                .isEqualTo(2);
        assertThat(count("audit", "actor = '" + System.getProperty("user.name") + "'"))
                .isEqualTo(2);
        CommandRun again = run("discard", "2", "3", "--reason", "unwanted", "--yes");
        assertThat(again.exitCode()).isEqualTo(3);
        assertThat(again.err()).contains("could not discard 2 dead letters: none of them is open and fits");
    }

    @Test
    void saysWhichOfTheNamedOnesAreNotOpen() {
        run("discard", "3", "--reason", "unwanted", "--actor", "bert", "--yes");
        CommandRun plan = run("redrive", "2", "3", "99", "--dry-run");
        assertThat(plan.exitCode()).isEqualTo(5);
        assertThat(plan.err())
                .contains("dead letter 3 is not open: discarded at 2")
                .contains(" by bert")
                .contains("dead letter 99 is not there")
                .contains("1 dead letter of 1 key");
        CommandRun done = run("discard", "2", "3", "99", "--reason", "r", "--yes");
        assertThat(done.exitCode()).isEqualTo(5);
        assertThat(done.err()).contains("dead letter 99 is not there");
        assertThat(count("dead_letter", "id = 2 and resolution = 'discarded'")).isOne();
        CommandRun unfit = run("discard", "4", "5", "--type", "OrderPaid", "--reason", "r", "--yes");
        assertThat(unfit.exitCode()).isEqualTo(3);
        assertThat(unfit.err()).contains("dead letter 4 does not fit the other options");
    }

    @Test
    void asksNobodyWhereThereIsNoTerminal() {
        CommandRun run = run("redrive", "--subscription", "billing", "--reason", "fixed");
        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(run.err())
                .contains("could not redrive 5 dead letters: there is no terminal to ask on; add --yes, or");
        assertThat(count("redrive", "true")).isZero();
    }

    @Test
    void whatIsBuriedAfterThePlanIsNotMeant() {
        CommandRun run = Interruption.when(
                "5 dead letters of 5 keys",
                () -> database.execute("""
                        insert into postroom.dead_letter (source, owner, position, key_hash, message_id, aggregate_type, aggregate_id,
                            event_type, event_version, payload, occurred_at, cause, attempts, error_class, error, fingerprint, buried_by)
                        values ('subscription', 'billing', 10, 1, gen_random_uuid(), 'order', 'late', 'OrderPaid', 1, '{}', now(),
                            'rejected', 1, 'http.422', 'no', 'f00d', 'node-1')"""),
                database.url(),
                "deadletter",
                "redrive",
                "--subscription",
                "billing",
                "--reason",
                "fixed",
                "--yes");
        assertThat(run.exitCode()).as(run.err()).isZero();
        assertThat(count("dead_letter", "resolution is null and aggregate_id = 'late'"))
                .isOne();
        assertThat(count("dead_letter", "resolution = 'redriven'")).isEqualTo(5);
    }

    @Test
    void saysSoIfFewerAreDoneThanWereCounted() {
        CommandRun run = Interruption.when(
                "5 dead letters of 5 keys",
                () -> run("discard", "1", "2", "--reason", "meanwhile", "--yes"),
                database.url(),
                "deadletter",
                "redrive",
                "--subscription",
                "billing",
                "--reason",
                "fixed",
                "--yes");
        assertThat(run.exitCode()).isZero();
        assertThat(run.err())
                .contains("is requested; it means 3 dead letters, not 5: the others were resolved meanwhile");
    }

    @Test
    void theSameCommandTwiceHappensOnce() {
        String id = UUID.randomUUID().toString();
        String[] command = {"redrive", "--subscription", "billing", "--reason", "fixed", "--yes", "--request", id};
        assertThat(run(command).exitCode()).isZero();
        CommandRun again = run(command);
        assertThat(again.exitCode()).isZero();
        assertThat(again.err()).contains("redrive " + id + " was requested before");
        assertThat(count("redrive", "true")).isOne();
        assertThat(count("audit", "true")).isEqualTo(2);
        CommandRun other = run("discard", "--subscription", "billing", "--reason", "x", "--yes", "--request", id);
        assertThat(other.exitCode()).isEqualTo(1);
        assertThat(other.err()).contains("requested before as redrive of").contains("and now as discard of");
    }

    @Test
    void aTimeThatLongAgoIsTheSameWhenItIsAskedForAgain() {
        String id = UUID.randomUUID().toString();
        String[] command = {
            "redrive", "--subscription", "billing", "--since", "2h", "--reason", "fixed", "--yes", "--request", id
        };
        assertThat(run(command).exitCode()).isZero();
        CommandRun again = run(command);
        assertThat(again.exitCode()).as(again.err()).isZero();
        assertThat(again.err()).contains("redrive " + id + " was requested before");
        assertThat(count("redrive", "true")).isOne();
        CommandRun other = run(
                "redrive",
                "--subscription",
                "billing",
                "--since",
                "2026-01-01T00:00:00Z",
                "--reason",
                "x",
                "--yes",
                "--request",
                id);
        assertThat(other.exitCode()).isEqualTo(1);
        assertThat(other.err()).contains("requested before as redrive of");
        CommandRun without = run("redrive", "--subscription", "billing", "--reason", "x", "--yes", "--request", id);
        assertThat(without.exitCode()).isEqualTo(1);
    }

    @Test
    void endsWithFiveWhereSomeWereSkipped() throws IOException {
        Path patch = Files.writeString(
                folder.resolve("fix.json"),
                "[{\"op\":\"test\",\"path\":\"/n\",\"value\":0},{\"op\":\"remove\",\"path\":\"/secret\"}]");
        CommandRun run = run(
                "redrive",
                "--subscription",
                "billing",
                "--patch",
                patch.toString(),
                "--reason",
                "mended",
                "--yes",
                "-o",
                "json");
        assertThat(run.exitCode()).isEqualTo(5);
        JsonNode redrive = rows(run).get(0);
        assertThat(redrive.get("done").asLong()).isOne();
        assertThat(redrive.get("skips").get(0).get("letters").asLong()).isEqualTo(4);
        assertThat(run.err())
                .contains("skipped 4: the patch does not apply; a dry run of it shows why")
                .doesNotContain("s3cr3t");
        assertThat(run.err() + run.out()).doesNotContain("operation 1").doesNotContain("/n");
        // Those that were skipped are still open, so that the same command as a dry run is about them.
        assertThat(shown("redrive", "--subscription", "billing", "--patch", patch.toString(), "--dry-run")
                        .out())
                .contains("dead letter 2 is skipped: operation 1 (test /n): the value there is another");
        assertThat(JsonMapper.shared()
                        .readTree(shown("show", "1", "-o", "json").out())
                        .get("patched")
                        .toString())
                .isEqualTo("{\"n\":0}");
    }

    @Test
    void hasNothingToDoWhereNothingFits() {
        CommandRun run = run("redrive", "--subscription", "none", "--reason", "r", "--yes", "-o", "json");
        assertThat(run.exitCode()).isZero();
        assertThat(run.out()).isEqualTo("[]\n");
        assertThat(run.err()).contains("nothing to do: no open dead letter fits");
    }

    @Test
    void leavesADetachedOneToOthers() {
        CommandRun asked =
                run("redrive", "--subscription", "billing", "--reason", "later", "--yes", "--detach", "-o", "json");
        assertThat(asked.exitCode()).isZero();
        String id = rows(asked).get(0).get("id").asString();
        assertThat(count("dead_letter", "resolution is not null")).isZero();
        assertThat(rows(run("redrives", "-o", "json")).get(0).get("state").asString())
                .isEqualTo("running");
        CommandRun resumed = run("resume", id, "-o", "json");
        assertThat(resumed.exitCode()).isZero();
        assertThat(rows(resumed).get(0).get("done").asLong()).isEqualTo(5);
        CommandRun late = run("cancel", id, "--reason", "too late");
        assertThat(late.exitCode()).isEqualTo(1);
        assertThat(late.err()).contains("it is done already");
    }

    @Test
    void cancelsWhatIsNotFinished() {
        String id = rows(run(
                        "redrive", "--subscription", "billing", "--reason", "r", "--yes", "--detach", "-o", "json"))
                .get(0)
                .get("id")
                .asString();
        CommandRun cancelled = run("cancel", id, "--reason", "wrong filter", "--actor", "bert");
        assertThat(cancelled.exitCode()).isZero();
        assertThat(cancelled.out()).contains("cancelled by bert: wrong filter");
        CommandRun resumed = run("resume", id);
        assertThat(resumed.exitCode()).isEqualTo(5);
        assertThat(resumed.err()).contains("is cancelled: cancelled by bert: wrong filter");
        CommandRun unknown = run("cancel", UUID.randomUUID().toString(), "--reason", "r");
        assertThat(unknown.exitCode()).isEqualTo(3);
        assertThat(run("resume", UUID.randomUUID().toString()).exitCode()).isEqualTo(3);
        assertThat(run("cancel", id, "--reason", " ").exitCode()).isEqualTo(2);
    }

    @Test
    void aStopLeavesItToBeResumed() throws Exception {
        String id = UUID.randomUUID().toString();
        try (Program program = Program.start(
                Map.of("POSTROOM_URL", database.url()),
                "deadletter",
                "redrive",
                "--subscription",
                "billing",
                "--reason",
                "slowly",
                "--yes",
                "--rate",
                "1/m",
                "--request",
                id,
                "-o",
                "json")) {
            program.awaitTalk(line -> line.contains("1 of 5 done"));
            program.terminate();
            assertThat(program.awaitExit()).isEqualTo(5);
            assertThat(program.said())
                    .contains("redrive " + id + " is not finished, with 1 of 5 done")
                    .contains("postroom deadletter resume " + id)
                    .contains("postroom deadletter cancel " + id);
            assertThat(program.outToEnd()).contains("\"running\"");
        }
        database.execute("update postroom.redrive set rate = null");
        assertThat(run("resume", id).exitCode()).isZero();
        assertThat(count("delivery", "true")).isEqualTo(5);
    }
}
