package io.postroom.server.deadletter;

import io.postroom.server.terminal.CommandException;
import io.postroom.server.terminal.ExitCode;
import io.postroom.server.terminal.Quoted;
import io.postroom.server.terminal.Terminal;
import java.io.Console;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Asks a person to type how many dead letters are meant. Where nobody can be asked, nothing is: the command needs {@code --yes}. */
final class Confirmation {
    private final Terminal terminal;
    private final @Nullable Supplier<@Nullable String> answers;

    /** {@code answers} gives a typed line, or null at the end; null where there is nobody to ask. */
    Confirmation(Terminal terminal, @Nullable Supplier<@Nullable String> answers) {
        this.terminal = terminal;
        this.answers = answers;
    }

    /** Asks on the terminal of this process, if it has one. */
    static Confirmation of(Terminal terminal) {
        Console console = System.console();
        return new Confirmation(terminal, console == null || !terminal.interactive() ? null : console::readLine);
    }

    void require(String verb, long letters) {
        if (answers == null) {
            throw new CommandException(
                    ExitCode.USAGE,
                    "could not " + verb + " " + letters + " dead letters: there is no terminal to ask on; add --yes");
        }
        terminal.err().print("postroom: type " + letters + " to " + verb + " them: ");
        terminal.err().flush();
        String answer = answers.get();
        if (answer == null || !answer.strip().equals(Long.toString(letters))) {
            throw new CommandException(
                    ExitCode.FAILURE,
                    "nothing was done: " + (answer == null ? "nothing" : "'" + Quoted.text(answer, 30) + "'")
                            + " was typed, not " + letters);
        }
    }
}
