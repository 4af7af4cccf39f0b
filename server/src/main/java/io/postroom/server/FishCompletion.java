package io.postroom.server;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** A completion script for fish: each word that may follow others, and each option of a command. */
final class FishCompletion {
    private FishCompletion() {}

    static String of(CommandSpec root) {
        StringBuilder script = new StringBuilder("# Completions of postroom for fish.\ncomplete -c postroom -f\n");
        add(script, root, List.of());
        return script.toString();
    }

    private static void add(StringBuilder script, CommandSpec command, List<String> words) {
        String condition = condition(command, words);
        for (Map.Entry<String, CommandLine> each : command.subcommands().entrySet()) {
            CommandSpec below = each.getValue().getCommandSpec();
            script.append("complete -c postroom -n ")
                    .append(quoted(condition))
                    .append(" -a ")
                    .append(quoted(each.getKey()))
                    .append(" -d ")
                    .append(quoted(summary(below.usageMessage().description())))
                    .append('\n');
            List<String> longer = new ArrayList<>(words);
            longer.add(each.getKey());
            add(script, below, longer);
        }
        for (OptionSpec option : command.options()) {
            script.append("complete -c postroom -n ").append(quoted(condition));
            for (String name : option.names()) {
                script.append(name.startsWith("--") ? " -l " : " -s ").append(name.replaceFirst("^-+", ""));
            }
            script.append(option.arity().max() > 0 ? " -r" : "")
                    .append(" -d ")
                    .append(quoted(summary(option.description())))
                    .append('\n');
        }
    }

    /** Options fit wherever their command was said; the next word only where none of them was. */
    private static String condition(CommandSpec command, List<String> words) {
        StringBuilder text = new StringBuilder();
        words.forEach(word -> text.append(text.length() == 0 ? "" : "; and ")
                .append("__fish_seen_subcommand_from ")
                .append(word));
        if (!command.subcommands().isEmpty()) {
            text.append(text.length() == 0 ? "" : "; and ")
                    .append("not __fish_seen_subcommand_from ")
                    .append(String.join(" ", command.subcommands().keySet()));
        }
        return text.toString();
    }

    private static String summary(String[] description) {
        return description.length == 0 ? "" : description[0].replace("%n", " ").replaceAll("\\s+", " ");
    }

    private static String quoted(String text) {
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'";
    }
}
