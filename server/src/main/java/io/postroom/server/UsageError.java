package io.postroom.server;

import io.postroom.server.terminal.ExitCode;
import io.postroom.server.terminal.Quoted;
import io.postroom.server.terminal.Suggestion;
import io.postroom.server.terminal.Terminal;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.MissingParameterException;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.OverwrittenOptionException;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.UnmatchedArgumentException;

/**
 * Explains a command line that cannot be read, in a line or two, without repeating what may be a password: which option or parameter, its
 * value, what is wrong with it, and what it means as the help has it.
 */
final class UsageError {
    private static final int WORD_LENGTH_MAX = 40;

    /** How the parser begins to tell what {@link Values} say of a value. */
    private static final String INVALID = "Invalid value for ";

    private static final Pattern OPTION = Pattern.compile("--[a-z][a-z-]*(=.*)?");

    private UsageError() {}

    static int report(Terminal terminal, ParameterException e, String[] given) {
        terminal.say(sentence(e));
        terminal.say("try " + e.getCommandLine().getCommandSpec().qualifiedName() + " --help");
        return ExitCode.USAGE;
    }

    /**
     * Refuses an option that is misspelt and was taken for the value of the one before it: {@code --reason --dryrun --yes} would be done.
     * What is written with its option as one word is meant.
     */
    static void refuseMisspeltValues(ParseResult parsed) {
        for (ParseResult each = parsed; each != null; each = each.subcommand()) {
            CommandSpec spec = each.commandSpec();
            for (OptionSpec option : each.matchedOptions()) {
                for (String value : option.originalStringValues()) {
                    if (OPTION.matcher(value).matches() && parsed.originalArgs().contains(value)) {
                        throw new ParameterException(
                                spec.commandLine(),
                                INVALID + option.longestName() + ": '" + Quoted.text(value, WORD_LENGTH_MAX)
                                        + "' looks like an option"
                                        + Suggestion.didYouMean(
                                                value,
                                                new TreeSet<>(spec.optionsMap().keySet()))
                                        + "; write " + option.longestName() + "=VALUE for a value that begins like one",
                                option,
                                value);
                    }
                }
            }
        }
    }

    private static String sentence(ParameterException e) {
        CommandSpec spec = e.getCommandLine().getCommandSpec();
        String message = String.valueOf(e.getMessage());
        // An option that is misspelt is missing too: better to hear of the spelling.
        List<String> unmatched = e instanceof UnmatchedArgumentException unknown
                ? unknown.getUnmatched()
                : e.getCommandLine().getUnmatchedArguments();
        if (!unmatched.isEmpty()) {
            return unknown(spec, unmatched.get(0));
        }
        if (message.startsWith("Missing required subcommand")) {
            return "a command is missing; one of "
                    + String.join(", ", spec.subcommands().keySet());
        }
        if (e instanceof MissingParameterException missing
                && !missing.getMissing().isEmpty()) {
            return missing(message, missing.getMissing());
        }
        if (e instanceof OverwrittenOptionException twice) {
            return name(twice.getOverwritten()) + " is given twice; give it once";
        }
        ArgSpec argument = e.getArgSpec();
        if (argument == null) {
            return decapitalised(message);
        }
        if (message.startsWith(INVALID)) {
            return invalid(argument, message.substring(message.indexOf(": ") + 2));
        }
        return "could not read " + name(argument) + "; give " + meaning(argument);
    }

    private static String invalid(ArgSpec argument, String problem) {
        String sentence = problem.startsWith("'")
                ? "could not read " + name(argument) + ": " + problem
                : name(argument) + " " + problem;
        return problem.contains("; ") ? sentence : sentence + "; give " + meaning(argument);
    }

    private static String missing(String message, List<ArgSpec> missing) {
        boolean isThere =
                !message.startsWith("Missing required ") || message.startsWith("Missing required parameter for");
        if (isThere) {
            return name(missing.get(0)) + " has no value, or too few; give " + meaning(missing.get(0));
        }
        return missing.stream().map(UsageError::name).collect(Collectors.joining(" and "))
                + (missing.size() == 1 ? " is" : " are") + " missing; give "
                + missing.stream().map(UsageError::meaning).collect(Collectors.joining("; and "));
    }

    private static String name(ArgSpec argument) {
        return argument instanceof OptionSpec option ? option.longestName() : argument.paramLabel();
    }

    /** What it is, as the help has it. */
    private static String meaning(ArgSpec argument) {
        String text =
                String.join(" ", argument.description()).replace("%n", " ").strip();
        return (argument.isOption() ? name(argument) + " " : "")
                + argument.paramLabel()
                + (text.isEmpty()
                        ? ""
                        : ": " + decapitalised(text.endsWith(".") ? text.substring(0, text.length() - 1) : text));
    }

    private static String unknown(CommandSpec spec, String argument) {
        if (argument.startsWith("-")) {
            String name = argument.split("=", 2)[0];
            Set<String> known = new TreeSet<>(spec.optionsMap().keySet());
            if (spec.parent() == null) {
                known.add("--version");
            }
            return Quoted.text(name, WORD_LENGTH_MAX) + " is not an option of " + spec.qualifiedName()
                    + Suggestion.didYouMean(name, known);
        }
        if (argument.contains("://")) {
            return "a URL stands where none is expected; did you mean --url URL?";
        }
        String word = Quoted.text(argument, WORD_LENGTH_MAX);
        if (!spec.subcommands().isEmpty()) {
            return (word.isEmpty() ? "an empty word" : word) + " is not a command of " + spec.qualifiedName()
                    + suggested(spec, argument);
        }
        String taken =
                spec.positionalParameters().stream().map(ArgSpec::paramLabel).collect(Collectors.joining(" "));
        return spec.qualifiedName()
                + (taken.isEmpty()
                        ? " takes no argument '" + word + "'"
                        : " takes " + taken + ", and '" + word + "' is one too many");
    }

    /** The nearest command here; else one of that name further down; else all there are. */
    private static String suggested(CommandSpec spec, String word) {
        Set<String> known = new TreeSet<>(spec.subcommands().keySet());
        if (word.equals("help")) {
            return "; did you mean " + spec.qualifiedName() + " --help?";
        }
        List<String> below = new ArrayList<>();
        for (CommandLine command : spec.subcommands().values()) {
            CommandLine found = command.getSubcommands().get(word);
            if (found != null) {
                below.add(found.getCommandSpec().qualifiedName());
            }
        }
        String nearest = Suggestion.didYouMean(word, known);
        return !nearest.isEmpty()
                ? nearest
                : below.isEmpty()
                        ? "; one of " + String.join(", ", known)
                        : "; did you mean " + String.join(" or ", below) + "?";
    }

    /** But for a word in capitals. */
    private static String decapitalised(String text) {
        return text.length() < 2 || Character.isUpperCase(text.charAt(1))
                ? text
                : Character.toLowerCase(text.charAt(0)) + text.substring(1);
    }
}
