package io.postroom.server.relay;

import io.postroom.server.terminal.Quoted;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;

/** Everything that is wrong with a file, to be shown at once. */
final class Problems {
    private static final int SHOWN_MAX = 50;
    private static final int TEXT_LENGTH_MAX = 2_000;

    private final List<Problem> found = new ArrayList<>();

    private record Problem(int line, String text) {}

    void add(int line, String text) {
        found.add(new Problem(line, text));
    }

    boolean isEmpty() {
        return found.isEmpty();
    }

    /** One line each, in the order of the file. */
    String text() {
        return found.stream()
                .sorted(Comparator.comparingInt(Problem::line))
                .limit(SHOWN_MAX)
                // What a file holds is not to be obeyed by a terminal.
                .map(problem -> "  " + (problem.line > 0 ? "line " + problem.line + ": " : "")
                        + Quoted.text(problem.text, TEXT_LENGTH_MAX))
                .collect(Collectors.joining("\n"));
    }
}
