package io.postroom.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.server.terminal.Terminal;
import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

/** Command lines that need no database. */
class CommandTreeTest {

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "                                         | a command is missing",
                "shcema                                   | shcema is not a command of postroom; did you mean schema?",
                "relpay --config x                        | did you mean relay?",
                "schema                                   | a command is missing; one of",
                "schema migrat                            | did you mean migrate?",
                "schema status --urll=postgres://a:secret@b | --urll is not an option of postroom schema status; did you mean --url?",
                "schema status postgres://a:secret@h/d    | a URL stands where none is expected",
                "schema status extra                      | takes no argument 'extra'",
                "schema status -o xml                     | 'xml' is none of [table, json, jsonl]",
                "schema status                            | no database is named",
                "schema status --url secret               | could not read --url",
                "schema print --from 0                    | the range is 1 to",
                "schema print --from x                    | could not read --from: 'x' is not a whole number; give --from VERSION: the first migration; 1 unless given",
                "schema print --from @/                   | could not read --from: '@/' is not a whole number",
                "schema print --schema mq;drop            | choose another with --schema",
                "schema grants --writer 1                 | a role is",
                "tail                                     | --subscription is missing; give --subscription NAME: remembers how far",
                "tail --subscripton me                    | --subscripton is not an option of postroom tail; did you mean --subscription?",
                "tail --subscription                      | --subscription has no value, or too few; give --subscription NAME",
                "tail --subscription --limit 3            | --subscription has no value, or too few; give --subscription NAME",
                "tail --subscription=                     | --subscription is empty; give --subscription NAME: remembers",
                "tail --subscription A                    | name is 'A'",
                "tail --subscription a --limit 0          | --limit is 0, the least is 1",
                "tail --subscription a --limit x          | could not read --limit: 'x' is not a whole number; give --limit N: end after exactly so many lines, 1 or more",
                "tail --subscription a --limit -1         | --limit is -1, less than 0; give --limit N",
                "tail --subscription a --plugins=         | --plugins is empty; give --plugins JAR: jars with upcasters",
                "tail --subscription a --from 999999999d  | could not read --from: '999999999d' is too long, the most is 36500d",
                "tail --subscription a --from -99999-01-01T00:00:00Z | is too long ago, the earliest is 0001-01-01T00:00:00Z",
                "tail --subscription a --until-idle 30    | '30' is not a duration; write a number and a unit",
                "tail --subscription a --from yesterday-ish | is not a time; write",
                "relay                                    | --config is missing; give --config FILE: what to deliver where",
                "relay --config=                          | --config is empty; give --config FILE",
                "relay --config /                         | could not read /: it is a folder, not a file",
                "relay --config /dev/zero                 | could not read /dev/zero: it has more than 4194304 bytes, the limit",
                "relay --config /no/such/file             | there is no such file",
                "serve --only consol                      | did you mean console?",
                "serve --config /no/such/file             | there is no such file",
                "dev --console-port 70000                 | the range is 0 to 65535",
                "dev --rate -1                            | the range is 0 to",
                "dev --port 70000                         | the range is 0 to 65535",
                "dev --url postgres://localhost/shop      | a PostgreSQL of its own",
                "dev --schema shop                        | with the schema postroom",
                "completion tcsh                          | could not read SHELL: 'tcsh' is none of [bash, zsh, fish]",
                "completion fihs                          | 'fihs' is none of [bash, zsh, fish]; did you mean fish?",
                "--verson                                 | --verson is not an option of postroom; did you mean --version?",
                "--version x                              | postroom version takes no argument 'x'",
                "archive drop +99999-01-01 --dry-run      | '+99999-01-01' is not a day; write 2026-11-09",
                "help                                     | help is not a command of postroom; did you mean postroom --help?",
                "migrate                                  | migrate is not a command of postroom; did you mean postroom schema migrate?",
                "frobnicate                               | frobnicate is not a command of postroom; one of advise, archive, audit",
                "audit list --limit 0                     | --limit is 0, the range is 1 to 1000",
                "audit list --limit 99999999999           | --limit is 99999999999, more than 2147483647; give --limit N: so many at most, 1 to 1000; 100 unless given",
                "audit list --limit 5 --limit 6           | --limit is given twice; give it once",
                "audit list --before -5                   | --before is -5, less than 0; give --before ID: go on after this one",
                "audit list -o jsn                        | could not read --output: 'jsn' is none of [table, json, jsonl]; did you mean json?",
                "subscription held a --limit 0            | --limit is 0, the range is 1 to 1000",
                "subscription show a b                    | postroom subscription show takes NAME, and 'b' is one too many",
                "subscription move a --to kafak --reason r | could not read --to: 'kafak' is none of [postgres, kafka]; did you mean kafka?",
                "subscription move a --reason r           | --to is missing; say where to",
                "job show nine                            | could not read ID: 'nine' is not a whole number; give ID: its number, such as 42",
                "job show 99999999999999999999            | ID is 99999999999999999999, more than 9223372036854775807",
                "job cancel 1 --reason r --actor=         | --actor is empty",
                "archive drop 1 --dry-run=maybe           | could not read --dry-run: 'maybe' is neither true nor false",
                "top --every 999999999d                   | could not read --every: '999999999d' is too long, the most is 36500d; write a number and a unit",
                "idempotency list --after a b             | --after has no value, or too few; give --after TENANT SCOPE KEY",
                "message show 1-1-1-1-1                   | '1-1-1-1-1' is not the id of a message; it is a UUID, such as",
                "message list --from 1h --until 2h        | let it begin before it ends",
                "message list --reveal --reason r         | --reveal, --reason and --actor are for --data, which searches payloads; leave them out",
                "deadletter discard 1 --reason --dryrun --yes | could not read --reason: '--dryrun' looks like an option; did you mean --dry-run?; write --reason=VALUE",
                "externalcall reconcile k --outcome done  | --reason is missing; say why",
                "dev break poisn                          | there is no poisn to break or mend; there is carrier-down, carrier-slow, poison, duplicates, kill-relay; did you mean poison?"
            })
    void refusesWhatItCannotRead(String arguments, String sentence) {
        CommandRun run = CommandRun.of(arguments == null ? new String[0] : arguments.split(" "));
        assertThat(run.err()).contains(sentence).doesNotContain("secret").doesNotContain("Exception");
        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(run.out()).isEmpty();
    }

    /** In one place for all of them: nobody can forget it for a new one. */
    @Test
    void everyOptionSaysWhichValuesItTakes() {
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        CommandLine root = CommandTree.commandLine(new Terminal(
                OutputStream.nullOutputStream(), new PrintStream(err, true, StandardCharsets.UTF_8), Map.of(), false));
        List<String> unclear = new ArrayList<>();
        AtomicInteger tried = new AtomicInteger();
        root.getSubcommands()
                .values()
                .forEach(command -> each(command, option -> {
                    String bad = bad(option);
                    if (option.arity().max() == 0 || bad.isEmpty() && mayBeEmpty(option)) {
                        return;
                    }
                    tried.incrementAndGet();
                    String name = option.longestName();
                    List<String> words = new ArrayList<>(
                            List.of(option.command().qualifiedName().split(" ")));
                    words.add(name + "=" + bad);
                    err.reset();
                    int exitCode = root.execute(words.subList(1, words.size()).toArray(String[]::new));
                    String said = err.toString(StandardCharsets.UTF_8);
                    boolean isClear = exitCode == 2
                            && said.lines().count() == 2
                            && (said.startsWith("postroom: could not read " + name + ": '" + bad + "' is ")
                                    || said.startsWith("postroom: " + name + " is empty; give " + name + " "));
                    if (!isClear) {
                        unclear.add(words + ": " + said);
                    }
                }));
        assertThat(unclear).isEmpty();
        assertThat(tried).hasValueGreaterThan(100);
    }

    private static String bad(OptionSpec option) {
        String type = option.typeInfo().getClassSimpleName();
        return Set.of("int", "Integer", "long", "Long").contains(type) ? "nine" : type.equals("Duration") ? "soon" : "";
    }

    private static boolean mayBeEmpty(OptionSpec option) {
        return option.converters().length > 0;
    }

    private static void each(CommandLine command, Consumer<OptionSpec> work) {
        if (command.getSubcommands().isEmpty()) {
            command.getCommandSpec().options().stream()
                    .filter(option -> !option.inherited())
                    .forEach(work);
        }
        command.getSubcommands().values().forEach(below -> each(below, work));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "--help",
                "schema --help",
                "schema migrate --help",
                "schema status --help",
                "schema validate --help",
                "schema print --help",
                "schema grants --help",
                "subscription list --help",
                "lane list --help",
                "tail --help",
                "relay --help",
                "serve --help",
                "dev --help",
                "completion --help",
                "version --help"
            })
    void explainsEveryCommandWithoutColours(String arguments) {
        CommandRun run = CommandRun.of(arguments.split(" "));
        assertThat(run.exitCode()).isZero();
        assertThat(run.out()).startsWith("Usage: postroom").doesNotContain("\u001b");
        assertThat(run.err()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"migrate", "status", "validate", "print", "grants"})
    void givesExamplesWithEveryCommandOfTheSchema(String verb) {
        assertThat(CommandRun.of("schema", verb, "--help").out()).contains("Example");
    }

    @Test
    void aValueMayBeginLikeAnOptionIfItIsWrittenWithItsOwn() {
        for (String[] words :
                new String[][] {{"--reason=--dryrun"}, {"--reason", "-- as agreed"}, {"--reason", "-1"}}) {
            CommandRun run = CommandRun.of(Stream.concat(Stream.of("job", "cancel", "1"), Stream.of(words))
                    .toArray(String[]::new));
            assertThat(run.err()).contains("no database is named");
        }
    }

    @Test
    void printsItsVersion() {
        CommandRun run = CommandRun.of("version");
        assertThat(run.out()).matches("postroom .*, schema version \\d+, Java .*\n");
        assertThat(run.exitCode()).isZero();
    }

    @Test
    void printsCompletionScripts() {
        assertThat(CommandRun.of("completion", "fish").out())
                .contains(
                        "complete -c postroom -n '__fish_seen_subcommand_from message; and not __fish_seen_subcommand_from")
                .contains("-a 'payload'");
        assertThat(CommandRun.of("--version").out()).startsWith("postroom ");
        assertThat(CommandRun.of("completion", "bash").out())
                .contains("complete -F")
                .contains("subscription");
        assertThat(CommandRun.of("completion", "zsh").out())
                .contains("compinit")
                .contains("--until-idle");
    }

    @Test
    void printsTheSchemaWithoutADatabase() {
        CommandRun whole = CommandRun.of(Map.of("POSTROOM_SCHEMA", "messaging"), "schema", "print");
        assertThat(whole.out())
                .contains("create schema if not exists \"messaging\"")
                .doesNotContain("/*schema*/");
        CommandRun one = CommandRun.of("schema", "print", "--from", "2", "--to", "2");
        assertThat(one.out()).containsOnlyOnce("commit;").doesNotContain("create schema");
    }

    @Test
    void printsGrantsForTheGivenRoles() {
        CommandRun run = CommandRun.of("schema", "grants", "--writer", "shop");
        assertThat(run.out()).contains("\"shop\"").contains("\"postroom_relay\"");
    }

    @Test
    void everyCommandIsMadeByTheNameItHas() {
        CommandTree.commandLine(nowhere())
                .getSubcommands()
                .forEach((name, command) -> assertThat(command.getCommandName()).isEqualTo(name));
    }

    private static Terminal nowhere() {
        return new Terminal(
                OutputStream.nullOutputStream(),
                new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8),
                Map.of(),
                false);
    }
}
