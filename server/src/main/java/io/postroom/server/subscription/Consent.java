package io.postroom.server.subscription;

import io.postroom.server.terminal.CommandException;
import io.postroom.server.terminal.ExitCode;
import io.postroom.server.terminal.Quoted;
import io.postroom.server.terminal.Terminal;
import java.io.Console;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Asks a person to type the name of a subscription. Where nobody can be asked, nothing is: the command needs {@code --yes}. */
final class Consent {
    private final Terminal terminal;
    private final @Nullable Supplier<@Nullable String> answers;

    /** {@code answers} gives a typed line, or null at the end; null where there is nobody to ask. */
    Consent(Terminal terminal, @Nullable Supplier<@Nullable String> answers) {
        this.terminal = terminal;
        this.answers = answers;
    }

    /** Asks on the terminal of this process, if it has one. */
    static Consent of(Terminal terminal) {
        Console console = System.console();
        return new Consent(terminal, console == null || !terminal.interactive() ? null : console::readLine);
    }

    void require(String verb, String name) {
        if (answers == null) {
            throw new CommandException(
                    ExitCode.USAGE,
                    "could not " + verb + " subscription " + name + ": there is no terminal to ask on; add --yes, or"
                            + " --dry-run to see what would be done");
        }
        terminal.err().print("postroom: type " + name + " to " + verb + " it: ");
        terminal.err().flush();
        String answer = answers.get();
        if (answer == null || !answer.strip().equals(name)) {
            throw new CommandException(
                    ExitCode.FAILURE,
                    "nothing was done: " + (answer == null ? "nothing" : "'" + Quoted.text(answer, 100) + "'")
                            + " was typed, not " + name);
        }
    }
}
