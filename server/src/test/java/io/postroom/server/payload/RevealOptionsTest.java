package io.postroom.server.payload;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.message.Message;
import io.postroom.server.CommandRun;
import io.postroom.testkit.TestDatabase;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What commands print of one payload: of a message, of its dead letter, of a job. */
class RevealOptionsTest {
    private static final String PAYLOAD = "{\"name\":\"Ada\",\"born\":{\"town\":\"London\"}}";
    private static final String MASKED = "{\"name\":\"•••\",\"born\":{\"town\":\"•••\"}}";

    private static TestDatabase database;
    private static UUID message;

    @TempDir
    private static Path files;

    /** Settings that say that values are masked. */
    private static Path masked;

    @TempDir
    private Path folder;

    /** The commands that print payloads, and what the audit calls what they print. */
    enum Printing {
        MESSAGE_PAYLOAD("message payload MESSAGE", "message MESSAGE"),
        TAIL("tail --subscription NEW --until-idle 100ms", "subscription NEW"),
        DEADLETTER_SHOW("deadletter show 1", "deadletter 1"),
        DEADLETTER_SHOW_JSON("deadletter show 1 -o json", "deadletter 1"),
        DEADLETTER_EXPORT("deadletter export --all", "deadletters"),
        JOB_SHOW("job show 1", "job 1"),
        JOB_SHOW_JSON("job show 1 -o json", "job 1");

        private final String command;
        private final String subject;

        Printing(String command, String subject) {
            this.command = command;
            this.subject = subject;
        }

        String subject(String run) {
            return filled(subject, run);
        }

        /** A tail prints once for each name. */
        private static String filled(String text, String run) {
            return text.replace("MESSAGE", message.toString()).replace("NEW", run);
        }

        CommandRun run(String run, String... more) {
            return RevealOptionsTest.run(
                    Stream.concat(Arrays.stream(filled(command, run).split(" ")), Arrays.stream(more))
                            .toArray(String[]::new));
        }

        /** Where values are masked: a tail shows them unless its settings say so. */
        CommandRun masking(String run, String... more) {
            Stream<String> settings = this == TAIL ? Stream.of("-c", masked.toString()) : Stream.of();
            return run(run, Stream.concat(settings, Arrays.stream(more)).toArray(String[]::new));
        }
    }

    @BeforeAll
    static void create() throws IOException {
        masked = Files.writeString(files.resolve("masked.yaml"), "console: {payloads: masked}\n");
        database = TestDatabase.create();
        Message published = Message.about("person", "p-1")
                .event("person.born")
                .payload(PAYLOAD)
                .build();
        message = published.id();
        database.postroom()
                .database()
                .transact(tx -> database.postroom().outbox().publish(tx, published));
        database.postroom().journal().stampAll();
        database.execute(
                """
                insert into postroom.dead_letter (source, owner, position, key_hash, message_id, aggregate_type, aggregate_id, event_type,
                    event_version, payload, occurred_at, cause, attempts, error_class, error, fingerprint, buried_by)
                select 'subscription', 'billing', 1, 1, o.id, o.aggregate_type, o.aggregate_id, o.event_type, o.event_version, o.payload,
                    o.occurred_at, 'rejected', 1, 'http.422', 'no', 'beef', 'node-1' from postroom.outbox as o""",
                "insert into postroom.job (queue, kind, payload, progress) values ('mail', 'mail.send', '" + PAYLOAD
                        + "', '{\"sent\":\"Ada\"}')");
    }

    @AfterAll
    static void drop() {
        database.close();
    }

    @BeforeEach
    void forget() {
        database.execute("delete from postroom.audit");
    }

    private static CommandRun run(String... arguments) {
        return CommandRun.of(Map.of("POSTROOM_URL", database.url()), arguments);
    }

    private static long audited(String where) {
        return database.queryLong("select count(*) from postroom.audit where action = 'payload reveal' and " + where);
    }

    private String settings(String payloads) throws IOException {
        return Files.writeString(folder.resolve("serve.yaml"), "console: {payloads: " + payloads + "}\n")
                .toString();
    }

    @ParameterizedTest
    @EnumSource
    void masksValuesUnlessTold(Printing printing) {
        CommandRun printed = printing.masking("masked");
        assertThat(printed.exitCode()).as(printed.err()).isZero();
        assertThat(printed.out()).contains(MASKED).doesNotContain("Ada").doesNotContain("London");
        assertThat(printed.err()).contains("values are masked; --reveal --reason TEXT shows them");
        assertThat(audited("true")).isZero();
    }

    @ParameterizedTest
    @EnumSource
    void revealsThemWithAReasonThatIsAuditedOnce(Printing printing) {
        CommandRun revealed = printing.masking("revealed", "--reveal", "--reason", "ticket 1", "--actor", "bert");
        assertThat(revealed.exitCode()).as(revealed.err()).isZero();
        assertThat(revealed.out()).contains(PAYLOAD).doesNotContain("•••");
        assertThat(revealed.err()).doesNotContain("masked");
        assertThat(audited(
                        "actor = 'bert' and reason = 'ticket 1' and subject = '" + printing.subject("revealed") + "'"))
                .isOne();
        assertThat(audited("true")).isOne();
    }

    @ParameterizedTest
    @EnumSource
    void revealsNothingThatTheAuditCannotTell(Printing printing) {
        database.execute(
                "create function refuse() returns trigger language plpgsql as $$ begin raise exception 'the audit is full'; end $$",
                "create trigger refuse before insert on postroom.audit for each row execute function refuse()");
        try {
            CommandRun refused = printing.masking("refused", "--reveal", "--reason", "ticket 1");
            assertThat(refused.exitCode()).isEqualTo(1);
            assertThat(refused.err()).contains("the audit is full");
            assertThat(refused.out()).isEmpty();
        } finally {
            database.execute("drop trigger refuse on postroom.audit", "drop function refuse()");
        }
    }

    @ParameterizedTest
    @EnumSource
    void revealsNothingWithoutAReason(Printing printing) {
        CommandRun silent = printing.masking("silent", "--reveal");
        assertThat(silent.exitCode()).isEqualTo(2);
        assertThat(silent.err()).contains("--reason is missing");
        assertThat(silent.out()).isEmpty();
        CommandRun idle = printing.masking("silent", "--reason", "ticket 1");
        assertThat(idle.exitCode()).isEqualTo(2);
        assertThat(idle.err()).contains("--reason and --actor are for --reveal, which is missing");
        assertThat(printing.masking("silent", "--reveal", "--reason", " ").err())
                .contains("reason is empty");
        assertThat(audited("true")).isZero();
    }

    @ParameterizedTest
    @EnumSource
    void whatIsHiddenStaysHidden(Printing printing) throws IOException {
        String hidden = settings("hidden");
        CommandRun seen = printing.run("hidden", "-c", hidden);
        assertThat(seen.out()).doesNotContain("Ada").doesNotContain("London").doesNotContain("•••");
        assertThat(seen.err()).contains("console.payloads is hidden");
        CommandRun revealed = printing.run("hidden", "-c", hidden, "--reveal", "--reason", "ticket 1");
        assertThat(revealed.exitCode()).isEqualTo(2);
        assertThat(revealed.err()).contains("console.payloads is hidden: nobody reveals any");
        assertThat(revealed.out()).isEmpty();
        assertThat(audited("true")).isZero();
    }

    @ParameterizedTest
    @EnumSource
    void whatIsShownToEverybodyIsNotRevealed(Printing printing) throws IOException {
        CommandRun shown = printing.run("shown", "--config", settings("shown"));
        assertThat(shown.out()).contains(PAYLOAD);
        assertThat(shown.err()).doesNotContain("masked");
        assertThat(audited("true")).isZero();
    }

    /** Whether a command line can be used does not hang on what the settings say of payloads. */
    @ParameterizedTest
    @EnumSource
    void revealingWhatIsShownToEverybodyNeedsAReasonToo(Printing printing) throws IOException {
        String shown = settings("shown");
        CommandRun silent = printing.run("reasonless", "-c", shown, "--reveal");
        assertThat(silent.exitCode()).isEqualTo(2);
        assertThat(silent.err()).contains("--reason is missing");
        assertThat(silent.out()).isEmpty();
        CommandRun idle = printing.run("reasonless", "-c", shown, "--reason", "ticket 1");
        assertThat(idle.exitCode()).isEqualTo(2);
        assertThat(idle.err()).contains("--reason and --actor are for --reveal, which is missing");
        CommandRun revealed = printing.run("reasoned", "-c", shown, "--reveal", "--reason", "ticket 1");
        assertThat(revealed.exitCode()).as(revealed.err()).isZero();
        assertThat(revealed.out()).contains(PAYLOAD);
        assertThat(revealed.err()).contains("nothing is masked here: --reveal reveals nothing");
        assertThat(audited("true")).isZero();
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "TAIL")
    void aFileThatSaysNothingOfPayloadsShowsNone(Printing printing) throws IOException {
        for (String file : silent()) {
            CommandRun printed = printing.run("", "-c", file);
            assertThat(printed.exitCode()).as(printed.err()).isZero();
            assertThat(printed.out())
                    .as(file)
                    .contains(MASKED)
                    .doesNotContain("Ada")
                    .doesNotContain("London");
            assertThat(printed.err()).contains("values are masked; --reveal --reason TEXT shows them");
        }
        assertThat(audited("true")).isZero();
    }

    @Test
    void aTailShowsPayloadsUnlessItsFileSaysOtherwise() throws IOException {
        assertThat(Printing.TAIL.run("bare").out()).contains(PAYLOAD);
        int runs = 0;
        for (String file : silent()) {
            CommandRun printed = Printing.TAIL.run("silent-" + runs++, "-c", file);
            assertThat(printed.out()).as(file).contains(PAYLOAD);
            assertThat(printed.err()).isEmpty();
        }
        assertThat(audited("true")).isZero();
    }

    /** Settings that say nothing of payloads. */
    private List<String> silent() throws IOException {
        Map<String, String> texts = Map.of(
                "empty",
                "",
                "relay",
                "subscriptions: {screen: {lanes: 1, log: {}}}\n",
                "console",
                "console: {address: 8642}\n");
        List<String> paths = new ArrayList<>();
        for (Map.Entry<String, String> each : texts.entrySet()) {
            paths.add(Files.writeString(folder.resolve(each.getKey() + ".yaml"), each.getValue())
                    .toString());
        }
        return paths;
    }

    @Test
    void whereNothingIsShownThePayloadOfAMessageIsAnError() throws IOException {
        CommandRun hidden = Printing.MESSAGE_PAYLOAD.run("hidden", "-c", settings("hidden"));
        assertThat(hidden.exitCode()).isEqualTo(2);
        assertThat(hidden.err()).contains("console.payloads is hidden: nobody sees any");
        assertThat(hidden.out()).isEmpty();
    }

    @Test
    void theAuditNamesWhereATailReallyBegins() {
        assertThat(revealingTail("begins").get("from").asString()).isEqualTo("beginning");
        JsonNode again = revealingTail("begins", "--from", "beginning");
        assertThat(again.get("after").asLong()).isOne();
        assertThat(again.has("from")).isFalse();
        assertThat(revealingTail("later", "--from", "2").get("after").asLong()).isOne();
        assertThat(revealingTail("since", "--from", "2020-01-01T00:00:00Z")
                        .get("from")
                        .asString())
                .isEqualTo("2020-01-01T00:00:00Z");
        assertThat(revealingTail("now", "--from", "now").get("from").asString()).isEqualTo("now");
    }

    private static JsonNode revealingTail(String name, String... more) {
        CommandRun tail = run(Stream.concat(
                        Stream.of(("tail --until-idle 100ms --reveal --reason ticket --subscription " + name + " -c "
                                        + masked)
                                .split(" ")),
                        Arrays.stream(more))
                .toArray(String[]::new));
        assertThat(tail.exitCode()).as(tail.err()).isZero();
        return details();
    }

    @Test
    void theAuditNamesWhatATailAndAnExportReveal() {
        run(
                "tail",
                "--subscription",
                "named",
                "--type",
                "person.born",
                "--limit",
                "1",
                "-c",
                masked.toString(),
                "--reveal",
                "--reason",
                "ticket 1");
        JsonNode tail = details();
        assertThat(tail.get("command").asString()).isEqualTo("tail");
        assertThat(tail.get("eventTypes").get(0).asString()).isEqualTo("person.born");
        assertThat(tail.get("limit").asLong()).isOne();
        forget();
        run("deadletter", "export", "--subscription", "billing", "--reveal", "--reason", "ticket 1");
        JsonNode export = details();
        assertThat(export.get("filter").get("owner").asString()).isEqualTo("billing");
        assertThat(export.get("letters").asLong()).isOne();
    }

    private static JsonNode details() {
        return JsonMapper.shared()
                .readTree(run("audit", "list", "--action", "payload reveal", "-o", "json")
                        .out())
                .get(0)
                .get("details");
    }

    @Test
    void masksWhatAJobHasDoneAndWhatAnOperatorMended() {
        assertThat(run("job", "show", "1").out()).contains("PROGRESS\n{\"sent\":\"•••\"}");
        database.execute(
                "update postroom.dead_letter set resolution = 'redriven', resolved_at = now(), resolved_by = 'anna',"
                        + " patched = '{\"name\":\"Ada\"}'");
        try {
            assertThat(run("deadletter", "show", "1").out()).contains("PATCHED\n{\"name\":\"•••\"}");
            assertThat(run("deadletter", "show", "1", "-o", "json").out()).contains("\"patched\":{\"name\":\"•••\"}");
        } finally {
            database.execute(
                    "update postroom.dead_letter set resolution = null, resolved_at = null, resolved_by = null, patched = null");
        }
    }

    @Test
    void whatCannotBeSeenCannotBeGuessed() throws IOException {
        assertThat(run("message", "list", "--data", "name=Ada").err()).contains("payloads are masked");
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
        assertThat(searched.out()).contains(message.toString());
        assertThat(audited("actor = 'bert' and subject = 'messages by name' and reason = 'ticket 1'"))
                .isOne();
        forget();

        String patch = Files.writeString(
                        folder.resolve("fix.json"),
                        "[{\"op\":\"test\",\"path\":\"/name\",\"value\":\"Ada\"},"
                                + "{\"op\":\"replace\",\"path\":\"/born/town\",\"value\":\"Paris\"}]")
                .toString();
        CommandRun unseen = run("deadletter", "redrive", "1", "--patch", patch, "--dry-run", "-o", "json");
        assertThat(unseen.exitCode()).as(unseen.err()).isZero();
        assertThat(unseen.out())
                .contains("\"letters\":1")
                .doesNotContain("samples")
                .doesNotContain("London");
        assertThat(unseen.err()).contains("what the patch would change is not shown: payloads are masked; --reveal");
        assertThat(run("deadletter", "redrive", "1", "--patch", patch, "--dry-run", "--reveal")
                        .err())
                .contains("--reason is missing");
        assertThat(audited("true")).isZero();
        CommandRun revealed =
                run("deadletter", "redrive", "1", "--patch", patch, "--dry-run", "--reveal", "--reason", "ticket 1");
        assertThat(revealed.out()).contains("-     \"town\" : \"London\"").contains("+     \"town\" : \"Paris\"");
        assertThat(audited("subject = 'deadletters' and details::jsonb -> 'ids' = '[1]'::jsonb"))
                .isOne();
        forget();
        assertThat(guessed("Ada")).isEqualTo(guessed("Bert"));
        assertThat(audited("true")).isZero();
        CommandRun acting = run("deadletter", "redrive", "1", "--reason", "r", "--yes", "--reveal");
        assertThat(acting.exitCode()).isEqualTo(2);
        assertThat(acting.err()).contains("--reveal shows what a --patch would change, with --dry-run");
    }

    /** All that is said of a redrive whose patch tests a guess, and never applies: by the command, in lists and in the audit. */
    private String guessed(String name) throws IOException {
        String patch = Files.writeString(
                        folder.resolve("guess.json"),
                        "[{\"op\":\"test\",\"path\":\"/name\",\"value\":\"" + name
                                + "\"},{\"op\":\"remove\",\"path\":\"/no-such\"}]")
                .toString();
        CommandRun guess = run("deadletter", "redrive", "1", "--patch", patch, "--reason", "r", "--yes", "-o", "json");
        assertThat(guess.exitCode()).as(guess.err()).isEqualTo(5);
        assertThat(guess.err()).contains("skipped 1: the patch does not apply");
        String said = guess.out()
                + guess.err()
                + run("deadletter", "redrives", "--limit", "1", "-o", "json").out()
                + run("audit", "list", "--action", "deadletter end", "--limit", "1", "-o", "json")
                        .out();
        return said.replaceAll("[0-9a-f-]{36}", "ID")
                .replaceAll("\\d{4}-\\d\\d-\\d\\dT[0-9:.]+Z", "TIME")
                .replaceAll("\"id\":\\d+", "NUMBER");
    }
}
