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
import picocli.CommandLine;

/** What operators are told to type can be typed: the commands and their options are there. */
class OperatingCommandsTest {
    @Test
    void everyCommandOfThePagesForOperatorsCanBeRead() throws IOException {
        Map<String, String> commands = new TreeMap<>();
        try (Stream<Path> files = Files.list(root().resolve("docs/operating"))) {
            for (Path page : files.sorted().toList()) {
                String text = Files.readString(page);
                text.lines()
                        .filter(line -> line.startsWith("postroom "))
                        .forEach(line -> commands.put(line, page.getFileName().toString()));
                Pattern.compile("`(postroom [^`]+)`")
                        .matcher(text)
                        .results()
                        .forEach(code -> commands.put(
                                code.group(1).replaceAll("\\s+", " "),
                                page.getFileName().toString()));
            }
        }
        assertThat(commands).hasSizeGreaterThan(30);
        assertThat(unread(commands)).isEmpty();
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

    /** What cannot be read, and why. */
    private static List<String> unread(Map<String, String> commands) {
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
                unread.add(where + ": " + command + ": " + e.getMessage());
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
