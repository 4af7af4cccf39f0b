package io.postroom.server;

import io.postroom.server.terminal.ExitCode;
import io.postroom.server.terminal.Quoted;
import io.postroom.server.terminal.Suggestion;
import io.postroom.server.terminal.Terminal;
import java.util.Set;
import java.util.TreeSet;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/** Explains a command line that cannot be read, in a line or two, without repeating what may be a password. */
final class UsageError {
    private static final int WORD_LENGTH_MAX = 40;

    private UsageError() {}

    static int report(Terminal terminal, ParameterException e, String[] given) {
        CommandLine command = e.getCommandLine();
        CommandSpec spec = command.getCommandSpec();
        if (e instanceof UnmatchedArgumentException unmatched
                && !unmatched.getUnmatched().isEmpty()) {
            terminal.say(unknown(spec, unmatched.getUnmatched().get(0)));
        } else if (e.getMessage() != null && e.getMessage().startsWith("Missing required subcommand")) {
            terminal.say("a command is missing; one of "
                    + String.join(", ", spec.subcommands().keySet()));
        } else {
            terminal.say(decapitalised(String.valueOf(e.getMessage())));
        }
        terminal.say("try " + spec.qualifiedName() + " --help");
        return ExitCode.USAGE;
    }

    private static String unknown(CommandSpec spec, String argument) {
        if (argument.startsWith("-")) {
            String name = argument.split("=", 2)[0];
            Set<String> known = new TreeSet<>(spec.optionsMap().keySet());
            return Quoted.text(name, WORD_LENGTH_MAX) + " is not an option of " + spec.qualifiedName()
                    + Suggestion.didYouMean(name, known);
        }
        if (argument.contains("://")) {
            return "a URL stands where none is expected; did you mean --url URL?";
        }
        Set<String> known = new TreeSet<>(spec.subcommands().keySet());
        String word = Quoted.text(argument, WORD_LENGTH_MAX);
        return known.isEmpty()
                ? spec.qualifiedName() + " takes no argument '" + word + "'"
                : word + " is not a command of " + spec.qualifiedName() + Suggestion.didYouMean(argument, known);
    }

    private static String decapitalised(String text) {
        return text.isEmpty() ? text : Character.toLowerCase(text.charAt(0)) + text.substring(1);
    }
}
