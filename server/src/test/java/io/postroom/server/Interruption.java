package io.postroom.server;

import io.postroom.server.terminal.Terminal;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/** A command line during which something happens: as soon as it says a word, or because nobody reads what it prints. */
public final class Interruption {
    private Interruption() {}

    /** Runs it, and something else once it has said a word on standard error, before it goes on. */
    public static CommandRun when(String word, Runnable event, String url, String... arguments) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        Listening err = new Listening(word, event);
        Terminal terminal = new Terminal(
                out, new PrintStream(err, true, StandardCharsets.UTF_8), Map.of("POSTROOM_URL", url), false);
        int exitCode = CommandTree.run(terminal, arguments);
        if (!err.happened) {
            throw new AssertionError("never said " + word + ": " + err);
        }
        return new CommandRun(exitCode, out.toString(StandardCharsets.UTF_8), err.toString(StandardCharsets.UTF_8));
    }

    /** Runs it with a standard output that was closed by its reader. */
    public static CommandRun unread(String url, String... arguments) {
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        OutputStream closed = new OutputStream() {
            @Override
            public void write(int b) throws IOException {
                throw new IOException("Broken pipe");
            }
        };
        Terminal terminal = new Terminal(
                closed, new PrintStream(err, true, StandardCharsets.UTF_8), Map.of("POSTROOM_URL", url), false);
        return new CommandRun(CommandTree.run(terminal, arguments), "", err.toString(StandardCharsets.UTF_8));
    }

    private static final class Listening extends ByteArrayOutputStream {
        private final String word;
        private final Runnable event;
        private boolean happened;

        Listening(String word, Runnable event) {
            this.word = word;
            this.event = event;
        }

        @Override
        public void flush() throws IOException {
            super.flush();
            if (!happened && toString(StandardCharsets.UTF_8).contains(word)) {
                happened = true;
                event.run();
            }
        }
    }
}
