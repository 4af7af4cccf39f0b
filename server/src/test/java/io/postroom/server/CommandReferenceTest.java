package io.postroom.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.server.terminal.Terminal;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Help.Ansi;

/** The page with every command is made of the commands themselves. */
class CommandReferenceTest {
    private static final String HEAD = """
            # Every command

            Made from the program itself; what `--help` says of each command. How they behave is told in [the command line](cli.md). After
            a change, make it anew: `mvn -pl server -am package -Dtest=CommandReferenceTest -Dsurefire.failIfNoSpecifiedTests=false
            -Dpostroom.write=true`.
            """;

    @Test
    void thePageOfCommandsIsWhatTheProgramSays() throws IOException {
        Path page = root().resolve("docs/commands.md");
        String made = HEAD + sections(CommandTree.commandLine(nowhere()));
        if (Boolean.getBoolean("postroom.write")) {
            Files.writeString(page, made);
        }
        assertThat(Files.readString(page))
                .as("docs/commands.md is made from the commands; make it anew with -Dpostroom.write=true")
                .isEqualTo(made);
    }

    private static String sections(CommandLine command) {
        String usage = command.getUsageMessage(Ansi.OFF)
                .lines()
                .map(String::stripTrailing)
                .collect(Collectors.joining("\n"))
                .strip();
        // Commands have aliases under which they come again.
        return "\n## " + command.getCommandSpec().qualifiedName() + "\n\n```text\n" + usage + "\n```\n"
                + new LinkedHashSet<>(command.getSubcommands().values())
                        .stream().map(CommandReferenceTest::sections).collect(Collectors.joining());
    }

    private static Terminal nowhere() {
        return new Terminal(
                new ByteArrayOutputStream(),
                new PrintStream(new ByteArrayOutputStream(), true, StandardCharsets.UTF_8),
                Map.of(),
                false);
    }

    private static Path root() {
        Path root = Path.of("").toAbsolutePath();
        while (!Files.exists(root.resolve("core-tests"))) {
            root = root.getParent();
        }
        return root;
    }
}
