package io.postroom.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.server.terminal.Terminal;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** What operators are told to type can be typed: the commands and their options are there. And they find where it is told. */
class OperatingCommandsTest {
    @Test
    void everyCommandOfThePagesForOperatorsCanBeRead() throws IOException {
        Map<String, String> commands = new TreeMap<>();
        for (Path page : pages()) {
            commands.putAll(commands(page));
        }
        assertThat(commands).hasSizeGreaterThan(30);
        assertThat(unread(commands)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"README.md", "docs/cli.md", "docs/relay.md", "docs/upcasters.md"})
    void everyCommandOfTheManualCanBeRead(String page) throws IOException {
        Map<String, String> commands = commands(root().resolve(page));
        assertThat(commands).isNotEmpty();
        // A manual names commands without what they need.
        assertThat(unread(commands, CommandLine.MissingParameterException.class))
                .isEmpty();
    }

    @Test
    void theReadmeLeadsToEveryPageForThoseWhoRunIt() throws IOException {
        String readme = Files.readString(root().resolve("README.md"));
        for (String page : List.of("cli.md", "relay.md", "schema.md", "upcasters.md", "operating/README.md")) {
            assertThat(readme).contains("](docs/" + page + ")");
        }
        assertThat(readme).doesNotContain("being built");
    }

    @Test
    void theFirstPageForOperatorsLeadsToAllOthers() throws IOException {
        String first = Files.readString(root().resolve("docs/operating/README.md"));
        for (Path page : pages()) {
            // An alert leads to its runbook.
            if (!page.endsWith("README.md") && !page.getParent().endsWith("runbooks")) {
                assertThat(first).contains("](" + page.getFileName() + ")");
            }
        }
    }

    private static List<Path> pages() throws IOException {
        try (Stream<Path> files = Files.walk(root().resolve("docs/operating"))) {
            return files.filter(file -> file.toString().endsWith(".md"))
                    .sorted()
                    .toList();
        }
    }

    /** What stands at the beginning of a line or as code in a sentence, with something that fits for what is left open. */
    private static Map<String, String> commands(Path page) throws IOException {
        String text = Files.readString(page);
        Stream<String> lines = text.lines()
                .map(line -> line.replaceFirst("^(\\$ )?(bin/)?", ""))
                .filter(line -> line.startsWith("postroom "));
        Stream<String> code = Pattern.compile("`(postroom [^`]+)`")
                .matcher(text)
                .results()
                .map(found -> found.group(1).replaceAll("\\s+", " "));
        Map<String, String> commands = new TreeMap<>();
        Stream.concat(lines, code)
                .map(command -> command.replaceAll("\\bUUID\\b", "8e03978e-40d5-43e8-bc93-6894a57f9324")
                        .replace("…", "text"))
                .forEach(command -> commands.put(command, page.getFileName().toString()));
        return commands;
    }

    @Test
    void everyNextStepOfADiagnosisCanBeRead() throws IOException {
        Pattern literal = Pattern.compile("\"postroom ([^\"]*)\"((?:\\s*\\+\\s*(?:[\\w.()]+|\"[^\"]*\"))*)");
        Map<String, String> commands = new TreeMap<>();
        try (Stream<Path> files = Files.list(root().resolve("core/src/main/java/io/postroom/diagnosis"))) {
            for (Path source :
                    files.filter(file -> file.toString().endsWith(".java")).toList()) {
                for (MatchResult found :
                        literal.matcher(Files.readString(source)).results().toList()) {
                    commands.put(
                            "postroom " + found.group(1) + filled(found.group(2)),
                            source.getFileName().toString());
                }
            }
        }
        assertThat(commands.keySet()).hasSizeGreaterThan(8).anyMatch(command -> command.contains("resume"));
        assertThat(unread(commands)).isEmpty();
    }

    /** The rest of a concatenation, with a number for everything that is not a literal. */
    private static String filled(String rest) {
        StringBuilder text = new StringBuilder();
        Pattern.compile("\"([^\"]*)\"|([\\w.()]+)")
                .matcher(rest)
                .results()
                .forEach(part -> text.append(part.group(1) == null ? "1" : part.group(1)));
        return text.toString();
    }

    private static List<String> unread(Map<String, String> commands) {
        return unread(commands, null);
    }

    /** What cannot be read, and why. */
    private static List<String> unread(
            Map<String, String> commands, Class<? extends CommandLine.ParameterException> allowed) {
        Terminal terminal = new Terminal(
                new ByteArrayOutputStream(),
                new PrintStream(new ByteArrayOutputStream(), true, StandardCharsets.UTF_8),
                Map.of(),
                false);
        CommandLine commandLine = CommandTree.commandLine(terminal);
        List<String> unread = new ArrayList<>();
        commands.forEach((command, where) -> {
            try {
                commandLine.parseArgs(words(command));
            } catch (CommandLine.ParameterException e) {
                if (e.getClass() != allowed) {
                    unread.add(where + ": " + command + ": " + e.getMessage());
                }
            }
        });
        return unread;
    }

    /** As a shell splits it, without what comes after a pipe, a redirection or a comment. */
    private static String[] words(String command) {
        return Pattern.compile("'([^']*)'|\\S+")
                .matcher(command.replaceAll("\\s[|>#].*", ""))
                .results()
                .skip(1)
                .map(word -> word.group(1) == null ? word.group() : word.group(1))
                .toArray(String[]::new);
    }

    private static Path root() {
        Path root = Path.of("").toAbsolutePath();
        while (!Files.exists(root.resolve("core-tests"))) {
            root = root.getParent();
        }
        return root;
    }
}
