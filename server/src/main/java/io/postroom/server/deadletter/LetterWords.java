package io.postroom.server.deadletter;

import io.postroom.deadletter.GroupBy;
import io.postroom.deadletter.RedriveAction;
import io.postroom.server.terminal.CommandException;
import io.postroom.server.terminal.ExitCode;
import io.postroom.server.terminal.Quoted;
import io.postroom.server.terminal.Suggestion;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/** Words of the command line that say something of dead letters. */
final class LetterWords {
    private LetterWords() {}

    static RedriveAction resolution(String word) {
        List<String> known = Arrays.stream(RedriveAction.values())
                .map(RedriveAction::resolution)
                .toList();
        return Arrays.stream(RedriveAction.values())
                .filter(action -> action.resolution().equals(word))
                .findFirst()
                .orElseThrow(() -> new CommandException(
                        ExitCode.USAGE,
                        "could not read --resolution: '" + Quoted.text(word, 20) + "' is none of " + known
                                + Suggestion.didYouMean(word, known)));
    }

    static long number(String id) {
        if (!id.matches("\\d{1,18}")) {
            throw new CommandException(
                    ExitCode.USAGE,
                    "'" + Quoted.text(id, 30)
                            + "' is not the number of a dead letter; postroom deadletter list shows them");
        }
        return Long.parseLong(id);
    }

    static Set<GroupBy> groups(List<String> words) {
        Set<GroupBy> by = EnumSet.noneOf(GroupBy.class);
        List<String> known =
                Arrays.stream(GroupBy.values()).map(LetterWords::word).toList();
        for (String word : words) {
            by.add(Arrays.stream(GroupBy.values())
                    .filter(group -> word(group).equals(word))
                    .findFirst()
                    .orElseThrow(() -> new CommandException(
                            ExitCode.USAGE,
                            "could not read --group-by: '" + Quoted.text(word, 20) + "' is none of " + known
                                    + Suggestion.didYouMean(word, known))));
        }
        return by;
    }

    /** As it is written on the command line, where owners are subscriptions. */
    private static String word(GroupBy group) {
        return group == GroupBy.OWNER ? "subscription" : group.toString();
    }
}
