package io.postroom.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.server.terminal.Terminal;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

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
                "schema print --from x                    | --from",
                "schema print --schema mq;drop            | choose another with --schema",
                "schema grants --writer 1                 | a role is",
                "tail                                     | missing required option: '--subscription=NAME'",
                "tail --subscription A                    | name is 'A'",
                "tail --subscription a --limit 0          | --limit is 0, the least is 1",
                "tail --subscription a --limit x          | --limit",
                "tail --subscription a --until-idle 30    | '30' is not a duration; write a number and a unit",
                "tail --subscription a --from yesterday-ish | is not a time; write",
                "relay                                    | missing required option: '--config=FILE'",
                "relay --config /no/such/file             | there is no such file",
                "serve --only consol                      | did you mean console?",
                "serve --config /no/such/file             | there is no such file",
                "dev --console-port 70000                 | the range is 0 to 65535",
                "dev --rate -1                            | the range is 0 to",
                "dev --port 70000                         | the range is 0 to 65535",
                "dev --url postgres://localhost/shop      | a PostgreSQL of its own",
                "dev --schema shop                        | with the schema postroom",
                "completion tcsh                          | bash"
            })
    void refusesWhatItCannotRead(String arguments, String sentence) {
        CommandRun run = CommandRun.of(arguments == null ? new String[0] : arguments.split(" "));
        assertThat(run.err()).contains(sentence).doesNotContain("secret").doesNotContain("Exception");
        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(run.out()).isEmpty();
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
        Terminal terminal = new Terminal(
                OutputStream.nullOutputStream(),
                new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8),
                Map.of(),
                false);
        CommandTree.commandLine(terminal)
                .getSubcommands()
                .forEach((name, command) -> assertThat(command.getCommandName()).isEqualTo(name));
    }
}
