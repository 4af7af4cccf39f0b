package io.postroom.server.terminal;

import java.io.Console;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Asks a person to type a word that names what is about to be done. Where nobody can be asked, nothing is: the command needs {@code --yes}. */
public final class Confirmation {
    private static final int ANSWER_LENGTH_MAX = 100;

    private final Terminal terminal;
    private final @Nullable Supplier<@Nullable String> answers;

    /** {@code answers} gives a typed line, or null at the end; null where there is nobody to ask. */
    Confirmation(Terminal terminal, @Nullable Supplier<@Nullable String> answers) {
        this.terminal = terminal;
        this.answers = answers;
    }

    /** Asks on the terminal of this process, if it has one. */
    public static Confirmation of(Terminal terminal) {
        Console console = System.console();
        return new Confirmation(terminal, console == null || !terminal.interactive() ? null : console::readLine);
    }

    /** Whether there is somebody to ask. */
    public boolean isPossible() {
        return answers != null;
    }

    /**
     * Goes on only if the word is typed.
     *
     * @param attempt what is about to be done: {@code redrive 17 dead letters}
     */
    public void require(String attempt, String word) {
        if (answers == null) {
            throw new CommandException(
                    ExitCode.USAGE,
                    "could not " + attempt
                            + ": there is no terminal to ask on; add --yes, or --dry-run to see what would"
                            + " be done");
        }
        terminal.err().print("postroom: type " + word + " to " + attempt + ": ");
        terminal.err().flush();
        String answer = answers.get();
        if (answer == null || !answer.strip().equals(word)) {
            throw new CommandException(
                    ExitCode.FAILURE,
                    "nothing was done: "
                            + (answer == null ? "nothing" : "'" + Quoted.text(answer, ANSWER_LENGTH_MAX) + "'")
                            + " was typed, not " + word);
        }
    }
}
