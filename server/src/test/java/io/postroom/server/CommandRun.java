package io.postroom.server;

import io.postroom.server.terminal.Terminal;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/** One command line run in this JVM: its exit code and what it wrote. */
public record CommandRun(int exitCode, String out, String err) {

    public static CommandRun of(Map<String, String> environment, String... arguments) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        Terminal terminal = new Terminal(out, new PrintStream(err, true, StandardCharsets.UTF_8), environment, false);
        int exitCode = CommandTree.run(terminal, arguments);
        return new CommandRun(exitCode, out.toString(StandardCharsets.UTF_8), err.toString(StandardCharsets.UTF_8));
    }

    public static CommandRun of(String... arguments) {
        return of(Map.of(), arguments);
    }
}
